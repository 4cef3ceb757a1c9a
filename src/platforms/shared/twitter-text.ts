import { domainToASCII } from "node:url";
import { TOP_LEVEL_DOMAINS } from "./text.ts";

/**
 * What addresses are in texts, as twitter-text says it, which X counts by, and Mastodon with some changes:
 * https://github.com/twitter/twitter-text/tree/master/js/src/regexp
 */

const UNSEEN = "\\u0085\\u180e\\ufffe\\uffff\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
/** What a name of a host is made of: all but ASCII's punctuation and spaces, so Japanese goes on with it. */
const SIGN = `[^!'#%&()*+,\\\\\\-./:;<=>?@\\[\\]^_{|}~$\\s${UNSEEN}]`;
const LABEL = `${SIGN}(?:(?:${SIGN}|[_-]){0,61}${SIGN})?`;
const NAME = `${SIGN}(?:(?:${SIGN}|-){0,61}${SIGN})?`;

/** Where the name of a host ends: a known ending, and behind it no letter or digit of ASCII. */
const ENDING = `(?:(?:${byFirstSign([...TOP_LEVEL_DOMAINS, "onion"])})(?![a-z0-9@+-])|xn--[a-z0-9-]+)`;

/** Of a thousand endings all but a few are ruled out by the first sign. The longest that fits is taken. */
function byFirstSign(endings: readonly string[]): string {
  const rests = new Map<string, string[]>();
  for (const [first = "", ...rest] of endings.toSorted((a, b) => b.length - a.length))
    rests.set(first, [...(rests.get(first) ?? []), rest.join("")]);
  return [...rests].map(([first, all]) => `${first}(?:${all.join("|")})`).join("|");
}

/** A name has 127 labels at most. The longest that fits is taken. */
export const HOST = `(?:${LABEL}\\.){0,126}${NAME}\\.${ENDING}`;

const ACCENTED =
  "\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\xff\\u0100-\\u024f\\u0253\\u0254\\u0256\\u0257\\u0259\\u025b\\u0263\\u0268\\u026f\\u0272\\u0289\\u028b\\u02bb\\u0300-\\u036f\\u1e00-\\u1eff";

/** Of a host without a scheme, only what is written in Latin letters is an address. */
const LATIN_HOST = `(?:[a-z0-9${ACCENTED}-]{1,63}\\.){1,126}${ENDING}`;

/** Stands before an address; none begins in the middle of a word, a tag or a name. */
export const BEFORE = "(?<before>^|[^a-z0-9@＠$#＃\\ufffe\\ufeff\\uffff])";

interface PathSigns {
  /** What a path may have, and what it may end in. */
  readonly any: string;
  readonly last: string;
  /** How else a path may go on. */
  readonly or: string;
}

/** A path; of round brackets only pairs, one in another at most. */
export function pathOf({ any, last, or }: PathSigns): string {
  const brackets = `\\((?:${any}+|${any}*\\(${any}+\\)${any}*)\\)`;
  return `/(?:(?:${any}|${brackets})*(?:${last}|${brackets})|${or})*`;
}

/** Whether each part of a host's name has 63 signs at most, as it goes over the wire. */
export function isHost(host: string): boolean {
  return host.split(".").every((label) => (/^[!-~]*$/.test(label) ? label.length <= 63 : isShort(label)));
}

function isShort(label: string): boolean {
  // Empty where it could be no name at all, which twitter-text does not look at.
  return label.length < 60 && domainToASCII(label).length <= 63;
}

/** twitter-text, configuration 3: these code points count 1, all others 2. */
const LIGHT: readonly (readonly [first: number, last: number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
];
/** An address of any length is shortened to t.co's. */
const URL_WEIGHT = 23;
const EMOJI_WEIGHT = 2;

/** The language level that types are checked at does not know the flag v, Node does. */
const EMOJI = new RegExp(
  "\\p{RGI_Emoji}|[0-9#*]\\u20e3|\\p{Extended_Pictographic}\\ufe0f?(?:\\u200d\\p{Extended_Pictographic}\\ufe0f?)+",
  "gv",
);

/** What a path may have, its last sign, and how else it may go on. */
const IN_PATH = `[a-z0-9!*';:=+,.$/%#[\\]\\-\\u2013_~@|&\\u0400-\\u04ff${ACCENTED}]`;
const PATH = pathOf({
  any: IN_PATH,
  last: `[a-z0-9+\\-=_#/\\u0400-\\u04ff${ACCENTED}]`,
  or: `@${IN_PATH}+/`,
});
const QUERY = "\\?[a-z0-9!?*'@();:&=+$/%#[\\]\\-_.,~|]*[a-z0-9\\-_&=#/]";
const ADDRESS = new RegExp(
  `${BEFORE}(?<scheme>https?://)?(?<host>${HOST})(?::\\d+)?(?<path>${PATH})?(?:${QUERY})?`,
  "giu",
);
const BARE_HOST = new RegExp(LATIN_HOST, "giu");
const MAX_ADDRESS = 4_096;
/** X's own short addresses end with their name. */
const SHORT = new RegExp(`^https?://t\\.co/[a-z0-9]+(?:${QUERY})?`, "i");

/** What X counts in a text: each address 23, each emoji 2, CJK and most symbols 2, the rest 1. */
export function measure(text: string): number {
  const whole = text.normalize("NFC");
  let weight = 0;
  let end = 0;
  for (const { start, length } of addressesIn(whole)) {
    weight += weigh(whole.slice(end, start)) + URL_WEIGHT;
    end = start + length;
  }
  return weight + weigh(whole.slice(end));
}

interface Stretch {
  readonly start: number;
  readonly length: number;
}

/** The addresses that X finds, as `extractUrlsWithIndices` of twitter-text does. */
function addressesIn(text: string): Stretch[] {
  const found: Stretch[] = [];
  for (const { 0: all, index, groups = {} } of text.matchAll(ADDRESS)) {
    const { before = "", scheme, host = "", path } = groups;
    const address = all.slice(before.length);
    if (!isHost(host) || address.length > MAX_ADDRESS) continue;
    const start = index + before.length;
    if (scheme !== undefined) found.push({ start, length: (SHORT.exec(address)?.[0] ?? address).length });
    else if (!/[-_./]/.test(before))
      found.push(...bareIn({ start, host, address, hasPath: path !== undefined }));
  }
  return found;
}

interface Bare {
  readonly start: number;
  readonly host: string;
  readonly address: string;
  readonly hasPath: boolean;
}

/** Without a scheme, each Latin part of the name counts by itself; the path belongs to the last. */
function bareIn({ start, host, address, hasPath }: Bare): Stretch[] {
  const all = [...host.matchAll(BARE_HOST)].map(({ 0: name, index }) => ({
    start: start + index,
    length: name.length,
  }));
  const last = all.pop();
  if (last === undefined) return [];
  return [...all, hasPath ? { ...last, length: start + address.length - last.start } : last];
}

function weigh(text: string): number {
  let weight = 0;
  const plain = text.replaceAll(EMOJI, (emoji) => {
    // A sign that is light by itself (©) is no emoji to X until it is made one.
    if (emoji.length === 1 && isLight(emoji)) return emoji;
    weight += EMOJI_WEIGHT;
    return "";
  });
  for (const character of plain) weight += isLight(character) ? 1 : 2;
  return weight;
}

function isLight(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return LIGHT.some(([first, last]) => code >= first && code <= last);
}
