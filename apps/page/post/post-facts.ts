import type { Post } from "../../../src/domain/posts/post.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";

/** Whether a person has to look at the platform before anything else is done. */
export function isUnknown({ status, error }: Post): boolean {
  return status === "failed" && error !== null && /^outcome unknown:/i.test(error);
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
