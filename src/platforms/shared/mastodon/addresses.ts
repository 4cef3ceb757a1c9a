import { BEFORE, HOST, isHost, pathOf } from "../twitter-text.ts";

/**
 * What Mastodon takes for an address, which it counts as one length: twitter-text's grammar with more schemes and
 * wider paths. https://github.com/mastodon/mastodon/blob/main/config/initializers/twitter_regex.rb
 */

/** Of a path, and its last sign. */
const PATH = pathOf({
  any: "[^\\s<>()?]",
  last: "[^\\s()?!*\"'「」<>;:=,.$%[\\]~&|@]",
  or: "[^\\s<>()?]+/",
});

const LETTERS =
  "\\u{a0}-\\u{d7ff}\\u{e000}-\\u{fdcf}\\u{fdf0}-\\u{ffef}\\u{10000}-\\u{1fffd}\\u{20000}-\\u{dfffd}\\u{e1000}-\\u{10fffd}";
const QUERY = `\\?[a-z0-9!?*'();:&=+$/%#[\\]\\-_.,~|@^${LETTERS}]*[a-z0-9_&=#/\\-${LETTERS}]`;

const SCHEMES = "(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|gemini)://";
const WEB = `${SCHEMES}(?<host>${HOST})(?::\\d+)?(?:${PATH})?(?:${QUERY})?`;

/** Who, and on which device, in an address of XMPP. */
const NODE = "(?:[a-z0-9\\u0400-\\u04ff\\-._~!$()*+,;=]|%[0-9a-f]{2}){1,1000}";
const RESOURCE = "/(?:[a-z0-9\\u0400-\\u04ff\\-._~!$&'()*+,;=]|%[0-9a-f]{2})+";
const XMPP = `xmpp:(?://${NODE}@${HOST}/)?(?:${NODE}@)?(?<server>${HOST})(?:${RESOURCE})?(?:${QUERY})?`;

const ADDRESS = new RegExp(`${BEFORE}(?:${WEB}|${XMPP}|magnet:${QUERY})`, "giu");

/** The text with this in place of each address. */
export function replaceAddresses(text: string, by: string): string {
  let counted = "";
  let end = 0;
  for (const { 0: all, index, groups = {} } of text.matchAll(ADDRESS)) {
    const { before = "", host, server } = groups;
    if (!isHost(host ?? server ?? "")) continue;
    counted += text.slice(end, index) + before + by;
    end = index + all.length;
  }
  return counted + text.slice(end);
}
