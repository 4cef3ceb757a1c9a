import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { type Json, type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import {
  AnyAnswer,
  cidOf,
  didOf,
  findPost,
  findRecord,
  isXrpcError,
  laterTid,
  newTid,
  ownXrpc,
  pdsOf,
  POST,
  POSTGATE,
  type RecordWrite,
  resolveHandle,
  THREADGATE,
  uriOf,
  webUrl,
} from "./api.ts";
import { inOrder } from "../shared/media.ts";
import { IMAGE_LIMITS, sendImage, sendMedia } from "./media.ts";
import { type BlueskyMetadata, type BlueskyPost, makeContent, partsOf, quotedOf } from "./metadata.ts";

const Plan = z
  .array(z.object({ collection: z.string(), rkey: z.string(), value: z.record(z.string(), z.json()) }))
  .min(1);

/**
 * All records of the post in one commit, under keys chosen by us and stored, with their whole content, before
 * they are sent. Whatever happens to the answer, reading a key tells whether the commit was made; a thread is
 * there whole or not at all.
 */
export async function publish(post: BlueskyPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) {
    await sendEmbeds(post, io, false);
    return { state: "prepared" };
  }
  const stored = await io.once<Json>("records", async () =>
    buildRecords(post, await sendEmbeds(post, io, false), io),
  );
  const plan = Plan.parse(stored);
  await write(post, plan, io);
  return liveAt(plan, io);
}

function liveAt([first]: z.infer<typeof Plan>, io: PublishIo): PublishOutcome {
  if (first === undefined) throw new Error("A plan without records.");
  const did = didOf(io);
  const page = webUrl(io, { did, handle: io.account.handle });
  return {
    state: "live",
    platformPostId: uriOf(did, POST, first.rkey),
    platformUrl: `${page}/post/${first.rkey}`,
  };
}

/** The embed of each part, its media sent. */
async function sendEmbeds(
  post: BlueskyPost,
  io: PublishIo,
  isAgain: boolean,
): Promise<(JsonObject | null)[]> {
  return inOrder(partsOf(post), async (part, at) => {
    const to = { io, name: String(at + 1), isAgain };
    const film = at === 0 ? post.metadata : {};
    return (await sendMedia(part, film, to)) ?? (at === 0 ? linkCard(post, to) : null);
  });
}

/** The embed with the post that is shown beside it. */
async function withQuote(
  post: BlueskyPost,
  embed: JsonObject | null,
  io: PublishIo,
): Promise<JsonObject | null> {
  const quoted = quotedOf(post.metadata);
  if (quoted === null) return embed;
  const did = quoted.who.startsWith("did:") ? quoted.who : await resolveHandle(io, pdsOf(io), quoted.who);
  const found = did === null ? null : await findPost(io, did, quoted.rkey);
  if (found === null)
    throw new AppError(
      "invalid",
      "metadata.quote: there is no such post. Give another one, or leave it out.",
    );
  const record = { $type: "app.bsky.embed.record", record: { uri: found.uri, cid: found.cid } };
  return embed === null ? record : { $type: "app.bsky.embed.recordWithMedia", record, media: embed };
}

async function linkCard(
  { metadata }: BlueskyPost,
  to: Parameters<typeof sendImage>[2],
): Promise<JsonObject | null> {
  const { link, title, description, thumbnailUrl } = metadata;
  if (link === undefined) return null;
  const thumb =
    thumbnailUrl === undefined
      ? null
      : await sendImage(await to.io.media.item(thumbnailUrl), IMAGE_LIMITS, { ...to, name: "thumbnail" });
  const external = {
    uri: link,
    title: title ?? new URL(link).host,
    description: description ?? "",
    ...(thumb === null ? {} : { thumb: thumb.blob }),
  };
  return { $type: "app.bsky.embed.external", external };
}

