import { AppError } from "../../../domain/errors.ts";
import { MINUTE, SECOND } from "../../../domain/time.ts";
import type { PublishOutcome } from "../../../ports/platform.ts";
import type { JsonObject } from "../../../ports/platform-io.ts";
import type { EffectContext, LiveAt, PublishIo } from "../../../ports/publish-io.ts";
import { settleByKeyThenListing, settleByListing } from "../settle.ts";
import { partsOf, sendThread, type Part, type Place } from "../posts/thread.ts";
import { own } from "./api.ts";
import { Status } from "./entities.ts";
import { findStatus } from "./find.ts";
import { familyOf } from "./limits.ts";
import { isProcessing, sendMedia, type Attached } from "./media.ts";
import type { MastodonPost } from "./metadata.ts";

/** A request that was given up may still arrive more than a minute later. */
const SETTLE_MS = 2 * MINUTE;

const ASK_MEDIA_AGAIN_MS = 3 * SECOND;

/** A status as the ledger keeps it. */
export type Posted = { readonly id: string; readonly url: string | null };

/** What may be sent of a part: its place in the thread, and what it answers. */
interface Outgoing extends Place {
  readonly post: MastodonPost;
  readonly part: Part;
  readonly mediaIds: readonly string[];
}

/**
 * Media first, of the whole thread, as attachments that nobody sees; then the status, which everybody does,
 * and then those that follow it.
 */
export async function publish(post: MastodonPost, io: PublishIo): Promise<PublishOutcome> {
  const parts = partsOf(post);
  const media: Attached[][] = [];
  for (const [at, part] of parts.entries()) {
    const thumbnailUrl = at === 0 ? (post.metadata.thumbnailUrl ?? null) : null;
    media.push(await sendMedia(part, { io, name: String(at + 1), thumbnailUrl }));
  }
  if (!io.isDue) return { state: "prepared" };
  if (await isProcessing(media.flat(), io)) return { state: "processing", checkAgainMs: ASK_MEDIA_AGAIN_MS };
  const send = (part: Part, place: Place): Promise<Posted> => {
    const mediaIds = (media[place.at] ?? []).map(({ id }) => id);
    return sendStatus({ post, part, mediaIds, ...place }, io);
  };
  return { state: "live", ...liveAt(await sendThread(parts, send, io)) };
}

function liveAt({ id, url }: Posted): LiveAt {
  return { platformPostId: id, platformUrl: url };
}

/** Names the step that brings a part of the thread, from 0. */
export function stepOf(at: number): string {
  return `status ${at + 1}`;
}

function sendStatus(outgoing: Outgoing, io: PublishIo): Promise<Posted> {
  const { at, part, mediaIds, replyTo, post } = outgoing;
  const body = bodyOf(outgoing, io);
  const wanted = { text: part.text, spoilerText: post.metadata.spoilerText ?? "", mediaIds, replyTo };
  const { keyMs, listsAll } = familyOf(io.account);
  return io.effect<Posted>({
    step: stepOf(at),
    request: body,
    send: (context) => create(body, context, io),
    settle: async (context) => {
      const listing = {
        now: io.now(),
        settleMs: SETTLE_MS,
        isReliable: listsAll || (post.metadata.visibility ?? "public") === "public",
        reason: "the answer was lost, and this server lists only public posts.",
        find: async (since: number) => toPosted(await findStatus(io, wanted, since)),
      };
      if (keyMs === null) return settleByListing(context, listing);
      return settleByKeyThenListing(context, { ...listing, keyMs });
    },
    ...(at === 0 ? { live: liveAt } : {}),
  });
}

function toPosted(status: Status | null): Posted | null {
  return status === null ? null : { id: status.id, url: status.url };
}

async function create(body: JsonObject, { key }: EffectContext, io: PublishIo): Promise<Posted> {
  const headers = familyOf(io.account).sendsKey ? { "idempotency-key": key } : {};
  const call = { method: "POST", path: "/api/v1/statuses", json: body, headers } as const;
  const { id, url } = await own(io, call, Status);
  return { id, url };
}

function bodyOf({ post, part, mediaIds, replyTo }: Outgoing, io: PublishIo): JsonObject {
  const { visibility, sensitive, spoilerText, language } = post.metadata;
  if (part.text.trim() === "" && mediaIds.length === 0)
    throw new AppError(
      "invalid",
      "caption: is empty, and there is no media. Give text, a picture or a video.",
    );
  return {
    status: familyOf(io.account).write(part.text),
    ...(mediaIds.length === 0 ? {} : { media_ids: [...mediaIds] }),
    ...(replyTo === null ? {} : { in_reply_to_id: replyTo }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(spoilerText === undefined ? {} : { spoiler_text: spoilerText }),
    ...(language === undefined ? {} : { language }),
    ...(familyOf(io.account).takesContentType ? { content_type: "text/plain" } : {}),
  };
}
