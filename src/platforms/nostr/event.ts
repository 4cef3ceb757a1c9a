import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";

const Hex = (characters: number) => z.string().regex(new RegExp(`^[0-9a-f]{${characters}}$`));

/** What is written and read on relays: https://github.com/nostr-protocol/nips/blob/master/01.md */
export const Event = z.object({
  id: Hex(64),
  pubkey: Hex(64),
  created_at: z.int(),
  kind: z.int(),
  tags: z.array(z.array(z.string())),
  content: z.string(),
  sig: Hex(128),
});
export type Event = z.infer<typeof Event>;

/** An event that is not signed yet; `created_at` in seconds since 1970. */
export type Draft = Pick<Event, "created_at" | "kind" | "tags" | "content">;

/** Signs with a secret key of 64 hexadecimal characters. */
export type Sign = (draft: Draft) => Promise<Event>;

/** 1 note, 6 and 16 repost, 7 reaction, … */
export const KIND = {
  profile: 0,
  note: 1,
  deletion: 5,
  repost: 6,
  reaction: 7,
  genericRepost: 16,
  picture: 20,
  video: 21,
  shortVideo: 22,
  comment: 1_111,
  relays: 10_002,
  fileServers: 10_063,
  relayAuth: 22_242,
  fileAuth: 24_242,
  article: 30_023,
} as const;

const require = createRequire(import.meta.url);

/** Loaded with the first key, and not by every start. */
function curve(): typeof import("@noble/secp256k1").schnorr {
  const loaded: typeof import("@noble/secp256k1") = require("@noble/secp256k1");
  return loaded.schnorr;
}

export function publicKeyOf(secret: string): string {
  return Buffer.from(curve().getPublicKey(bytesOf(secret))).toString("hex");
}

export function signerOf(secret: string): Sign {
  const pubkey = publicKeyOf(secret);
  return async (draft) => {
    const { created_at, kind, tags, content } = draft;
    const id = idOf({ pubkey, created_at, kind, tags, content });
    const sig = await curve().signAsync(bytesOf(id), bytesOf(secret));
    return { id, pubkey, created_at, kind, tags, content, sig: Buffer.from(sig).toString("hex") };
  };
}

/** Whether its author wrote it: a relay can say anything. */
export async function isGenuine(event: Event): Promise<boolean> {
  if (idOf(event) !== event.id) return false;
  return curve().verifyAsync(bytesOf(event.sig), bytesOf(event.id), bytesOf(event.pubkey));
}

function idOf({ pubkey, created_at, kind, tags, content }: Omit<Event, "id" | "sig">): string {
  const text = JSON.stringify([0, pubkey, created_at, kind, tags, content]);
  return createHash("sha256").update(text).digest("hex");
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

/** The first value of the tag of this name; null where it has none. */
export function tagOf({ tags }: Pick<Event, "tags">, name: string): string | null {
  return tags.find(([first]) => first === name)?.[1] ?? null;
}

/** How keys and posts are written for people: https://github.com/nostr-protocol/nips/blob/master/19.md */

const LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECK_LETTERS = 6;

/** Bech32 (BIP 173), of any length. */
export function encodeName(prefix: string, bytes: Buffer): string {
  const words = regroup(bytes, { from: 8, to: 5, pads: true });
  const check = checkOf(prefix, [...words, ...Array<number>(CHECK_LETTERS).fill(0)]) ^ 1;
  const end = Array.from({ length: CHECK_LETTERS }, (_, at) => (check >> (5 * (5 - at))) & 31);
  return `${prefix}1${[...words, ...end].map((word) => LETTERS[word]).join("")}`;
}

/** Null for what is no such name, or has a mistake in it. */
export function decodeName(name: string): { readonly prefix: string; readonly bytes: Buffer } | null {
  const match = /^([a-z]+)1([02-9ac-hj-np-z]{6,})$/.exec(name.toLowerCase());
  const [, prefix = "", letters = ""] = match ?? [];
  const words = [...letters].map((letter) => LETTERS.indexOf(letter));
  if (match === null || checkOf(prefix, words) !== 1) return null;
  const bytes = regroup(words.slice(0, -CHECK_LETTERS), { from: 5, to: 8, pads: false });
  return { prefix, bytes: Buffer.from(bytes) };
}

function checkOf(prefix: string, words: readonly number[]): number {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  let sum = 1;
  for (const value of [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...words]) {
    const top = sum >> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, part] of GENERATOR.entries()) if (((top >> bit) & 1) === 1) sum ^= part;
  }
  return sum;
}

function regroup(
  values: Iterable<number>,
  { from, to, pads }: { readonly from: number; readonly to: number; readonly pads: boolean },
): number[] {
  const groups: number[] = [];
  let held = 0;
  let bits = 0;
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    bits += from;
    for (; bits >= to; bits -= to) groups.push((held >> (bits - to)) & ((1 << to) - 1));
  }
  if (pads && bits > 0) groups.push((held << (to - bits)) & ((1 << to) - 1));
  return groups;
}

/** Type, length, value, one after the other. */
function record(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, value.length]), value]);
}

interface Address {
  /** Of the author, in hex. */
  readonly pubkey: string;
  readonly kind: number;
  /** Where it can be found. */
  readonly relay: string;
}

/** nevent1… of an event's id, or naddr1… of the `d` of one that can be replaced. */
export function nameOfEvent(which: { id: string } | { d: string }, { pubkey, kind, relay }: Address): string {
  const kindBytes = Buffer.alloc(4);
  kindBytes.writeUInt32BE(kind);
  const isPlain = "id" in which;
  return encodeName(
    isPlain ? "nevent" : "naddr",
    Buffer.concat([
      record(0, isPlain ? Buffer.from(which.id, "hex") : Buffer.from(which.d)),
      record(1, Buffer.from(relay)),
      record(2, Buffer.from(pubkey, "hex")),
      record(3, kindBytes),
    ]),
  );
}

/** The 32 bytes that a name is about, in hex; null where it is about none. */
export function keyIn(name: string): { readonly prefix: string; readonly hex: string } | null {
  const found = decodeName(name);
  if (found === null) return null;
  const { prefix, bytes } = found;
  const isBare = bytes.length === 32;
  const key = isBare ? bytes : bytes[0] === 0 && bytes[1] === 32 ? bytes.subarray(2, 34) : null;
  return key?.length === 32 ? { prefix, hex: key.toString("hex") } : null;
}

export const KEY_PLACE = "Your Nostr app shows it under Settings, Keys or Backup, as the private key.";

/** The secret key in hex, of nsec1… or hex. Throws `invalid`. */
export function secretIn(text: string): string {
  const given = text.trim();
  const name = /^nsec1/i.test(given) ? decodeName(given) : null;
  const hex = name === null ? given.toLowerCase() : name.bytes.toString("hex");
  if (/^npub1/i.test(given))
    throw new AppError(
      "invalid",
      `nsec: is the public key. Give the one that begins with nsec1. ${KEY_PLACE}`,
    );
  if (!/^[0-9a-f]{64}$/.test(hex) || !isKey(hex))
    throw new AppError("invalid", `nsec: is not a Nostr private key. Copy all of it. ${KEY_PLACE}`);
  return hex;
}

/** Few numbers of 32 bytes are none. */
function isKey(hex: string): boolean {
  try {
    publicKeyOf(hex);
    return true;
  } catch {
    return false;
  }
}
