import { randomInt } from "node:crypto";

/** Base32 that sorts as its value does (https://atproto.com/specs/tid). */
const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const LENGTH = 13;
const CLOCK_BITS = 10n;

/** A record key: microseconds since 1970 in 53 bits, then 10 bits that keep two clocks apart. */
export function encodeTid(micros: bigint, clockId: number): string {
  let rest = (micros << CLOCK_BITS) | BigInt(clockId & 1_023);
  let text = "";
  for (let at = 0; at < LENGTH; at += 1) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}

/**
 * A new record key. The microseconds and the clock are chance: two posts of one millisecond get different
 * keys.
 */
export function newTid(nowMs: number): string {
  return encodeTid(BigInt(nowMs) * 1_000n + BigInt(randomInt(1_000)), randomInt(1_024));
}

/**
 * The key `steps` microseconds later, of the same clock: the keys of a thread's parts follow from its first
 * one.
 */
export function laterTid(tid: string, steps: number): string {
  const value = [...tid].reduce((sum, letter) => (sum << 5n) | BigInt(ALPHABET.indexOf(letter)), 0n);
  return encodeTid((value >> CLOCK_BITS) + BigInt(steps), Number(value & 1_023n));
}
