import tlds from "tlds" with { type: "json" };
import { parseUrl } from "../../domain/parse-url.ts";
import { measureText } from "../../domain/posts/caption.ts";

/** A stretch of text that is a link, a mention or a tag; offsets in UTF-16 units, as JavaScript counts. */
export interface Span {
  readonly kind: "link" | "mention" | "tag";
  readonly start: number;
  readonly end: number;
  /** The address, the handle in lower case, the tag without its sign. */
  readonly value: string;
}

/** `app.bsky.richtext.facet`; offsets in UTF-8 bytes. */
export interface Facet {
  readonly index: { readonly byteStart: number; readonly byteEnd: number };
  readonly features: { readonly $type: string; readonly [field: string]: string }[];
}

const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);

/**
 * Ends a link or a tag: white space, invisible characters, quotation marks, CJK and full-width punctuation.
 */
const STOP =
  '\\s<>"“”„«»\\u00ad\\u200b-\\u200f\\u2028-\\u202e\\u2060\\ufeff\\u3000-\\u3004\\u3008-\\u3020\\u3030\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65';
/** What may stand right before something without a scheme: not the middle of a word, an address or a path. */
const BEFORE = "(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{N}_@＠#＃./:&=-])";
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

const SCHEME_LINK = new RegExp(`(?<![a-z0-9])https?://[^${STOP}]+`, "giu");
const BARE_LINK = new RegExp(
  `${BEFORE}(?:${LABEL}\\.)+[a-z]{2,24}(?![\\p{Script=Latin}\\p{N}_@＠-]|\\.[a-z0-9])(?::\\d{2,5})?(?:[/?#][^${STOP}]*)?`,
  "giu",
);
const MENTION = new RegExp(
  `${BEFORE}[@＠]((?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?![\\p{Script=Latin}\\p{N}_@＠-]|\\.[a-z0-9])`,
  "giu",
);
const TAG = new RegExp(`${BEFORE}[#＃](?!\\ufe0f)([^${STOP}#＃,;!?()\\[\\]{}]+)`, "gu");

const MAX_TAG_GRAPHEMES = 64;
const MAX_TAG_BYTES = 640;

/**
 * Links (with or without a scheme), mentions and tags, in order and without overlap; a tag inside a link is
 * the link's.
 */
export function findSpans(text: string): Span[] {
  const found: Span[] = [];
  const add = (span: Span | null): void => {
    if (span !== null && !found.some((other) => span.start < other.end && other.start < span.end))
      found.push(span);
  };
  for (const match of text.matchAll(SCHEME_LINK)) add(linkSpan(match, ""));
  for (const match of text.matchAll(BARE_LINK)) if (isDomain(match[0])) add(linkSpan(match, "https://"));
  for (const match of text.matchAll(MENTION)) {
    const handle = match[1] ?? "";
    add({
      kind: "mention",
      start: match.index,
      end: match.index + match[0].length,
      value: handle.toLowerCase(),
    });
  }
  for (const match of text.matchAll(TAG)) add(tagSpan(match));
  return found.sort((a, b) => a.start - b.start);
}

/** A known top-level domain, and before it a name with a letter: "7.30.pm" is a time. */
function isDomain(text: string): boolean {
  const labels = (/^[a-z0-9.-]+/i.exec(text)?.[0] ?? "").toLowerCase().split(".");
  return TOP_LEVEL_DOMAINS.has(labels.at(-1) ?? "") && /[a-z]/.test(labels.at(-2) ?? "");
}

function linkSpan(match: RegExpExecArray, scheme: string): Span | null {
  const shown = withoutTail(match[0]);
  const address = scheme + shown;
  const url = parseUrl(address);
  if (url === null) return null;
  // Plain ASCII stays as it was written; other alphabets become what a server understands.
  const value = /^[\x21-\x7e]+$/.test(address) ? address : url.href;
  return { kind: "link", start: match.index, end: match.index + shown.length, value };
}

const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Without the sentence's own punctuation at the end, and without a bracket that the address did not open. */
function withoutTail(text: string): string {
  const last = text.slice(-1);
  const opening = CLOSING[last];
  const isForeign = opening !== undefined && text.split(last).length > text.split(opening).length;
  return isForeign || /[.,;:!?'’…*]/.test(last) ? withoutTail(text.slice(0, -1)) : text;
}

/** Without the punctuation at its end. */
function withoutPunctuation(text: string): string {
  const signs = [...text];
  const last = signs.findLastIndex((sign) => !/\p{P}/u.test(sign));
  return signs.slice(0, last + 1).join("");
}

function tagSpan(match: RegExpExecArray): Span | null {
  const tag = withoutPunctuation(match[1] ?? "");
  const isWord = /[^\d\p{P}\s]/u.test(tag);
  if (!isWord || measureText(tag, "graphemes") > MAX_TAG_GRAPHEMES || Buffer.byteLength(tag) > MAX_TAG_BYTES)
    return null;
  return { kind: "tag", start: match.index, end: match.index + 1 + tag.length, value: tag };
}

/** Facets of the spans. A mention whose handle is not in `dids` stays plain text. */
export function toFacets(text: string, spans: readonly Span[], dids: ReadonlyMap<string, string>): Facet[] {
  return spans.flatMap((span) => {
    const feature = featureOf(span, dids);
    if (feature === null) return [];
    const byteStart = Buffer.byteLength(text.slice(0, span.start));
    return [
      {
        index: { byteStart, byteEnd: byteStart + Buffer.byteLength(text.slice(span.start, span.end)) },
        features: [feature],
      },
    ];
  });
}

function featureOf(span: Span, dids: ReadonlyMap<string, string>): Facet["features"][number] | null {
  if (span.kind === "link") return { $type: "app.bsky.richtext.facet#link", uri: span.value };
  if (span.kind === "tag") return { $type: "app.bsky.richtext.facet#tag", tag: span.value };
  const did = dids.get(span.value);
  return did === undefined ? null : { $type: "app.bsky.richtext.facet#mention", did };
}

/**
 * The text as it will be stored: line ends of one kind, halves of surrogate pairs replaced as any UTF-8
 * encoder does.
 */
export function normalizeText(text: string): string {
  return Buffer.from(text.replaceAll("\r\n", "\n")).toString("utf8");
}
