import { createHash } from "node:crypto";
import { schnorr } from "@noble/secp256k1";
import * as z from "zod";

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

export function publicKeyOf(secret: string): string {
  return Buffer.from(schnorr.getPublicKey(bytesOf(secret))).toString("hex");
}

export function signerOf(secret: string): Sign {
  const pubkey = publicKeyOf(secret);
  return async (draft) => {
    const { created_at, kind, tags, content } = draft;
    const id = idOf({ pubkey, created_at, kind, tags, content });
    const sig = await schnorr.signAsync(bytesOf(id), bytesOf(secret));
    return { id, pubkey, created_at, kind, tags, content, sig: Buffer.from(sig).toString("hex") };
  };
}

/** Whether its author wrote it: a relay can say anything. */
export async function isGenuine(event: Event): Promise<boolean> {
  if (idOf(event) !== event.id) return false;
  return schnorr.verifyAsync(bytesOf(event.sig), bytesOf(event.id), bytesOf(event.pubkey));
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
