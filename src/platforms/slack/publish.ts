import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { AnyAnswer, call } from "./api.ts";
import { addressOf, channelOf, idOf } from "./channel.ts";
import { findShare } from "./look-up.ts";
import { partsOf, type SlackPost } from "./metadata.ts";
import { sendPart, type Sent } from "./send.ts";

export const MESSAGE = "message";

/** The step that sends the reply at this place, from 1. */
export function replyStep(at: number): string {
  return `reply ${at}`;
}

/** Slack shows files once it has looked at them. */
const SHOWN_AGAIN_MS = 2 * SECOND;

class NotShownYet extends Error {}

/** One message, looked for by its metadata or its file where an answer is lost; then the replies to it. */
export async function publish(post: SlackPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const [part, ...replies] = partsOf(post);
  const hasPreviews = post.metadata.linkPreviews ?? true;
  const at = { io, hasPreviews };
  const live = ({ ts }: Sent) => liveAt(io, ts);
  const sent = await sendPart(part, { ...at, step: MESSAGE, threadTs: null, live });
  try {
    const ts = sent.ts ?? (await io.once("shown", () => waitForShare(sent, post, io)));
    const place = liveAt(io, ts);
    await io.live(place);
    if (replies.length > 0) {
      // One extra: a reply that waits keeps those after it waiting.
      await io.extra("The thread", async () => {
        const threadTs = requireTs(ts);
        for (const [n, reply] of replies.entries())
          await sendPart(reply, { ...at, step: replyStep(n + 1), threadTs });
      });
    }
    return { state: "live", ...place, platformUrl: ts === null ? null : await permalinkOf(ts, io) };
  } catch (error) {
    if (error instanceof NotShownYet) return { state: "processing", checkAgainMs: SHOWN_AGAIN_MS };
    throw error;
  }
}

function liveAt({ account }: PlatformIo, ts: string | null): LiveAt {
  return ts === null
    ? { platformPostId: null, platformUrl: null }
    : { platformPostId: idOf(account, ts), platformUrl: addressOf(account, ts) };
}

/** Null where it went out and the bot may not look for it. */
async function waitForShare({ files }: Sent, post: SlackPost, io: PublishIo): Promise<string | null> {
  const [fileId = ""] = files;
  try {
    const since = post.scheduledAt - MINUTE;
    const ts = await findShare(io, { since, threadTs: null, fileId });
    if (ts !== null) return ts;
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
  throw new NotShownYet();
}

function requireTs(ts: string | null): string {
  if (ts !== null) return ts;
  throw new PlatformFault(
    "rejected",
    "Slack does not say which message to reply to, because the bot may not read the channel. Add the scopes files:read, channels:history and groups:history.",
  );
}

const Permalink = AnyAnswer.extend({ permalink: z.url({ protocol: /^https?$/ }) });

/** The address that Slack tells; the one that it makes of its own accord, where it cannot be asked. */
async function permalinkOf(ts: string, io: PublishIo): Promise<string> {
  const query = { channel: channelOf(io.account).channelId, message_ts: ts };
  try {
    return (await call(io, { method: "chat.getPermalink", query }, Permalink)).permalink;
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Slack did not tell a message's address");
    return addressOf(io.account, ts);
  }
}
