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
const ENDING = `(?:(?:${[...TOP_LEVEL_DOMAINS, "onion"].toSorted((a, b) => b.length - a.length).join("|")})(?![a-z0-9@+-])|xn--[a-z0-9-]+)`;

/** A name has 127 labels at most. The longest that fits is taken. */
export const HOST = `(?:${LABEL}\\.){0,126}${NAME}\\.${ENDING}`;

export const ACCENTED =
  "\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\xff\\u0100-\\u024f\\u0253\\u0254\\u0256\\u0257\\u0259\\u025b\\u0263\\u0268\\u026f\\u0272\\u0289\\u028b\\u02bb\\u0300-\\u036f\\u1e00-\\u1eff";

/** Of a host without a scheme, only what is written in Latin letters is an address. */
export const LATIN_HOST = `(?:[a-z0-9${ACCENTED}-]{1,63}\\.){1,126}${ENDING}`;

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

/** Names of hosts have parts of 63 signs at most, as they go over the wire. */
export function isHost(host: string): boolean {
  return host.split(".").every((label) => (/^[!-~]*$/.test(label) ? label.length <= 63 : isShort(label)));
}

function isShort(label: string): boolean {
  // An empty answer: it is no name of a host, which twitter-text does not look at.
  return label.length < 60 && domainToASCII(label).length <= 63;
}
