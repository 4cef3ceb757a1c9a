export const NO_TEXT = "(no text)";

/** The first line with anything on it stands for a post without a title. */
export function splitText(text: string): { first: string; rest: string } {
  const [first = "", ...rest] = text.trim().split("\n");
  return { first: first.trim(), rest: rest.join("\n").trim() };
}

/** `1 draft`, `1,200 drafts`. */
export function countOf(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString("en-GB")} ${one}s`;
}

export function countPosts(count: number): string {
  return countOf(count, "post");
}

/** `1 post waits`, `2 posts wait`. */
export function waitingPosts(count: number): string {
  return `${countPosts(count)} ${count === 1 ? "waits" : "wait"}`;
}

/** `a, b and c`. */
export function listed(words: Iterable<string>): string {
  return new Intl.ListFormat("en-GB").format(words);
}

export function webAddress(text: string): string | null {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}

/** Sentences one after the other, also those that came without a full stop. */
export function inARow(sentences: readonly string[]): string {
  const given = sentences.filter((one) => one !== "");
  return given.map((one, at) => (at < given.length - 1 && !ENDED.test(one) ? `${one}.` : one)).join(" ");
}

const ENDED = /[.!?…:;]["'”’»)]*$/;

/** The last part of an address, which is what people call the file. */
export function nameOf(address: string): string {
  const path = address.split(/[?#]/, 1)[0] ?? address;
  return path.slice(path.lastIndexOf("/") + 1) || address;
}

/** What went wrong, as a sentence for people. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong. Try again.";
}
