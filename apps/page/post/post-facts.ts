import type { Post } from "../../../src/domain/posts/post.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { inWords, PAGE_WORDS } from "../../words.ts";
import { sentencesBehind } from "../../shared/sentences.ts";

/** Whether a person has to look at the platform before anything else is done. */
export function isUnknown({ status, error }: Post): boolean {
  return status === "failed" && error !== null && /^outcome unknown:/i.test(error);
}

/** What a reason asks for that only a change of the post gives. */
const TO_CHANGE =
  /(?:^|[.!?:] )(?:Add|Change (?:it|the post|the text)|Choose|Convert|Export|Give|Leave|Remove|Shorten|Take)\b/;

/** Whether sending it again as it is would fail again. What a platform says is no advice of ours. */
export function needsChange(post: Pick<Post, "error">): boolean {
  const { error } = post;
  if (error === null || /\btried \d+ times\b/.test(error)) return false;
  const isOfField = sentencesBehind(post, "error").some(({ field }) => field !== null);
  return isOfField || TO_CHANGE.test(error.replace(/"[^"]*"/g, ""));
}

const PAUSE = /^The channel .+ is paused, so the post waits until the channel is resumed\.\s*/;

/** What is said beside that the channel is paused, which stands in a place of its own. */
export function besidePause(text: string): string {
  return text.replace(PAUSE, "");
}

/** Why a dismissed post failed, without what was to be done. */
export function pastReason(post: Pick<Post, "error">): string {
  const past = sentencesBehind(post, "error").map((one) => ({ ...one, next: [] }));
  const reasons = inWords(past, PAGE_WORDS)
    .replace(/^outcome unknown:\s*/i, "No one knows whether it went out: ")
    .split(/(?<=[.!?]) /)
    .filter((sentence) => !TO_CHANGE.test(sentence) && !/\bsend it again\b/i.test(sentence));
  return reasons.join(" ") || "It failed.";
}

/** All media of a post, in their order. */
export function mediaOf({ mediaUrl, metadata }: Post): readonly { url: string; alt: string }[] {
  const more = partsOf(metadata?.["moreMedia"]);
  const first = { url: mediaUrl, alt: textOf(metadata?.["altText"]) };
  return [first, ...more.map((one) => ({ url: textOf(one["url"]), alt: textOf(one["altText"]) }))].filter(
    ({ url }) => url !== "",
  );
}

/** The parts of a post's thread. */
export function threadOf({ metadata }: Post): readonly string[] {
  return partsOf(metadata?.["thread"]).map((part) => textOf(part["caption"]));
}

function partsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(jsonOf) : [];
}
