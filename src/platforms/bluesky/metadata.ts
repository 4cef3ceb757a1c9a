import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { measureText } from "../../domain/posts/caption.ts";
import { mentionsByAddress } from "../../domain/posts/mentions.ts";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { type Part, partsOf as threadOf } from "../shared/thread.ts";
import { checkSubtitles } from "../shared/subtitles.ts";
import { pdsOf, POST, resolveHandle } from "./api.ts";
import { TOP_LEVEL_DOMAINS } from "../shared/text.ts";

/** Self-applied content warnings that Bluesky's readers can filter by. */
const CONTENT_LABELS = ["sexual", "nudity", "porn", "graphic-media"] as const;
const REPLY_RULES = ["mentioned", "followers", "following"] as const;

export const MAX_TEXT_GRAPHEMES = 300;
const MAX_TEXT_BYTES = 3_000;
export const MAX_IMAGES = 4;
/** https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/embed/video.json */
export const SUBTITLES_LIMITS = { format: "vtt", maxBytes: 20_000 } as const;
/** One commit takes 200 records; longer threads than this are not read either. */
const MAX_THREAD = 24;

/** Well formed after BCP 47, which servers check. */
function isLanguage(text: string): boolean {
  try {
    return new Intl.Locale(text).language !== "";
  } catch {
    return false;
  }
}

const {
  title,
  description,
  link,
  altText,
  thumbnailUrl,
  sensitive,
  moreMedia,
  tags,
  language,
  thread,
  subtitles,
} = commonMetadata;
const NO_LANGUAGE = "must be a language tag such as en or pt-BR";

const QUOTED =
  /^(?:at:\/\/|https:\/\/bsky\.app\/profile\/)([a-zA-Z0-9._:%-]{3,300})\/(?:app\.bsky\.feed\.post|post)\/([a-zA-Z0-9._~:-]{1,512})$/;

/** Whose post is shown, by handle or DID, and its key; null: none is. */
export function quotedOf({ quote }: BlueskyMetadata): { who: string; rkey: string } | null {
  const [, who, rkey] = QUOTED.exec(quote ?? "") ?? [];
  return who === undefined || rkey === undefined ? null : { who: decodeURIComponent(who), rkey };
}

/** What a post on Bluesky takes beside caption and media. */
export const BlueskyMetadata = z.strictObject({
  title: title.describe("Title of the link card."),
  description: description.describe("Description on the link card."),
  link: link.describe(
    "Address shown as a link card, not with media. Title, description and picture are read from its page where they are not given.",
  ),
  thumbnailUrl: thumbnailUrl.describe("Picture of the link card."),
  altText,
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_IMAGES - 1, fits(MAX_IMAGES))
    .optional()
    .describe("Up to 3 more pictures."),
  subtitles: subtitles
    .unwrap()
    .refine((all) => all.every((one) => isLanguage(one.language)), NO_LANGUAGE)
    .optional()
    .describe("WebVTT or SRT files for the video, one a language, each up to 20,000 bytes."),
  presentation: z
    .enum(["default", "gif"])
    .optional()
    .describe("gif: the video is shown as a GIF is, without sound and over and over.")
    .meta({ title: "Show the video as" }),
  tags: tags
    .unwrap()
    .max(8)
    .optional()
    .describe("Tags for search that readers do not see, unlike #tags in the caption."),
  language: language.unwrap().refine(isLanguage, NO_LANGUAGE).optional().describe("Language of the text."),
  langs: z
    .array(z.string().refine(isLanguage, NO_LANGUAGE))
    .max(3)
    .optional()
    .describe("Languages of the text, if more than one.")
    .meta({ title: "Languages" }),
  sensitive: sensitive.describe("Hides the media behind a warning (the label graphic-media)."),
  contentLabel: z
    .enum(CONTENT_LABELS)
    .optional()
    .describe("A warning of another kind.")
    .meta({ title: "Content warning label" }),
  thread: thread
    .unwrap()
    .max(MAX_THREAD)
    .optional()
    .describe("Posts that follow, each a reply to the one before."),
  replyRules: z
    .union([z.enum(["everybody", "nobody"]), z.array(z.enum(REPLY_RULES)).min(1).max(3)])
    .optional()
    .describe('Who may reply: "everybody", "nobody", or some of mentioned, followers, following.')
    .meta({ title: "Who may reply" }),
  quote: z
    .string()
    .regex(QUOTED, "must be the address of a post on Bluesky, or its at:// address")
    .optional()
    .describe("A post to show below the text: its address, or its at:// address."),
  allowQuotes: z
    .boolean()
    .optional()
    .describe("False: the post cannot be quoted.")
    .meta({ title: "Others may quote it" }),
  allowEdit: z
    .boolean()
    .optional()
    .describe(
      "Lets an edit replace a live post although apps may go on showing the old one and its likes may be lost.",
    )
    .meta({ title: "Replace it when it is edited" }),
});
export type BlueskyMetadata = z.infer<typeof BlueskyMetadata>;
export type BlueskyPost = PlatformPost<BlueskyMetadata>;

/** The post and those that follow it. */
export function partsOf(post: BlueskyPost): [Part, ...Part[]] {
  return threadOf(post, asSeen);
}

