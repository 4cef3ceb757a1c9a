import { part } from "./dom.ts";

/** A sentence that stays until it is closed; null closes it. */
export function complain(sentence: string | null, within: ParentNode = document): void {
  part("complaint", within).hidden = sentence === null;
  part("complaint", within).classList.remove("hint");
  part("complaint-text", within).textContent = sentence ?? "";
}

/** The same of what is good to know, and wrong in nothing. */
export function hint(sentence: string, within: ParentNode = document): void {
  complain(sentence, within);
  part("complaint", within).classList.add("hint");
}

/** Told to those who do not see the change. */
export function say(sentence: string, within: ParentNode = document): void {
  part("live", within).textContent = sentence;
}
