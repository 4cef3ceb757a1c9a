import * as z from "zod";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo, Settled } from "../../ports/publish-io.ts";
import { draftOf, replyOf, sendFiles, type Files } from "./drafts.ts";
import { Event, KIND } from "./event.ts";
import type { NostrPost } from "./metadata.ts";
import { nameOfEvent } from "./names.ts";
import { faultOf, ownSign, readAll, relaysOf, sendToAll } from "./relays.ts";
import type { Verdict } from "./relay.ts";

/** What a step that sends an event gives: the relays that have it. */
export const Sent = z.object({ id: z.string(), relays: z.array(z.string()) });
type Sent = z.infer<typeof Sent>;

const Events = z.array(Event).min(1);

export const PART = (at: number): string => `part ${at + 1}`;

/**
 * Everything is signed, and stored, before anything is sent: its id is a hash of it, so that it can be sent
 * again and again and stays one post. It is live with the first relay that takes it.
 */
export async function publish(post: NostrPost, io: PublishIo): Promise<PublishOutcome> {
  const files = await sendFiles(post, io);
  if (!io.isDue) return { state: "prepared" };
  const events = Events.parse(await io.once("events", () => signAll(post, files, io)));
  const relays = relaysOf(io);
  // The relays' answers of this run: who refused is not asked again at once.
  const verdicts = new Map<string, Verdict>();
  let live: PublishOutcome | null = null;
  for (const [at, event] of events.entries()) {
    if (live !== null) {
      await io.extra(`Part ${at + 1}`, async () => void (await send(io, { at, event, relays, verdicts })));
      continue;
    }
    const sent = await send(io, { at, event, relays, verdicts });
    live = { state: "live", ...placeOf(event, sent, io) };
    const missing = relays.filter((relay) => !sent.relays.includes(relay));
    for (const relay of missing)
      await io.extra(`The relay ${relay}`, () => catchUp(io, { relay, events, known: verdicts.get(relay) }));
  }
  if (live === null) throw new Error("A post without events.");
  return live;
}

/** Where people see it; apps find it by any relay that has it. */
export function placeOf(
  event: Event,
  { relays }: Sent,
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
async function send(io: PublishIo, { at, event, relays, verdicts }: Sending): Promise<Sent> {
  const sign = ownSign(io);
  const sent = await io.effect({
    step: PART(at),
    request: { id: event.id },
    send: async () => {
      const all = await sendToAll(io, relays, event, sign);
      const taken = all.filter(({ state }) => state === "taken").map(({ relay }) => relay);
      if (taken.length === 0) throw faultOf(all);
      for (const verdict of all) verdicts.set(verdict.relay, verdict);
      return { id: event.id, relays: taken };
    },
    settle: () => settle(io, event, relays),
    ...(at === 0 ? { live: (result) => placeOf(event, Sent.parse(result), io) } : {}),
  });
  return Sent.parse(sent);
}

/** It is looked for by its id. Where a relay does not tell, it may be there, and sending it again is harmless. */
async function settle(io: PublishIo, { id }: Event, relays: readonly string[]): Promise<Settled<Sent>> {
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
