import { jsonIn } from "../../domain/text/read-text.ts";
import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { type PlatformAccount, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Socket } from "../../ports/sockets.ts";
import { Event, isGenuine, KIND, secretIn, type Sign, signerOf } from "./event.ts";

type RelayIo = Pick<PlatformIo, "socket" | "now">;

/** What a relay says; other words are for people. */
const Message = z.union([
  z.tuple([z.literal("OK"), z.string(), z.boolean(), z.string().catch("")]).rest(z.unknown()),
  z.tuple([z.literal("EVENT"), z.string(), Event]).rest(z.unknown()),
  z.tuple([z.literal("EOSE"), z.string()]).rest(z.unknown()),
  z.tuple([z.literal("CLOSED"), z.string(), z.string().catch("")]).rest(z.unknown()),
  z.tuple([z.literal("AUTH"), z.string().max(1_000)]).rest(z.unknown()),
]);
type Message = z.infer<typeof Message>;

/** A relay's answer to an event. `later`: it did not take it now; `lost`: it did not answer. */
export interface Verdict {
  readonly relay: string;
  readonly state: "taken" | "refused" | "later" | "lost";
  /** A clause that follows the relay's address: "asks to slow down"; "" where it was taken. */
  readonly why: string;
}

/** What a refusal's first word means: https://github.com/nostr-protocol/nips/blob/master/01.md */
const REFUSALS: Readonly<Record<string, readonly [state: Verdict["state"], why: string]>> = {
  duplicate: ["taken", ""],
  "rate-limited": ["later", "asks to slow down"],
  error: ["later", "has a problem of its own"],
  blocked: ["refused", "blocks this key"],
  restricted: ["refused", "takes posts only from its members"],
  "auth-required": ["refused", "did not accept the key's sign-in"],
  pow: ["refused", "asks for proof of work, which Posthorn does not do"],
  invalid: ["refused", "calls the post invalid: too long, too many tags, or a wrong clock"],
};

const NEEDS_AUTH = "auth-required:";
const SUBSCRIPTION = "posthorn";

/** Brings an event to a relay. Never throws what the relay or the network says. */
async function sendTo(io: RelayIo, relay: string, event: Event, sign: Sign): Promise<Verdict> {
  try {
    return await io.socket(relay, (socket) =>
      ask(socket, { io, relay, sign, frame: ["EVENT", event] }, (message) => {
        if (message[0] !== "OK" || message[1] !== event.id) return null;
        const [, , isTaken, words] = message;
        if (isTaken) return { relay, state: "taken", why: "" };
        if (words.startsWith(NEEDS_AUTH)) return "auth";
        const [state, why] = REFUSALS[words.split(":")[0] ?? ""] ?? ["refused", "refused the post"];
        return { relay, state, why };
      }),
    );
  } catch (error) {
    return { relay, ...lossOf(error) };
  }
}

function lossOf(error: unknown): Pick<Verdict, "state" | "why"> {
  if (!(error instanceof PlatformFault)) throw error;
  if (error.kind === "not_sent") return { state: "later", why: "cannot be reached" };
  if (error.kind === "transient") return { state: "lost", why: "did not answer" };
  return { state: "refused", why: `cannot be used: ${error.message}` };
}

/** Which events are wanted, and how many of each relay at most. */
type Filter = Readonly<Record<string, number | readonly (string | number)[]>> & {
  readonly limit: number;
};

/** What a relay says that fits, be it genuine or not; throws PlatformFault where it does not tell. */
async function readFrom(io: RelayIo, relay: string, filter: Filter, sign: Sign): Promise<Event[]> {
  const found: Event[] = [];
  await io.socket(relay, (socket) =>
    ask(socket, { io, relay, sign, frame: ["REQ", SUBSCRIPTION, filter] }, (message) => {
      const [kind, , detail] = message;
      if (kind === "EVENT" && found.length < filter.limit) found.push(detail);
      if (kind === "EOSE") return true;
      if (kind !== "CLOSED") return null;
      if (message[2].startsWith(NEEDS_AUTH)) return "auth";
      throw new PlatformFault("rejected", `${relay} does not let Posthorn read its posts.`, {
        cause: message[2],
      });
    }),
  );
  return found;
}

interface Question {
  readonly io: RelayIo;
  readonly relay: string;
  readonly sign: Sign;
  readonly frame: readonly unknown[];
}

/**
 * Says something until `read` has the answer. A relay that wants to know who asks is told
 * (https://github.com/nostr-protocol/nips/blob/master/42.md), and asked again.
 */
async function ask<T>(
  socket: Socket,
  { io, relay, sign, frame }: Question,
  read: (message: Message) => T | "auth" | null,
): Promise<T> {
  let challenge: string | null = null;
  let authId: string | null = null;
  let isWanted = false;
  await socket.send(JSON.stringify(frame));
  for (;;) {
    const message = parse(await socket.receive());
    if (message === null) continue;
    if (message[0] === "AUTH") challenge = message[1];
    else if (message[0] === "OK" && message[1] === authId) {
      if (!message[2]) throw refusedAuth(relay);
      await socket.send(JSON.stringify(frame));
    } else {
      const answer = read(message);
      if (answer !== "auth" && answer !== null) return answer;
      if (answer === "auth" && authId !== null) throw refusedAuth(relay);
      isWanted ||= answer === "auth";
    }
    if (!isWanted || challenge === null || authId !== null) continue;
    const tags = [
      ["relay", relay],
      ["challenge", challenge],
    ];
    const created = Math.floor(io.now() / 1_000);
    const event = await sign({ kind: KIND.relayAuth, created_at: created, tags, content: "" });
    authId = event.id;
    await socket.send(JSON.stringify(["AUTH", event]));
  }
}

