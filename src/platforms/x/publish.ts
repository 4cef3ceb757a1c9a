import * as z from "zod";
import type { Poll } from "../../domain/posts/common-metadata.ts";
import { MINUTE, toIso } from "../../domain/time.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { EffectContext, PublishIo, ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { ask, DUPLICATE, Id } from "./api.ts";
import { partsOf, quotedOf, type XMetadata, type XPost } from "./metadata.ts";
import { sendAllMedia, type SentMedia } from "./upload.ts";
import type { Part } from "../shared/thread.ts";

/** X lists a new post within seconds. */
const LISTING_LAG_MS = MINUTE;

const Posted = z.object({ id: Id });
const PostedAnswer = z.looseObject({ data: Posted });

/** Media ahead; then the post, and those that follow it, each in reply to the one before. */
export async function publish(post: XPost, io: PublishIo): Promise<PublishOutcome> {
  const [media, ...others] = await sendAllMedia(post, io);
  if (!io.isDue) return { state: "prepared" };
  const [first, ...rest] = partsOf(post);
  const head = { step: "post", body: bodyOf(first, post.metadata, media), others: [] };
  const { id } = await postOnce(io, { ...head, part: first, media, isFirst: true });
  if (rest.length > 0) {
    await io.followUp("The thread", async () => {
      const ids = [id];
      for (const [nth, part] of rest.entries()) {
        const own = others[nth];
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

/** What is told of every post of a thread. */
function disclosed({ madeWithAi, paidPartnership }: XMetadata): XMetadata {
  return { madeWithAi, paidPartnership };
}

function bodyOf({ text }: Part, metadata: XMetadata, media: SentMedia | undefined): JsonObject {
  const { replySettings, communityId, madeWithAi, paidPartnership, poll } = metadata;
  const quoted = quotedOf(metadata);
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
    ...(poll === undefined ? {} : { poll: pollOf(poll) }),
    ...(quoted === null ? {} : { quote_tweet_id: quoted }),
    ...(replySettings === undefined ? {} : { reply_settings: replySettings }),
    ...(communityId === undefined ? {} : { community_id: communityId }),
    ...(madeWithAi === undefined || ids.length === 0 ? {} : { made_with_ai: madeWithAi }),
    ...(paidPartnership === undefined ? {} : { paid_partnership: paidPartnership }),
  };
}

function pollOf({ options, hours }: Poll): JsonObject {
  return { options: [...options], duration_minutes: Math.round(hours * 60) };
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
  const quoted = typeof body["quote_tweet_id"] === "string" ? body["quote_tweet_id"] : null;
  const wanted: PostSearch = { text: part.text, mediaKeys: media?.keys ?? [], others, quoted };
  const result = await io.effect<z.infer<typeof Posted>>({
    step,
    request: body,
    send: (context) => post(io, { body, context }),
    reconcile: (context) => reconcile(io, wanted, context),
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
  const fault = (): PlatformFault => {
    mayBeOurs = true;
    return new PlatformFault("ambiguous", "X already has the same text.");
  };
  const rules = context.timesSent > 0 ? [{ code: DUPLICATE.split(" "), fault }] : [];
  try {
    const call = { method: "POST", path: "/2/tweets", json: body, rules } as const;
    const { data } = await ask(io, call, PostedAnswer);
    return { id: data.id };
  } catch (error) {
    if (mayBeOurs) await context.saveHandle({ mayBeOurs });
    throw error;
  }
}

const Handle = z.object({ mayBeOurs: z.boolean().catch(false) }).catch({ mayBeOurs: false });

/** X takes no text twice, so that what two listings lack may be sent again: at worst it is refused. */
function reconcile(
  io: PublishIo,
  wanted: PostSearch,
  context: ReconcileContext,
): Promise<Reconciled<z.infer<typeof Posted>>> {
  const { mayBeOurs } = Handle.parse(context.handle);
  return reconcileByListing(context, {
    io,
    listedAfterMs: LISTING_LAG_MS,
    doubt: mayBeOurs
      ? "X refused it as a duplicate, and the channel's latest posts do not have it."
      : undefined,
    find: async (since) => {
      const id = await findPost(io, wanted, since);
      return id === null ? null : { id };
    },
  });
}

/** Where people look at a post. */
function urlOf({ account }: Pick<PublishIo, "account">, id: string): string {
  return `https://x.com/${account.handle ?? "i"}/status/${id}`;
}

/** What is looked for among the channel's posts. */
interface PostSearch {
  readonly text: string;
  /** X's names of its media; empty where they are not known. */
  readonly mediaKeys: readonly string[];
  /** Those that are known to be other posts. */
  readonly others: readonly string[];
  /** The number of the post that is shown below the text. */
  readonly quoted: string | null;
}

const Url = z.looseObject({
  url: z.string().nullish(),
  expanded_url: z.string().nullish(),
  display_url: z.string().nullish(),
  media_key: z.string().nullish(),
});
const Entities = z.looseObject({ urls: z.array(Url).nullish() }).nullish();
/** Longer than 280 characters: the whole text stands by itself. */
const Note = z.looseObject({ text: z.string(), entities: Entities.catch(null) }).nullish();

const ListedPost = z.looseObject({
  id: Id,
  text: z.string(),
  entities: Entities.catch(null),
  note_tweet: Note.catch(null),
  note_post: Note.catch(null),
  attachments: z
    .looseObject({ media_keys: z.array(z.string()).nullish() })
    .nullish()
    .catch(null),
});
type ListedPost = z.infer<typeof ListedPost>;

const Page = z.looseObject({
  data: z.array(ListedPost).default([]),
  meta: z.looseObject({ next_token: z.string().optional() }).default({}),
});

/** All posts of a minute or two. */
const MAX_PAGES = 5;
/** Each post that is read costs: of the few since then, no more are asked for. */
const PAGE = 10;

/** The newest of the channel's posts since then (milliseconds since 1970) that is this one; null: none. */
async function findPost(io: PlatformIo, wanted: PostSearch, since: number): Promise<string | null> {
  const seconds = toIso(Math.floor(since / 1_000) * 1_000).replace(".000Z", "Z");
  const path = `/2/users/${io.account.platformAccountId ?? ""}/tweets`;
  const listed = pages(MAX_PAGES, async (token) => {
    const query = {
      max_results: PAGE,
      start_time: seconds,
      "tweet.fields": "attachments,created_at,entities,note_tweet",
      pagination_token: token,
    };
    const { data, meta } = await ask(io, { path, query }, Page);
    return { items: data, next: meta.next_token };
  });
  const isIt = (one: ListedPost): boolean => !wanted.others.includes(one.id) && isSame(one, wanted);
  return (await findFirst(listed, isIt))?.id ?? null;
}

/** By its media, which only this post has. Without media, by its text. */
function isSame(listed: ListedPost, { text, mediaKeys, quoted }: PostSearch): boolean {
  const keys = listed.attachments?.media_keys ?? [];
  if (keys.length > 0 && mediaKeys.length > 0) return keys.some((key) => mediaKeys.includes(key));
  const shown = wordsOf(shownText(listed, quoted));
  const own = wordsOf(plain(text));
  return shown.length === own.length && shown.every((word, at) => fits(word, own[at] ?? ""));
}

/** Stands for an address that X does not spell out. */
const ANY = "\0";

/** The text before X shortened its addresses, put those of media and quote at its end and escaped three signs. */
function shownText(listed: ListedPost, quoted: string | null): string {
  const note = listed.note_tweet ?? listed.note_post;
  const { text, entities } = note ?? listed;
  return unescaped(text.replaceAll(ANY, ""))
    .split(/(https?:\/\/t\.co\/\w+)/)
    .map((piece, at) => (at % 2 === 0 ? plain(piece) : wholeAddress(piece, entities, quoted)))
    .join("");
}

function wholeAddress(address: string, entities: z.infer<typeof Entities>, quoted: string | null): string {
  const entity = entities?.urls?.find(({ url }) => url === address);
  const isMedia =
    (entity?.media_key ?? null) !== null || /^pic\.(x|twitter)\.com/.test(entity?.display_url ?? "");
  if (isMedia) return "";
  const expanded = entity?.expanded_url ?? null;
  if (quoted !== null && expanded?.endsWith(`/status/${quoted}`) === true) return "";
  return expanded === null ? ANY : plain(expanded);
}

/** X adds the scheme that was left out, and a slash after a bare host. */
function wordsOf(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/\/(?![\w-])/g, ""));
}

/** Whether the word is the other one, in which `ANY` stands for whatever is there. */
function fits(pattern: string, word: string): boolean {
  const [first = "", ...rest] = pattern.split(ANY);
  if (!word.startsWith(first)) return false;
  if (rest.length === 0) return word === first;
  const last = rest.pop() ?? "";
  let from = first.length;
  for (const part of rest) {
    const at = word.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return word.length - last.length >= from && word.endsWith(last);
}

/** Without schemes, and in single spaces. */
function plain(text: string): string {
  return text.replaceAll(/https?:\/\//gi, "").replaceAll(/\s+/g, " ");
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
