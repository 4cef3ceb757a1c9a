import { createHash, randomBytes } from "node:crypto";
import { hashes, schnorr } from "@noble/secp256k1";

/** Events as NIP-01 has them, judged by code of its own. */
export interface SignedEvent {
  id: string;
  pubkey: string;
  created_at: number;
  kind: number;
  tags: string[][];
  content: string;
  sig: string;
}

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const idOf = ({ pubkey, created_at, kind, tags, content }: SignedEvent): string =>
  createHash("sha256")
    .update(`[0,"${pubkey}",${created_at},${kind},${JSON.stringify(tags)},${JSON.stringify(content)}]`)
    .digest("hex");

export function signAs(secret: string, draft: Omit<SignedEvent, "id" | "pubkey" | "sig">): SignedEvent {
  const pubkey = Buffer.from(schnorr.getPublicKey(bytes(secret))).toString("hex");
  const event = { id: "", pubkey, sig: "", ...draft };
  event.id = idOf(event);
  event.sig =
    signed.get(event.id) ?? Buffer.from(schnorr.sign(bytes(event.id), bytes(secret))).toString("hex");
  signed.set(event.id, event.sig);
  return event;
}

/** Lets the library work without waiting. */
hashes.sha256 = (message) => Uint8Array.from(createHash("sha256").update(message).digest());

const KEYS = ["content", "created_at", "id", "kind", "pubkey", "sig", "tags"];

/** Each is looked at once: that takes time. */
const seen = new Map<string, boolean>();
const signed = new Map<string, string>();

/** Why it is no event; null where it is one. */
export function problemOf(event: SignedEvent): string | null {
  if (Object.keys(event).toSorted().join() !== KEYS.join()) return "has other fields";
  if (!Array.isArray(event.tags) || !event.tags.flat().every((one) => typeof one === "string"))
    return "has wrong tags";
  if (event.id !== idOf(event)) return "has another id";
  const key = event.id + event.sig + event.pubkey;
  const isRight = seen.get(key) ?? schnorr.verify(bytes(event.sig), bytes(event.id), bytes(event.pubkey));
  seen.set(key, isRight);
  return isRight ? null : "has a wrong signature";
}

const HEX = /^[0-9a-f]{64}$/;

/** What a kind must have, and what its tags mean: NIPs 01, 10, 23, 36, 68, 71, 92. */
function wrongIn(event: SignedEvent): string[] {
  const { kind, tags, content } = event;
  const all = (name: string): string[][] => tags.filter(([first]) => first === name);
  const has = (name: string): boolean => all(name).length === 1 && all(name)[0]?.[1] !== undefined;
  const wrong: string[] = [];
  const must = (isRight: boolean, what: string): void =>
    void (isRight || wrong.push(`kind ${kind}: ${what}`));
  must(
    [0, 1, 5, 6, 7, 16, 20, 21, 22, 1111, 9735, 10002, 10063, 22242, 30023].includes(kind),
    "is not known",
  );
  if (kind === 0 || kind > 9000) if (kind !== 30023) return wrong;
  for (const [name = "", value = "", ...rest] of tags) {
    if (name === "e" || name === "p" || name === "q") must(HEX.test(value), `tag ${name} ${value}`);
    if (name === "e" && kind === 1) must(["root", "reply"].includes(rest[1] ?? ""), "an e without its place");
    if (name === "t")
      must(value === value.toLowerCase() && value !== "" && !value.startsWith("#"), `topic ${value}`);
    if (name === "published_at") must(/^\d{10}$/.test(value), "published_at");
    if (name !== "imeta") continue;
    const fields = Object.fromEntries([value, ...rest].map((text) => text.split(/ (.*)/s)));
    must(String(fields.url).startsWith("https://"), "an imeta without its address");
    must(/^\w+\/[\w.+-]+$/.test(fields.m ?? ""), "an imeta without its type");
    must(HEX.test(fields.x ?? ""), "an imeta without its hash");
    must(fields.dim === undefined || /^\d+x\d+$/.test(fields.dim), `dim ${fields.dim}`);
    if (kind === 1) must(content.includes(fields.url ?? ""), "an imeta that is not in the content");
  }
  if (kind === 20) must(has("title") && all("imeta").length > 0, "has no title or picture");
  if (kind === 21 || kind === 22) must(has("title") && has("published_at") && has("imeta"), "lacks a tag");
  if (kind === 30023) must(has("d") && has("published_at"), "lacks a tag");
  if (kind === 5) must(all("e").length + all("a").length > 0, "deletes nothing");
  return wrong;
}

type Words = readonly unknown[];

/** How a relay behaves to one event instead of taking it: its words after OK, or silence, or the end. */
export type Manner = readonly [boolean, string] | "silence" | "close" | null;

export interface FakeRelay {
  readonly url: string;
  readonly events: Map<string, SignedEvent>;
  isDown: boolean;
  needsAuth: boolean;
  deletes: boolean;
  /** Answers a question that was asked before as it did then, as @nostr-relay does for a second. */
  remembers: boolean;
  manner: (event: SignedEvent) => Manner;
  /** One connection: what it says to each message; null: it hangs up. */
  open(): { readonly hello: readonly Words[]; say(text: string): readonly (Words | null)[] };
}