function refusedAuth(relay: string): PlatformFault {
  return new PlatformFault("rejected", `${relay} did not accept the key's sign-in.`);
}

/** Null for what is not for us; throws where the other side is done. */
function parse(text: string | null): Message | null {
  if (text === null) throw new PlatformFault("transient", "The relay closed the connection.");
  return Message.safeParse(jsonIn(text)).data ?? null;
}

/** Large public ones, for accounts that name none. */
const USUAL_RELAYS = "wss://relay.damus.io wss://nos.lol wss://relay.primal.net";

/** So many of an account's are used: each is one more connection for each post. */
const MAX_RELAYS = 10;

type Settings = Pick<PlatformIo, "setting">;

/** The addresses in a text or a list, each once; throws nothing: what is none is left out. */
export function relaysIn(given: string | readonly string[]): string[] {
  const texts = typeof given === "string" ? given.split(/[\s,]+/) : given;
  const found = texts.map((text) => parseUrl(text)).filter((url) => url !== null);
  const fit = found.filter(({ protocol }) => /^wss?:$/.test(protocol));
  return [...new Set(fit.map(({ href }) => href))].slice(0, MAX_RELAYS);
}

export function usualRelays(io: Settings): string[] {
  return relaysIn(io.setting("RELAYS") ?? USUAL_RELAYS);
}

const Texts = z.array(z.string()).catch([]);

/** Where the account's posts go: what the person named, else what the account's own list says. */
export function relaysOf(io: Settings & { readonly account: PlatformAccount }): string[] {
  const { settings, limits } = io.account;
  const named = [settings["relays"], limits["relays"]].map((list) => relaysIn(Texts.parse(list)));
  return named.find((list) => list.length > 0) ?? usualRelays(io);
}

/** Signs with the account's key. */
export function ownSign(io: Pick<PlatformIo, "authorized">): Sign {
  return (draft) => io.authorized((secrets) => signerOf(secretIn(secrets["nsec"] ?? ""))(draft));
}

/** What each relay made of the event. */
export function sendToAll(
  io: RelayIo,
  relays: readonly string[],
  event: Event,
  sign: Sign,
): Promise<Verdict[]> {
  return Promise.all(relays.map((relay) => sendTo(io, relay, event, sign)));
}

/** What one relay, or all that answer, have of a kind. */
interface RelayEvents {
  readonly events: readonly Event[];
  /** Those that answered. */
  readonly answered: readonly string[];
}

/** The genuine events of all relays that fit, newest first; relays that do not tell are left out. */
export async function readAll(
  io: RelayIo & Pick<PlatformIo, "log">,
  relays: readonly string[],
  filter: Filter,
  sign: Sign,
): Promise<RelayEvents> {
  const { events, answered } = await readUnchecked(io, relays, filter, sign);
  const genuine: Event[] = [];
  for (const event of events) if (await isGenuine(event)) genuine.push(event);
  return { events: genuine.toSorted((a, b) => b.created_at - a.created_at), answered };
}

/** What relays say that fits, genuine or not, for counting: counts can be forged with many keys anyway. */
export async function readUnchecked(
  io: RelayIo & Pick<PlatformIo, "log">,
  relays: readonly string[],
  filter: Filter,
  sign: Sign,
): Promise<RelayEvents> {
  const read = async (relay: string): Promise<Event[] | null> => {
    try {
      return await readFrom(io, relay, filter, sign);
    } catch (error) {
      if (!(error instanceof PlatformFault)) throw error;
      io.log.warn({ relay, err: error }, "a relay did not say what it has");
      return null;
    }
  };
  const answers = await Promise.all(relays.map(read));
  // Whole ones are told apart: of two with one id, the wrong one must not hide the other.
  const told = answers
    .flatMap((events) => events ?? [])
    .map((event) => [JSON.stringify(event), event] as const);
  const answered = relays.filter((_relay, at) => answers[at] !== null);
  return { events: [...new Map(told).values()], answered };
}

/** A fault of an event that no relay took; `lost` ones may have it. */
export function faultOf(verdicts: readonly Verdict[]): PlatformFault {
  const why = verdicts.map(({ relay, why: clause }) => `${relay} ${clause}`).join("; ");
  if (verdicts.some(({ state }) => state === "lost"))
    return new PlatformFault("ambiguous", `No relay said that it has the post: ${why}.`);
  if (verdicts.some(({ state }) => state === "later"))
    return new PlatformFault("not_sent", `No relay took the post: ${why}.`);
  return new PlatformFault(
    "rejected",
    `No relay took the post: ${why}. Reconnect the channel with other relays, or change the post, then send the post again.`,
  );
}
