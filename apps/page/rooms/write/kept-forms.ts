import type { Draft } from "../../../../src/domain/drafts/draft.ts";
import { now } from "../../../shared/clock.ts";
import { isJson } from "../../../shared/json.ts";
import { dropEdit, editsFrom, keepEdit, type KeptEdit, newestEdit, readEdit } from "../../data/kept-edits.ts";
import { type Form, isAnything, type Medium, newKey } from "./form.ts";

/** What was written and the server did not get, as it stands in this browser. */
export interface KeptForm {
  /** The key of the kept copy: the draft's id, or a name of its own before there is one. */
  readonly id: string;
  readonly form: Form;
  /** The draft's, as it was written on. */
  readonly revision: number;
}

let saving: Promise<unknown> = Promise.resolve();
let stopSaving = (): void => {};

/** The save with which a room was left is under way. Offline it is tried again, until `stop`. */
export function recordLastSave(save: Promise<unknown>, stop: () => void): void {
  saving = save;
  stopSaving = stop;
}

/** Stops the saver of the room that was left: two savers would make two drafts. */
export function takeOver(): void {
  stopSaving();
}

/** Before it, what was left a moment ago is not listed. */
export async function lastSave(): Promise<void> {
  await saving;
}

/** The prefix of keys of copies that are no draft yet. */
const NEW = "new:";

/** How long ago what is no draft yet was begun. */
export function ageOf({ id }: Pick<KeptForm, "id">): number {
  return now() - Number.parseInt(id.slice(NEW.length), 10);
}

/** Keys of copies that this page keeps itself: a save of each is under way. */
const own = new Set<string>();

/** Keeps what is written until the server has it. `takenUp`: what it goes on with. */
export function createKeptCopy(takenUp: string | null) {
  const key = takenUp?.startsWith(NEW) === true ? takenUp : `${NEW}${now()}-${crypto.randomUUID()}`;
  own.add(key);
  let isKept = false;
  return {
    isKept: () => isKept,
    keep(draft: Pick<Draft, "id" | "revision"> | null, form: Form): void {
      // Nothing is worth keeping where a save would keep nothing either.
      if (draft === null && !isAnything(form)) return this.drop(null);
      isKept = keepEdit(draft?.id ?? key, { base: String(draft?.revision ?? 0), change: { ...form } });
      if (draft !== null && draft.id !== key) dropEdit(key);
    },
    drop(draft: Pick<Draft, "id"> | null): void {
      isKept = false;
      dropEdit(key);
      if (draft !== null) dropEdit(draft.id);
    },
  };
}

/** What of this draft was written and not saved. Null: nothing. */
export function keptOf(draftId: string, like: Form): KeptForm | null {
  return readKept(draftId, readEdit(draftId), like);
}

/** The newest text that is no draft yet. Null: there is none. */
export function keptNew(like: Form): KeptForm | null {
  const id = newestEdit(NEW);
  return id === null ? null : readKept(id, readEdit(id), like);
}

/** Other texts that are no drafts yet, and that this page does not save since it was loaded anew. */
export function olderNew(like: Form): readonly KeptForm[] {
  const ids = editsFrom(NEW).slice(0, -1);
  return ids.flatMap((id) => (own.has(id) ? [] : (readKept(id, readEdit(id), like) ?? [])));
}

/** `like`: any form. What another release kept in another shape is left. */
function readKept(id: string, kept: KeptEdit | null, like: Form): KeptForm | null {
  const form = kept?.change;
  if (kept === null || !isForm(form, like)) return null;
  return { id, form: withFreshKeys(form), revision: Number(kept.base) };
}

function isForm(value: unknown, like: Form): value is Form {
  if (!isJson(value)) return false;
  return Object.entries(like).every(
    ([key, one]) => typeof value[key] === typeof one && Array.isArray(value[key]) === Array.isArray(one),
  );
}

/** Keys count from the start of the page on. What was being uploaded is gone with it. */
function withFreshKeys(form: Form): Form {
  const renew = (media: readonly Medium[]): Medium[] =>
    media.flatMap((one) => (one.url === "" ? [] : [{ ...one, key: newKey() }]));
  return {
    ...form,
    media: renew(form.media),
    parts: form.parts.map((part) => ({
      ...part,
      key: newKey(),
      medium: part.medium === null ? null : (renew([part.medium])[0] ?? null),
    })),
    targets: form.targets.map((target) => ({
      ...target,
      media: target.media === null ? null : renew(target.media),
    })),
  };
}
