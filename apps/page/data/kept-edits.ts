import { isJson, type Json, jsonOf, textOf } from "../../shared/json.ts";
import { session } from "./session.ts";

/*
 * What was written and is not sent yet: a change of a post, since the server keeps no half of one, and a draft while
 * the server is out of reach. It is kept by its id, and by who is signed in.
 */

export interface KeptEdit {
  /** What it changes, as it was then: when the post was last changed, or the draft's revision. */
  readonly base: string;
  readonly change: Json;
  /** What of it was there before, where that tells who else changed it. */
  readonly was?: Json;
}

const PREFIX = "posthorn.edit";

function nameOf(id: string): string {
  return JSON.stringify([PREFIX, session.value?.name ?? "", id]);
}

/** Answers whether it is kept: a browser may have no room, or keep nothing. */
export function keepEdit(id: string, edit: KeptEdit): boolean {
  try {
    localStorage.setItem(nameOf(id), JSON.stringify(edit));
    return true;
  } catch {
    return false;
  }
}

export function readEdit(id: string): KeptEdit | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(id)) ?? "null");
    if (!isJson(kept)) return null;
    const { was } = kept;
    return {
      base: textOf(kept["base"]),
      change: jsonOf(kept["change"]),
      ...(isJson(was) && { was }),
    };
  } catch {
    return null;
  }
}

/** The one of these that was kept last. Null: there is none. */
export function newestEdit(beginning: string): string | null {
  return editsFrom(beginning).at(-1) ?? null;
}

/** All of these, in their order. */
export function editsFrom(beginning: string): readonly string[] {
  const ids = namesOf(session.value?.name ?? "").map(idOf);
  return ids.filter((id) => id.startsWith(beginning)).sort();
}

function idOf(name: string): string {
  const parts: unknown = JSON.parse(name);
  return Array.isArray(parts) ? textOf(parts[2]) : "";
}

export function dropEdit(id: string): void {
  drop(nameOf(id));
}

/** Whether anything is kept of one who signs in by this name. */
export function hasEdits(owner: string): boolean {
  return namesOf(owner).length > 0;
}

/** Who has signed out leaves nothing behind. */
export function dropEdits(owner: string): void {
  for (const name of namesOf(owner)) drop(name);
}

function drop(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // Nothing is kept there.
  }
}

function namesOf(owner: string): readonly string[] {
  const begins = `${JSON.stringify([PREFIX, owner]).slice(0, -1)},`;
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(begins));
  } catch {
    return [];
  }
}
