import { signal } from "@preact/signals";

/** How many answers settled what was written after its room was left, by ids of drafts and posts. */
export const ended = signal<ReadonlyMap<string, number>>(new Map());

/** What a room that was entered before this answer has read is over: it begins anew. */
export function endWriting(id: string): void {
  ended.value = new Map([...ended.value, [id, (ended.value.get(id) ?? 0) + 1]]);
}
