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

interface Place {
  /** Of the author, in hex. */
  readonly pubkey: string;
  readonly kind: number;
  /** Where it can be found. */
  readonly relay: string;
}

/** nevent1… of an event's id, or naddr1… of the `d` of one that can be replaced. */
export function nameOfEvent(which: { id: string } | { d: string }, { pubkey, kind, relay }: Place): string {
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
