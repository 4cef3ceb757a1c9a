import type { Post } from "../../../../src/domain/posts/post.ts";
import { webAddress } from "../../../shared/texts.ts";
import { upperFirst } from "../../../../src/domain/posts/for-people.ts";

/** How an error begins where the post may or may not be on the platform. */
const UNKNOWN = "outcome unknown: ";

/** Whether no one knows if the post went out. A person looks, and tells. */
export function isUnknown(error: string | null): boolean {
  return error?.startsWith(UNKNOWN) === true;
}

/** What happened: in our words, and in those of the platform. */
export interface ErrorWords {
  readonly sentence: string;
  readonly quote: { readonly who: string; readonly words: string } | null;
}

const SAYS = ' says: "';

/** An error of a post or channel for people. What a button stands for is left out. */
export function errorInWords(error: string | null): ErrorWords {
  if (error === null || error.trim() === "")
    return { sentence: "It failed, and no reason was given.", quote: null };
  const text = isUnknown(error) ? withoutAdvice(upperFirst(error.slice(UNKNOWN.length))) : error;
  const said = text.indexOf(SAYS);
  const end = said === -1 ? -1 : text.indexOf('"', said + SAYS.length);
  if (said === -1 || end === -1) return { sentence: text, quote: null };
  const begin = text.lastIndexOf(". ", said);
  const who = text.slice(begin === -1 ? 0 : begin + 2, said);
  const around = [begin === -1 ? "" : text.slice(0, begin + 1), text.slice(end + 1)].map((part) =>
    part.replace(/^[.\s]+/, "").trim(),
  );
  return {
    sentence: around.filter((part) => part !== "").join(" ") || `${who} refused it.`,
    quote: { who, words: text.slice(said + SAYS.length, end) },
  };
}

/** "Look at …, then settle it": the buttons say so. */
function withoutAdvice(text: string): string {
  const at = text.lastIndexOf(" Look at ");
  return at === -1 ? text : text.slice(0, at);
}

/** The post on its platform; where it may be there and its address is not known, its channel. Null: nothing is to be seen. */
export function placeOutside(
  { platformUrl, error, status }: Pick<Post, "platformUrl" | "error" | "status">,
  profileUrl: string | null,
): { readonly url: string; readonly isPost: boolean } | null {
  const own = webAddress(platformUrl ?? "");
  if (own !== null) return { url: own, isPost: true };
  const channel = isUnknown(error) || status === "uploaded" ? webAddress(profileUrl ?? "") : null;
  return channel === null ? null : { url: channel, isPost: false };
}