/** What the schema cannot say: length in graphemes and bytes, and what excludes what. */
export function checkPost(post: BlueskyPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { metadata } = post;
  const parts = partsOf(post);
  const errors = parts.flatMap((part, at) =>
    checkPart(part, at === 0 ? "caption" : `metadata.thread[${at - 1}].caption`, metadata.link),
  );
  if (metadata.link !== undefined && parts[0].media.length > 0) {
    errors.push(
      "metadata.link: a Bluesky post shows either media or a link card. Put the address into the caption, or leave the media out.",
    );
  }
  if (metadata.thumbnailUrl !== undefined && metadata.link === undefined) {
    errors.push(
      "metadata.thumbnailUrl: Bluesky shows a thumbnail only on a link card. Give link too, or leave it out.",
    );
  }
  if (metadata.moreMedia !== undefined && metadata.moreMedia.length > 0 && post.mediaUrl === "") {
    errors.push("metadata.moreMedia: the first picture belongs in mediaUrl.");
  }
  errors.push(...checkSubtitles(post, media, SUBTITLES_LIMITS));
  if (metadata.langs !== undefined && metadata.language !== undefined) {
    errors.push("metadata.langs: give either language or langs.");
  }
  const warnings: string[] = [];
  if (metadata.presentation !== undefined && media.get(post.mediaUrl)?.type === "image")
    warnings.push("metadata.presentation: is for videos. A picture is shown as it is.");
  const isCard = metadata.title !== undefined || metadata.description !== undefined;
  if (isCard && metadata.link === undefined) {
    warnings.push(
      "metadata.title and metadata.description are shown on Bluesky only on a link card. Without link they are not shown.",
    );
  }
  return { errors, warnings };
}

function checkPart(part: Part, field: string, link: string | undefined): string[] {
  const errors: string[] = [];
  const length = measureText(part.text, "graphemes");
  if (length > MAX_TEXT_GRAPHEMES) {
    errors.push(
      `${field}: has ${length} characters, and Bluesky takes ${MAX_TEXT_GRAPHEMES}. Shorten it, or go on in metadata.thread.`,
    );
  } else if (Buffer.byteLength(part.text) > MAX_TEXT_BYTES) {
    errors.push(`${field}: has more than the ${MAX_TEXT_BYTES} bytes that Bluesky takes. Shorten it.`);
  }
  const isEmpty =
    part.text.trim() === "" && part.media.length === 0 && (field !== "caption" || link === undefined);
  if (isEmpty) errors.push(`${field}: is empty, and there is no media. Give text, a picture or a video.`);
  return errors;
}

/** A stretch of text that is a link, a mention or a tag; offsets in UTF-16 units, as JavaScript counts. */
interface Span {
  readonly kind: "link" | "mention" | "tag";
  readonly start: number;
  readonly end: number;
  /** The address, the handle in lower case, the tag without its # (a cashtag keeps its $). */
  readonly value: string;
}

/** `app.bsky.richtext.facet`; offsets in UTF-8 bytes. */
export interface Facet {
  readonly index: { readonly byteStart: number; readonly byteEnd: number };
  readonly features: { readonly $type: string; readonly [field: string]: string }[];
}

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
/** Goes on over the punctuation of ASCII, as in Bluesky's own apps: https://github.com/bluesky-social/atproto/tree/main/packages/api/src/rich-text */
const TAG = new RegExp(`${BEFORE}[#＃](?![\\ufe0f\\u20e3])([^${STOP}]+)`, "gu");
/** What is traded under a short name; Bluesky has it as a tag. From the same place. */
const CASHTAG = /(?<=^|\s|\()\$([a-z][a-z0-9]{0,4})(?=\s|$|[.,;:!?)"'\u2019])/giu;

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
  for (const { 0: all, index } of text.matchAll(CASHTAG))
    add({ kind: "tag", start: index, end: index + all.length, value: all.toUpperCase() });
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

/** With people by their handles, which are looked up like those that were typed. */
export function asSeen(text: string): string {
  return normalizeText(mentionsByAddress(text));
}

type LookupIo = Pick<PlatformIo, "ask" | "account" | "setting" | "log">;

/** The part of a record that follows only from text and metadata, which an edit replaces. */
export async function makeContent(part: Part, metadata: BlueskyMetadata, io: LookupIo): Promise<JsonObject> {
  const spans = findSpans(part.text);
  const facets = toFacets(part.text, spans, await resolveMentions(spans, io));
  const langs = metadata.langs ?? (metadata.language === undefined ? [] : [metadata.language]);
  const label = metadata.contentLabel ?? (metadata.sensitive === true ? "graphic-media" : null);
  return {
    $type: POST,
    text: part.text,
    ...(facets.length === 0
      ? {}
      : {
          facets: facets.map((facet) => ({
            index: { ...facet.index },
            features: facet.features.map((feature) => ({ ...feature })),
          })),
        }),
    ...(langs.length === 0 ? {} : { langs: [...langs] }),
    ...(metadata.tags === undefined || metadata.tags.length === 0
      ? {}
      : { tags: metadata.tags.map((tag) => tag.replace(/^[#＃]/, "")) }),
    ...(label === null
      ? {}
      : { labels: { $type: "com.atproto.label.defs#selfLabels", values: [{ val: label }] } }),
  };
}

async function resolveMentions(spans: readonly Span[], io: LookupIo): Promise<Map<string, string>> {
  const dids = new Map<string, string>();
  for (const handle of new Set(spans.filter((span) => span.kind === "mention").map((span) => span.value))) {
    const did = await resolveMention(handle, io);
    if (did !== null) dids.set(handle, did);
  }
  return dids;
}

/**
 * A server that answers but cannot find out (the handle's own domain is down) must not hold the post back: it
 * stays text.
 */
async function resolveMention(handle: string, io: LookupIo): Promise<string | null> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await resolveHandle(io, pdsOf(io), handle);
    } catch (error) {
      if (!(error instanceof PlatformFault) || error.httpStatus === null || error.kind === "rate")
        throw error;
      if (tries > 0) {
        io.log.warn(
          { handle, status: error.httpStatus },
          "a mentioned handle could not be looked up and stays plain text",
        );
        return null;
      }
    }
  }
}
