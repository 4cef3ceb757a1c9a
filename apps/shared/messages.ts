import { part } from "./dom.ts";
import { forPeople } from "./for-people.ts";

/** A sentence that stays until it is closed; null closes it. */
export function complain(sentence: string | null): void {
  part("complaint").hidden = sentence === null;
  part("complaint-text").textContent = forPeople(sentence ?? "");
}

/** Told to those who do not see the change. */
export function say(sentence: string): void {
  part("live").textContent = sentence;
}
