import type { JsonObject } from "../../ports/platform-io.ts";
import type { BlueskyMetadata } from "./metadata.ts";
import { POST, POSTGATE, THREADGATE, uriOf, type RecordWrite } from "./records.ts";

const RULES = {
  mentioned: "app.bsky.feed.threadgate#mentionRule",
  followers: "app.bsky.feed.threadgate#followerRule",
  following: "app.bsky.feed.threadgate#followingRule",
} as const;

interface Gated {
  readonly did: string;
  readonly rkey: string;
  readonly createdAt: string;
}

/** The records that say who may reply and quote; they stand under the post's own key. */
export function gatesOf(metadata: BlueskyMetadata, post: Gated): RecordWrite[] {
  return [threadgate(metadata.replyRules, post), postgate(metadata.allowQuotes, post)].filter(
    (gate) => gate !== null,
  );
}

function threadgate(
  rules: BlueskyMetadata["replyRules"],
  { did, rkey, createdAt }: Gated,
): RecordWrite | null {
  if (rules === undefined || rules === "everybody") return null;
  const allow: JsonObject[] =
    rules === "nobody" ? [] : [...new Set(rules)].map((rule) => ({ $type: RULES[rule] }));
  return {
    collection: THREADGATE,
    rkey,
    value: { $type: THREADGATE, post: uriOf(did, POST, rkey), allow, createdAt },
  };
}

function postgate(allowQuotes: boolean | undefined, { did, rkey, createdAt }: Gated): RecordWrite | null {
  if (allowQuotes !== false) return null;
  const embeddingRules = [{ $type: "app.bsky.feed.postgate#disableRule" }];
  return {
    collection: POSTGATE,
    rkey,
    value: { $type: POSTGATE, post: uriOf(did, POST, rkey), embeddingRules, createdAt },
  };
}
