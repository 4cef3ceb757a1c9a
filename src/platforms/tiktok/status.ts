import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { callTikTok } from "./api.ts";
import { Id } from "../../ports/platform-values.ts";
import { failureOf } from "./faults.ts";
import { isInbox, privacyOf, type TikTokPost } from "./metadata.ts";

const PublishStatus = z.looseObject({
  status: z.string(),
  fail_reason: z.string().catch(""),
  uploaded_bytes: z.coerce.number().optional().catch(undefined),
  // TikTok's own spelling.
  publicaly_available_post_id: z.array(Id).catch([]),
});
export type PublishStatus = z.infer<typeof PublishStatus>;

export function readStatus(
  io: Pick<PlatformIo, "ask" | "setting">,
  publishId: string,
  kind: "repeatable" | "numbers" = "repeatable",
): Promise<PublishStatus> {
  const path = "/v2/post/publish/status/fetch/";
  return callTikTok(io, { path, json: { publish_id: publishId }, kind }, PublishStatus);
}

/** What was brought to TikTok, as the ledger keeps it. */
export const Sent = z.object({
  kind: z.enum(["video", "photo"]),
  /** Null where the post was found without it. */
  publishId: z.string().nullable(),
  /** The public id, where it is known already. */
  postId: z.string().nullable(),
  username: z.string().nullable(),
});
export type Sent = z.infer<typeof Sent>;

/** How long the public id is waited for: moderation takes a minute as a rule, hours at worst. */
const ID_FOR_MS = 45 * MINUTE;
const NOTE = "Finish it in the TikTok app. It waits in the account's inbox.";

/** Where the post is that TikTok has: under way, with its person, or public. */
export async function follow(post: TikTokPost, io: PublishIo, sent: Sent): Promise<PublishOutcome> {
  const username = io.account.handle ?? sent.username;
  const profile = username === null ? null : profileUrl(username);
  if (sent.postId !== null) return liveAt(io, { id: sent.postId, kind: sent.kind, profile });
  const publishId = sent.publishId ?? "";
  const status = await readStatus(io, publishId);
  const [id] = status.publicaly_available_post_id;
  switch (status.status) {
    case "FAILED":
      throw failureOf(status.fail_reason);
    case "SEND_TO_USER_INBOX":
      return {
        state: "held",
        platformPostId: publishId,
        platformUrl: profile,
        checkAgainMs: MINUTE,
        note: NOTE,
      };
    case "PUBLISH_COMPLETE":
      return id === undefined
        ? waitForId(post, io, { platformPostId: publishId, platformUrl: profile })
        : liveAt(io, { id, kind: sent.kind, profile });
    default:
      return { state: "processing", checkAgainMs: await nextLookMs(io) };
  }
}

async function liveAt(
  io: PublishIo,
  { id, kind, profile }: { id: string; kind: Sent["kind"]; profile: string | null },
): Promise<PublishOutcome> {
  const at = { platformPostId: id, platformUrl: profile === null ? null : `${profile}/${kind}/${id}` };
  await io.live(at);
  return { state: "live", ...at };
}

/** It is published; its public id comes with moderation, and never for what only its owner sees. */
async function waitForId(
  { metadata }: TikTokPost,
  io: PublishIo,
  at: { platformPostId: string; platformUrl: string | null },
): Promise<PublishOutcome> {
  await io.live(at);
  const since = await io.once("published", () => io.now());
  const isToCome = isInbox(metadata) || privacyOf(metadata) !== "SELF_ONLY";
  return isToCome && io.now() - since < ID_FOR_MS
    ? { state: "processing", checkAgainMs: 30 * SECOND }
    : { state: "live", ...at };
}

/** Films are ready within a minute as a rule; 30 questions a minute are allowed. */
async function nextLookMs(io: PublishIo): Promise<number> {
  const since = await io.once("sent", () => io.now());
  return Math.min(Math.max(Math.round((io.now() - since) / 5), 5 * SECOND), MINUTE);
}

export function profileUrl(username: string): string {
  return `https://www.tiktok.com/@${username}`;
}
