import { AppError } from "../../domain/errors.ts";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { articleTags } from "./drafts.ts";
import { KIND, tagOf, type Event } from "./event.ts";
import { formatOf, type NostrPost } from "./metadata.ts";
import { PART, placeOf, Sent } from "./publish.ts";
import { faultOf, ownSign, readAll, readUnchecked, relaysOf, sendToAll } from "./relays.ts";

function idOf({ platformPostId }: NostrPost): string {
  if (platformPostId !== null) return platformPostId;
  throw new AppError("conflict", "platformPostId: the post's id is not known.");
}

/** What an article keeps when it is edited and its id changes. */
function addressOf(post: NostrPost, io: Pick<PlatformIo, "account">): string {
  return `${KIND.article}:${io.account.platformAccountId}:${post.id}`;
}

/** The post as relays have it now, and which have answered; null where none has it. */
async function find(post: NostrPost, io: PlatformIo): Promise<{ event: Event | null; answered: number }> {
  const pubkey = io.account.platformAccountId ?? "";
  const isArticle = formatOf(post) === "article";
  const filter = isArticle
    ? { kinds: [KIND.article], authors: [pubkey], "#d": [post.id], limit: 2 }
    : { ids: [idOf(post)], limit: 2 };
  const { events, answered } = await readAll(io, relaysOf(io), filter, ownSign(io));
  const own = events.filter(
    (event) =>
      event.pubkey === pubkey && (isArticle ? tagOf(event, "d") === post.id : event.id === idOf(post)),
  );
  if (own.length === 0 && answered.length === 0)
    throw new PlatformFault("transient", "None of the account's relays answers. Try again later.");
  return { event: own[0] ?? null, answered: answered.length };
}

/** How many relays tell of one kind at most: what is beyond it is not counted. */
const MAX_COUNTED = 500;

/** Whether a relay has it, and what others did with it, as far as its relays know. */
export async function insights(
  post: NostrPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }> {
  const { event } = await find(post, io);
  if (event === null) return { state: "removed", visibility: null, metrics: {} };
  const about = formatOf(post) === "article" ? { "#a": [addressOf(post, io)] } : { "#e": [event.id] };
  const kinds = [KIND.note, KIND.repost, KIND.reaction, KIND.genericRepost, KIND.comment];
  const asked = { kinds, ...about, limit: MAX_COUNTED };
  const { events } = await readUnchecked(io, relaysOf(io), asked, ownSign(io));
  const count = (...of: number[]): number => events.filter(({ kind }) => of.includes(kind)).length;
  const disliked = events.filter(({ kind, content }) => kind === KIND.reaction && content === "-").length;
  const metrics = {
    likes: count(KIND.reaction) - disliked,
    comments: count(KIND.note, KIND.comment),
    shares: count(KIND.repost, KIND.genericRepost),
  };
  return { state: "live", visibility: "public", metrics };
}

/** Tags of an article that follow from its text and metadata. */
const EDITED = ["title", "summary", "content-warning", "L", "l", "t", "p", "q"];

/** An article is replaced by one with the same `d`; nothing else can be changed. */
export async function edit(
  post: NostrPost,
  _changed: readonly string[],
  io: PlatformIo,
): Promise<{ platformPostId: string; platformUrl: string }> {
  const { event: current } = await find(post, io);
  if (current === null)
    throw new AppError("conflict", "No relay has the article any more, so it cannot be changed.");
  const sign = ownSign(io);
  const event = await sign({
    kind: KIND.article,
    // Of two, the newer one stays.
    created_at: Math.max(Math.floor(io.now() / 1_000), current.created_at + 1),
    tags: [...current.tags.filter(([name = ""]) => !EDITED.includes(name)), ...articleTags(post)],
    content: post.caption ?? "",
  });
  const verdicts = await sendToAll(io, relaysOf(io), event, sign);
  const relays = verdicts.filter(({ state }) => state === "taken").map(({ relay }) => relay);
  if (relays.length === 0) throw faultOf(verdicts);
  return placeOf(event, { id: event.id, relays }, io);
}

/**
 * Asks every relay to delete it (https://github.com/nostr-protocol/nips/blob/master/09.md), and then whether
 * it did: none must.
 */
export async function remove(post: NostrPost, io: PlatformIo): Promise<void> {
  const sent = [...Array((post.metadata.thread?.length ?? 0) + 1).keys()].map(
    (at) => Sent.safeParse(io.resultOf(PART(at))).data,
  );
  const ids = [...new Set([idOf(post), ...sent.flatMap((one) => one?.id ?? [])])];
  const having = new Set(sent.flatMap((one) => one?.relays ?? []));
  const sign = ownSign(io);
  const { event } = await find(post, io);
  const isArticle = formatOf(post) === "article";
  const deletion = await sign({
    kind: KIND.deletion,
    created_at: Math.max(Math.floor(io.now() / 1_000), (event?.created_at ?? 0) + 1),
    tags: [
      ...ids.map((id) => ["e", id]),
      ...(isArticle ? [["a", addressOf(post, io)]] : []),
      ...(event === null ? [] : [["k", String(event.kind)]]),
    ],
    content: "",
  });
  const relays = [...new Set([...relaysOf(io), ...having])];
  const verdicts = await sendToAll(io, relays, deletion, sign);
  const left = await Promise.all(
    relays.map(async (relay, at) => {
      // Asked in other words than before: relays keep their answers for a moment.
      const { events, answered } = await readAll(io, [relay], { ids, limit: ids.length }, sign);
      if (events.some(({ id }) => ids.includes(id))) return `${relay} still shows it`;
      if (answered.length > 0 || !having.has(relay) || verdicts[at]?.state === "taken") return [];
      return `${relay} ${verdicts[at]?.why}`;
    }),
  );
  const problems = left.flat();
  if (problems.length === 0) return;
  throw new PlatformFault(
    "rejected",
    `The post is still on some relays: ${problems.join(", ")}. Try again later.`,
  );
}
