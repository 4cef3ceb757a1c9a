import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Settled, SettleContext } from "../../ports/publish-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { settleByListing } from "../shared/settle.ts";
import { AnyAnswer, call, Paging } from "./api.ts";
import { channelOf } from "./channel.ts";

/** Names our messages among a channel's; the key in it names the one that is meant. */
export const EVENT_TYPE = "posthorn_post";

const PAGE = 200;
const MAX_PAGES = 50;

/** An app that is distributed commercially gets 15 at a time, whatever it asks for. */
const UNREADABLE: FaultRule = {
  code: ["missing_scope", "not_in_channel", "channel_not_found", "channel_is_limited_access"],
  kind: "rejected",
  message:
    "the bot may not read the channel, where it would have to look. Add the scopes channels:history and groups:history, and invite the bot.",
};

export const Message = z.looseObject({
  ts: z.string(),
  subtype: z.string().optional(),
  metadata: z
    .looseObject({
      event_type: z.string().optional(),
      event_payload: z.looseObject({ key: z.unknown().optional() }),
    })
    .optional()
    .catch(undefined),
  files: z
    .array(z.looseObject({ id: z.string() }))
    .optional()
    .catch(undefined),
  reply_count: z.int().min(0).optional().catch(undefined),
  reactions: z
    .array(z.looseObject({ count: z.int().min(0) }))
    .optional()
    .catch(undefined),
});
export type Message = z.infer<typeof Message>;

const Page = AnyAnswer.extend({ messages: z.array(Message), response_metadata: Paging });

export interface Search {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Among the replies to this message; null: in the channel. */
  readonly threadTs: string | null;
  isIt(message: Message): boolean;
}

/** The moment that names the message; null: it is not there. Throws `rejected` where the bot may not look. */
export async function findMessage(io: PlatformIo, search: Search): Promise<string | null> {
  const { channelId: channel } = channelOf(io.account);
  const { threadTs, since } = search;
  const at = threadTs === null ? {} : { ts: threadTs };
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { messages, response_metadata: paging } = await call(
      io,
      {
        method: threadTs === null ? "conversations.history" : "conversations.replies",
        query: {
          channel,
          ...at,
          oldest: (since / SECOND).toFixed(6),
          inclusive: true,
          include_all_metadata: true,
          limit: PAGE,
          cursor,
        },
        rules: [UNREADABLE],
      },
      Page,
    );
    const found = messages.find((message) => search.isIt(message));
    if (found !== undefined) return found.ts;
    cursor = paging?.next_cursor ?? "";
    if (cursor === "") return null;
  }
  throw new PlatformFault("transient", "Slack has too many messages since then to look through.");
}

export function hasKey(key: string): Search["isIt"] {
  return ({ metadata }) => metadata?.event_type === EVENT_TYPE && metadata.event_payload.key === key;
}

const Share = z.array(z.looseObject({ ts: z.string().nullish() }));
const Shares = z.record(z.string(), Share).optional().catch(undefined);
const FileAnswer = AnyAnswer.extend({
  file: z
    .looseObject({ shares: z.looseObject({ public: Shares, private: Shares }).optional().catch(undefined) })
    .optional(),
});

/** Not there before it is complete; and not to be seen where the token has no scope files:read. */
const NO_FILE: FaultRule = {
  code: ["file_not_found", "file_deleted", "missing_scope", "not_visible", "access_denied"],
  kind: "ok",
};

/**
 * The message that shows the file, by the file itself, else by the channel's messages. Slack shows it some
 * time after it was told to.
 */
export async function findShare(
  io: PlatformIo,
  { fileId, ...search }: Omit<Search, "isIt"> & { readonly fileId: string },
): Promise<string | null> {
  const one = { method: "files.info", query: { file: fileId }, rules: [NO_FILE] };
  const { ok, file } = await call(io, one, FileAnswer);
  const { channelId } = channelOf(io.account);
  for (const shares of [file?.shares?.public, file?.shares?.private]) {
    const ts = shares?.[channelId]?.find((share) => typeof share.ts === "string")?.ts;
    if (typeof ts === "string") return ts;
  }
  if (ok) return null;
  return findMessage(io, { ...search, isIt: ({ files }) => files?.some(({ id }) => id === fileId) === true });
}

/** How an open step turned out, by looking. */
export async function settleByLooking<R>(
  context: SettleContext,
  io: PlatformIo,
  { settleMs, find }: { readonly settleMs: number; find(since: number): Promise<R | null> },
): Promise<Settled<R>> {
  try {
    const listing = { now: io.now(), settleMs, isReliable: true, reason: "", find };
    return await settleByListing(context, listing);
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return { outcome: "unknown", reason: `the answer was lost, and ${error.message}` };
  }
}
