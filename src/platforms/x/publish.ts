import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { settleByListing } from "../shared/settle.ts";
import { ask, Id } from "./api.ts";
import { classify, isDuplicate } from "./faults.ts";
import { findPost, type Wanted } from "./find.ts";
import { sendAllMedia, type SentMedia } from "./media.ts";
import type { XMetadata, XPost } from "./metadata.ts";
import { partsOf, type Part } from "./parts.ts";
import { StillProcessing } from "./upload.ts";

/** X lists a new post within seconds. */
const LISTING_LAG_MS = MINUTE;

const Posted = z.object({ id: Id });
const PostedAnswer = z.looseObject({ data: Posted });

/** Media ahead; then the post, and those that follow it, each in reply to the one before. */
export async function publish(post: XPost, io: PublishIo): Promise<PublishOutcome> {
  const media = await sendMedia(post, io);
  if ("state" in media) return media;
  if (!io.isDue) return { state: "prepared" };
  const [first, ...rest] = partsOf(post);
  const head = { step: "post", body: bodyOf(first, post.metadata, media.sent[0]), others: [] };
  const { id } = await postOnce(io, { ...head, part: first, media: media.sent[0], isFirst: true });
  if (rest.length > 0) {
    await io.extra("The thread", async () => {
      const ids = [id];
      for (const [nth, part] of rest.entries()) {
        const own = media.sent[nth + 1];
        const reply = { reply: { in_reply_to_tweet_id: ids.at(-1) ?? id } };
        const body = { ...bodyOf(part, disclosed(post.metadata), own), ...reply };
        const next = { step: stepOf(nth), body, others: ids, part, media: own, isFirst: false };
        ids.push((await postOnce(io, next)).id);
      }
    });
  }
  return { state: "live", platformPostId: id, platformUrl: urlOf(io, id) };
}

/** The name of the step that sends the post of a thread after the first; `nth` from 0. */
export function stepOf(nth: number): string {
  return `reply:${nth + 1}`;
}

async function sendMedia(post: XPost, io: PublishIo): Promise<{ sent: SentMedia[] } | PublishOutcome> {
  try {
    return { sent: await sendAllMedia(post, io) };
  } catch (error) {
    if (error instanceof StillProcessing) return { state: "processing", checkAgainMs: error.checkAgainMs };
    throw error;
  }
}

/** What is told of every post of a thread. */
function disclosed({ madeWithAi, paidPartnership }: XMetadata): XMetadata {
  return { madeWithAi, paidPartnership };
}

function bodyOf({ text }: Part, metadata: XMetadata, media: SentMedia | undefined): JsonObject {
  const { replySettings, communityId, madeWithAi, paidPartnership } = metadata;
  const ids = media?.ids ?? [];
  const thumbnailId = media?.thumbnailId ?? null;
  return {
    ...(text === "" ? {} : { text }),
    ...(ids.length === 0
      ? {}
      : {
          media: {
            media_ids: [...ids],
            ...(thumbnailId === null ? {} : { preview_media_id: thumbnailId }),
          },
        }),
    ...(replySettings === undefined ? {} : { reply_settings: replySettings }),
    ...(communityId === undefined ? {} : { community_id: communityId }),
    ...(madeWithAi === undefined || ids.length === 0 ? {} : { made_with_ai: madeWithAi }),
    ...(paidPartnership === undefined ? {} : { paid_partnership: paidPartnership }),
  };
}

interface Sending {
  readonly step: string;
  readonly body: JsonObject;
  readonly part: Part;
  readonly media: SentMedia | undefined;
  /** Posts of the same thread that came before. */
  readonly others: readonly string[];
  readonly isFirst: boolean;
}

async function postOnce(io: PublishIo, sending: Sending): Promise<z.infer<typeof Posted>> {
  const { step, body, part, media, others, isFirst } = sending;
  const wanted: Wanted = { text: part.text, mediaKeys: media?.keys ?? [], others };
  const result = await io.effect<z.infer<typeof Posted>>({
    step,
    request: body,
    send: (context) => post(io, { body, context }),
    settle: (context) => settle(io, wanted, context),
    ...(isFirst
      ? { live: ({ id }: { id: string }) => ({ platformPostId: id, platformUrl: urlOf(io, id) }) }
      : {}),
  });
  return Posted.parse(result);
}

interface Trying {
  readonly body: JsonObject;
  readonly context: EffectContext;
}

/** Of a second sending, what X calls a duplicate may be the first. */
async function post(io: PublishIo, { body, context }: Trying): Promise<z.infer<typeof Posted>> {
  let mayBeOurs = false;
  const read: typeof classify = (response) => {
    mayBeOurs = context.timesSent > 0 && isDuplicate(response);
    return mayBeOurs ? new PlatformFault("ambiguous", "X already has the same text.") : classify(response);
  };
  try {
    const call = { method: "POST", path: "/2/tweets", json: body, classify: read } as const;
    const { data } = await ask(io, call, PostedAnswer);
    return { id: data.id };
  } catch (error) {
    if (mayBeOurs) await context.saveHandle({ mayBeOurs });
    throw error;
  }
}

const Handle = z.object({ mayBeOurs: z.boolean().catch(false) }).catch({ mayBeOurs: false });

/** X takes no text twice, so that what two listings lack may be sent again: at worst it is refused. */
function settle(
  io: PublishIo,
  wanted: Wanted,
  context: SettleContext,
): Promise<Settled<z.infer<typeof Posted>>> {
  const { mayBeOurs } = Handle.parse(context.handle);
  return settleByListing(context, {
    now: io.now(),
    settleMs: LISTING_LAG_MS,
    isReliable: !mayBeOurs,
    reason: "X refused it as a duplicate, and the channel's latest posts do not have it.",
    find: async (since) => {
      const id = await findPost(io, wanted, since);
      return id === null ? null : { id };
    },
  });
}

/** Where people look at a post. */
export function urlOf({ account }: Pick<PublishIo, "account">, id: string): string {
  return `https://x.com/${account.handle ?? "i"}/status/${id}`;
}