async function buildRecords(
  post: BlueskyPost,
  embeds: readonly (JsonObject | null)[],
  io: PublishIo,
): Promise<Json> {
  const did = didOf(io);
  const createdAt = toIso(io.now());
  const [head = null, ...later] = embeds;
  const shown = [await withQuote(post, head, io), ...later];
  const first = newTid(io.now());
  const writes: { collection: string; rkey: string; value: JsonObject }[] = [];
  let root: JsonObject | null = null;
  let parent: JsonObject | null = null;
  for (const [at, part] of partsOf(post).entries()) {
    const rkey = laterTid(first, at);
    const value: JsonObject = {
      ...(await makeContent(part, post.metadata, io)),
      createdAt,
      ...(shown[at] ? { embed: shown[at] } : {}),
      ...(root === null || parent === null ? {} : { reply: { root, parent } }),
    };
    writes.push({ collection: POST, rkey, value });
    parent = { uri: uriOf(did, POST, rkey), cid: await cidOf(value) };
    root ??= parent;
  }
  return [...writes, ...gatesOf(post.metadata, { did, rkey: first, createdAt })];
}

async function write(post: BlueskyPost, plan: readonly RecordWrite[], io: PublishIo): Promise<void> {
  const writes = plan.map(({ collection, rkey, value }) => ({
    $type: "com.atproto.repo.applyWrites#create",
    collection,
    rkey,
    value,
  }));
  const request: JsonObject = { repo: didOf(io), writes };
  await io.effect<Json>({
    step: "write",
    request,
    send: async () => {
      await commitOrAdopt({ post, plan, request }, io);
      return null;
    },
    reconcile: async () =>
      (await isThere(plan, io)) ? { outcome: "done", result: null } : { outcome: "send_again" },
  });
}

interface Commit {
  readonly post: BlueskyPost;
  readonly plan: readonly RecordWrite[];
  readonly request: JsonObject;
}

async function commitOrAdopt(commit: Commit, io: PublishIo): Promise<void> {
  try {
    await applyWrites(commit.request, io);
  } catch (error) {
    if (isXrpcError(error, "BlobNotFound")) return sendBlobsAgain(commit, io);
    // A refusal may mean that the key is taken already: by this very post, whose answer was lost.
    if (error instanceof PlatformFault && error.kind === "rejected" && (await isThere(commit.plan, io)))
      return;
    throw error;
  }
}

/**
 * The server collects files that no record names for a while. Their ids are hashes, so that the same records
 * fit again.
 */
async function sendBlobsAgain(commit: Commit, io: PublishIo): Promise<void> {
  try {
    await sendEmbeds(commit.post, io, true);
  } catch (error) {
    if (error instanceof PlatformFault) throw error;
    const why = "Bluesky dropped the media before the post was written. Send the post again.";
    throw new PlatformFault("rejected", why, { cause: error });
  }
  await applyWrites(commit.request, io);
}

async function applyWrites(request: JsonObject, io: PublishIo): Promise<void> {
  const call = { base: pdsOf(io), nsid: "com.atproto.repo.applyWrites", json: request };
  await ownXrpc(io, call, AnyAnswer);
}

/** One commit made them all: any that is there proves it, though a person may have deleted others since. */
async function isThere(plan: readonly RecordWrite[], io: PublishIo): Promise<boolean> {
  for (const { collection, rkey } of plan) {
    if ((await findRecord(io, collection, rkey)) !== null) return true;
  }
  return false;
}

const RULES = {
  mentioned: "app.bsky.feed.threadgate#mentionRule",
  followers: "app.bsky.feed.threadgate#followerRule",
  following: "app.bsky.feed.threadgate#followingRule",
} as const;

interface GatedPost {
  readonly did: string;
  readonly rkey: string;
  readonly createdAt: string;
}

/** The records that say who may reply and quote; they stand under the post's own key. */
export function gatesOf(metadata: BlueskyMetadata, post: GatedPost): RecordWrite[] {
  return [threadgate(metadata.replyRules, post), postgate(metadata.allowQuotes, post)].filter(
    (gate) => gate !== null,
  );
}

function threadgate(
  rules: BlueskyMetadata["replyRules"],
  { did, rkey, createdAt }: GatedPost,
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

function postgate(allowQuotes: boolean | undefined, { did, rkey, createdAt }: GatedPost): RecordWrite | null {
  if (allowQuotes !== false) return null;
  const embeddingRules = [{ $type: "app.bsky.feed.postgate#disableRule" }];
  return {
    collection: POSTGATE,
    rkey,
    value: { $type: POSTGATE, post: uriOf(did, POST, rkey), embeddingRules, createdAt },
  };
}
