import { part } from "./dom.ts";

/** A sentence that stays until it is closed; null closes it. */
export function complain(sentence: string | null, within: ParentNode = document): void {
  part("complaint", within).hidden = sentence === null;
  part("complaint-text", within).textContent = sentence ?? "";
}

/** Told to those who do not see the change. */
export function say(sentence: string, within: ParentNode = document): void {
  part("live", within).textContent = sentence;
}
