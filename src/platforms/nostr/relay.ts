import * as z from "zod";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Socket } from "../../ports/sockets.ts";
import { Event, KIND, type Sign } from "./event.ts";

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

/** A relay's answer to an event. `later`: it did not take it now; `lost`: nobody knows. */
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
export async function sendTo(io: RelayIo, relay: string, event: Event, sign: Sign): Promise<Verdict> {
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
export type Filter = Readonly<Record<string, number | readonly (string | number)[]>> & {
  readonly limit: number;
};

/** What a relay says that fits, be it genuine or not; throws PlatformFault where it does not tell. */
export async function readFrom(io: RelayIo, relay: string, filter: Filter, sign: Sign): Promise<Event[]> {
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
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