/** A strict relay; `wrong` says what a client did that none may. */
export function createFakeRelay(url: string, at: { now(): number; wrong: string[] }): FakeRelay {
  const events = new Map<string, SignedEvent>();
  const answers = new Map<string, SignedEvent[]>();
  const relay: FakeRelay = {
    url,
    events,
    isDown: false,
    needsAuth: false,
    deletes: true,
    remembers: false,
    manner: () => null,
    open,
  };
  const seconds = (): number => Math.floor(at.now() / 1_000);

  function open() {
    const challenge = randomBytes(8).toString("hex");
    let isKnown = false;
    const auth = (event: SignedEvent): Words => {
      const value = (name: string): string | undefined => event.tags.find(([first]) => first === name)?.[1];
      const isRight = event.kind === 22242 && value("relay") === url && value("challenge") === challenge;
      isKnown = isRight && problemOf(event) === null && Math.abs(event.created_at - seconds()) < 600;
      return ["OK", event.id, isKnown, isKnown ? "" : "invalid: no sign-in"];
    };
    return {
      hello: relay.needsAuth ? [["AUTH", challenge]] : [["NOTICE", "hello"]],
      say(text: string): readonly (Words | null)[] {
        const message = JSON.parse(text) as [string, any, ...any[]];
        const [kind, first, ...rest] = message;
        if (kind === "AUTH") return [auth(first)];
        if (kind === "REQ" && !(relay.needsAuth && !isKnown)) return read(first, rest);
        if (kind === "REQ") return [["CLOSED", first, "auth-required: who are you?"]];
        if (kind === "EVENT" && rest.length === 0) return take(first, isKnown);
        at.wrong.push(`${text.slice(0, 50)} is no message`);
        return [["NOTICE", "what?"]];
      },
    };
  }

  function take(event: SignedEvent, isKnown: boolean): readonly (Words | null)[] {
    const problem = problemOf(event);
    const wrong = problem === null ? wrongIn(event) : [problem];
    at.wrong.push(...wrong);
    const manner = relay.manner(event);
    if (manner === "silence") return [];
    if (manner === "close") return [null];
    const no = (words: string): Words[] => [["OK", event.id, false, words]];
    if (wrong.length > 0) return no("invalid: not an event");
    if (relay.needsAuth && !isKnown) return no("auth-required: who are you?");
    if (manner !== null) {
      if (manner[0]) store(event);
      return [["OK", event.id, ...manner]];
    }
    if (Math.abs(event.created_at - seconds()) > 900) return no("invalid: created_at is too far off");
    const isNew = store(event);
    return [["OK", event.id, true, isNew ? "" : "duplicate: already have this event"]];
  }

  function store(event: SignedEvent): boolean {
    if (events.has(event.id)) return false;
    if (event.kind === 5 && relay.deletes) {
      for (const old of events.values()) if (isNamed(event, old)) events.delete(old.id);
    }
    const slot = slotOf(event);
    const old = slot === null ? undefined : [...events.values()].find((one) => slotOf(one) === slot);
    if (old !== undefined && old.created_at >= event.created_at) return false;
    if (old !== undefined) events.delete(old.id);
    events.set(event.id, event);
    return true;
  }

  function read(subscription: string, filters: Record<string, any>[]): Words[] {
    const known = /^(ids|authors|kinds|since|until|limit|#[a-zA-Z])$/;
    for (const [name, value] of filters.flatMap((filter) => Object.entries(filter))) {
      const isKeys = ["ids", "authors", "#e", "#p"].includes(name);
      if (!known.test(name) || (isKeys && !value.every((one: string) => HEX.test(one))))
        at.wrong.push(`REQ with ${name} ${value}`);
    }
    const asked = JSON.stringify(filters);
    const fit =
      (relay.remembers ? answers.get(asked) : undefined) ??
      [...events.values()].filter((event) => filters.some((filter) => matches(event, filter)));
    answers.set(asked, fit);
    return [...fit.map((event) => ["EVENT", subscription, event]), ["EOSE", subscription]];
  }

  return relay;
}

function isNamed(deletion: SignedEvent, old: SignedEvent): boolean {
  if (old.pubkey !== deletion.pubkey || old.kind === 5) return false;
  return deletion.tags.some(
    ([name, value]) => (name === "e" && value === old.id) || (name === "a" && value === slotOf(old)),
  );
}

/** What one event takes of another's place; null for what stays beside all others. */
function slotOf({ kind, pubkey, tags }: SignedEvent): string | null {
  if (kind === 0 || (kind >= 10_000 && kind < 20_000)) return `${kind}:${pubkey}:`;
  return kind >= 30_000 ? `${kind}:${pubkey}:${tags.find(([name]) => name === "d")?.[1]}` : null;
}

function matches(event: SignedEvent, filter: Record<string, any>): boolean {
  const { ids, authors, kinds } = filter;
  if (ids !== undefined && !ids.includes(event.id)) return false;
  if (authors !== undefined && !authors.includes(event.pubkey)) return false;
  if (kinds !== undefined && !kinds.includes(event.kind)) return false;
  return Object.entries(filter)
    .filter(([name]) => name.startsWith("#"))
    .every(([name, values]) =>
      event.tags.some(([tag, value]) => `#${tag}` === name && values.includes(value)),
    );
}
