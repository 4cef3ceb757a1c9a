import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PostInsights, PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo, Reconciled } from "../../ports/publish-io.ts";
import { idReader } from "../shared/live.ts";
import { articleTags, draftOf, type Files, replyOf, sendFiles } from "./drafts.ts";
import { Event, KIND, nameOfEvent, tagOf } from "./event.ts";
import { formatOf, type NostrPost } from "./metadata.ts";
import { faultOf, ownSign, readAll, readUnchecked, relaysOf, sendToAll, type Verdict } from "./relays.ts";

/** What a step that sends an event gives: the relays that have it. */
const SentEvent = z.object({ id: z.string(), relays: z.array(z.string()) });
type SentEvent = z.infer<typeof SentEvent>;

const Events = z.array(Event).min(1);

function stepOf(at: number): string {
  return `part ${at + 1}`;
}

/**
 * Everything is signed, and stored, before anything is sent: its id is a hash of it, so that it can be sent
 * again and again and stays one post. It is live with the first relay that takes it.
 */
export async function publish(post: NostrPost, io: PublishIo): Promise<PublishOutcome> {
  const files = await sendFiles(post, io);
  if (!io.isDue) return { state: "prepared" };
  const events = Events.parse(await io.once("events", () => signAll(post, files, io)));
  const relays = relaysOf(io);
  // The relays' answers of this run: one that refused is not asked again at once.
  const verdicts = new Map<string, Verdict>();
  let live: PublishOutcome | null = null;
  for (const [at, event] of events.entries()) {
    if (live !== null) {
      await io.followUp(`Part ${at + 1}`, async () => void (await send(io, { at, event, relays, verdicts })));
      continue;
    }
    const sent = await send(io, { at, event, relays, verdicts });
    live = { state: "live", ...addressIn(event, sent, io) };
    const missing = relays.filter((relay) => !sent.relays.includes(relay));
    for (const relay of missing)
      await io.followUp(`The relay ${relay}`, () =>
        catchUp(io, { relay, events, known: verdicts.get(relay) }),
      );
  }
  if (live === null) throw new Error("A post without events.");
  return live;
}

/** Where people see it; apps find it by any relay that has it. */
function addressIn(
  event: Event,
  { relays }: SentEvent,
  io: Pick<PlatformIo, "setting">,
): { platformPostId: string; platformUrl: string } {
  const { id, pubkey, kind, tags } = event;
  const d = kind === KIND.article ? tags.find(([name]) => name === "d")?.[1] : undefined;
  const name = nameOfEvent(d === undefined ? { id } : { d }, { pubkey, kind, relay: relays[0] ?? "" });
  return { platformPostId: id, platformUrl: `${webUrl(io)}/${name}` };
}

/** Where posts and people can be looked at without an app. */
export function webUrl(io: Pick<PlatformIo, "setting">): string {
  return io.setting("WEB_URL") ?? "https://njump.me";
}

async function signAll(post: NostrPost, files: Files, io: PublishIo): Promise<Event[]> {
  const sign = ownSign(io);
  const now = Math.floor(io.now() / 1_000);
  const first = await sign(draftOf(post, files, now));
  const events = [first];
  const [relay = ""] = relaysOf(io);
  for (let at = 1; at < files.parts.length; at += 1) {
    const before = { pubkey: first.pubkey, root: first.id, parent: events.at(-1)?.id ?? first.id, relay };
    // Apps sort by time.
    events.push(await sign(replyOf(post, files, at, before, now + at)));
  }
  return events;
}

interface Sending {
  readonly at: number;
  readonly event: Event;
  readonly relays: readonly string[];
  readonly verdicts: Map<string, Verdict>;
}

/** One event to all relays, under the protocol. */
async function send(io: PublishIo, { at, event, relays, verdicts }: Sending): Promise<SentEvent> {
  const sign = ownSign(io);
  const sent = await io.effect({
    step: stepOf(at),
    request: { id: event.id },
    send: async () => {
      const all = await sendToAll(io, relays, event, sign);
      const taken = all.filter(({ state }) => state === "taken").map(({ relay }) => relay);
      if (taken.length === 0) throw faultOf(all);
      for (const verdict of all) verdicts.set(verdict.relay, verdict);
      return { id: event.id, relays: taken };
    },
    reconcile: () => reconcile(io, event, relays),
    ...(at === 0 ? { live: (result) => addressIn(event, SentEvent.parse(result), io) } : {}),
  });
  return SentEvent.parse(sent);
}

/** It is looked for by its id. Where a relay does not tell, it may be there, and sending it again is harmless. */
async function reconcile(
  io: PublishIo,
  { id }: Event,
  relays: readonly string[],
): Promise<Reconciled<SentEvent>> {
  const having: string[] = [];
  let told = 0;
  for (const relay of relays) {
    const { events, answered } = await readAll(io, [relay], { ids: [id], limit: 1 }, ownSign(io));
    told += answered.length;
    if (events.some((event) => event.id === id)) having.push(relay);
  }
  if (having.length > 0) return { outcome: "done", result: { id, relays: having } };
  return { outcome: "send_again", isStillInDoubt: told < relays.length };
}

/** Brings a live post to a relay that did not take it at first. */
async function catchUp(
  io: PublishIo,
  { relay, events, known }: { relay: string; events: readonly Event[]; known: Verdict | undefined },
): Promise<void> {
  for (const event of events) {
    const fresh = known?.state === "refused" ? known : null;
    const [verdict] = fresh === null ? await sendToAll(io, [relay], event, ownSign(io)) : [fresh];
    if (verdict === undefined || verdict.state === "taken") continue;
    const kind = verdict.state === "refused" ? "rejected" : "transient";
    throw new PlatformFault(kind, `${relay} ${verdict.why}.`);
  }
}

const idOf = idReader("the post's id is not known.");

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
export async function insights(post: NostrPost, io: PlatformIo): Promise<PostInsights> {
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
  return addressIn(event, { id: event.id, relays }, io);
}

/**
 * Asks every relay to delete it (https://github.com/nostr-protocol/nips/blob/master/09.md), and then whether
 * it did: none must.
 */
export async function remove(post: NostrPost, io: PlatformIo): Promise<void> {
  const sent = [...Array((post.metadata.thread?.length ?? 0) + 1).keys()].map(
    (at) => SentEvent.safeParse(io.resultOf(stepOf(at))).data,
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
