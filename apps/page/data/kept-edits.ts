import { isJson, type Json, jsonOf, textOf } from "../../shared/json.ts";
import { session } from "./session.ts";

/*
 * Changes to a post that are not sent yet. The server keeps no half of a change, so the browser does: by the post,
 * and by who is signed in.
 */

export interface KeptEdit {
  /** When the post that it changes was last changed, as the server says. */
  readonly base: string;
  readonly change: Json;
}

const PREFIX = "posthorn.edit";

function nameOf(postId: string): string {
  return JSON.stringify([PREFIX, session.value?.name ?? "", postId]);
}

/** Answers whether it is kept: a browser may have no room, or keep nothing. */
export function keepEdit(postId: string, { base, change }: KeptEdit): boolean {
  try {
    localStorage.setItem(nameOf(postId), JSON.stringify({ base, change }));
    return true;
  } catch {
    return false;
  }
}

export function readEdit(postId: string): KeptEdit | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(postId)) ?? "null");
    return isJson(kept) ? { base: textOf(kept["base"]), change: jsonOf(kept["change"]) } : null;
  } catch {
    return null;
  }
}

export function dropEdit(postId: string): void {
  drop(nameOf(postId));
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
