import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { PlatformFault, type PlatformAccount, type PlatformIo } from "../../ports/platform-io.ts";
import { isGenuine, signerOf, type Event, type Sign } from "./event.ts";
import { secretIn } from "./key.ts";
import { readFrom, sendTo, type Filter, type Verdict } from "./relay.ts";

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

type Network = Pick<PlatformIo, "socket" | "now">;

/** What each relay made of the event. */
export function sendToAll(
  io: Network,
  relays: readonly string[],
  event: Event,
  sign: Sign,
): Promise<Verdict[]> {
  return Promise.all(relays.map((relay) => sendTo(io, relay, event, sign)));
}

/** What one relay, or all that answer, have of a kind. */
export interface Found {
  readonly events: readonly Event[];
  /** Those that answered. */
  readonly answered: readonly string[];
}

/** The genuine events of all relays that fit, newest first; relays that do not tell are left out. */
export async function readAll(
  io: Network & Pick<PlatformIo, "log">,
  relays: readonly string[],
  filter: Filter,
  sign: Sign,
): Promise<Found> {
  const { events, answered } = await readUnchecked(io, relays, filter, sign);
  const genuine: Event[] = [];
  for (const event of events) if (await isGenuine(event)) genuine.push(event);
  return { events: genuine.toSorted((a, b) => b.created_at - a.created_at), answered };
}

/** Whatever relays say that fits, for counting: whoever wants to deceive has as many keys as they like. */
export async function readUnchecked(
  io: Network & Pick<PlatformIo, "log">,
  relays: readonly string[],
  filter: Filter,
  sign: Sign,
): Promise<Found> {
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
  const told = new Map(
    answers.flatMap((events) => events ?? []).map((event) => [JSON.stringify(event), event]),
  );
  return {
    events: [...told.values()],
    answered: relays.filter((_relay, at) => answers[at] !== null),
  };
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
