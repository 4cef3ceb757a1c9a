import type { Readable } from "node:stream";
import { textOfHtml } from "../domain/text/html-text.ts";
import { parseUrl } from "../domain/parse-url.ts";
import { plainText, quote } from "../domain/text/plain-text.ts";
import type { Metadata } from "../domain/posts/post.ts";
import { deadline, MINUTE, SECOND } from "../domain/time.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { AppContext } from "../context.ts";

/* What a link leads to, told by its page, for platforms that show a card and do not look it up themselves. */

/** https://ogp.me */
export interface LinkCard {
  readonly title: string | null;
  readonly description: string | null;
  readonly picture: string | null;
}

const PAGE_MS = 5 * SECOND;
const MAX_PAGE_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;

/** A dry run at each pause of a person who types asks again and again. */
const KEPT_MS = 10 * MINUTE;
const MAX_KEPT = 200;

interface LinkCardCacheEntry {
  readonly at: number;
  readonly card: Promise<LinkCard | null>;
}

const keptBy = new WeakMap<AppContext["outbound"], Map<string, LinkCardCacheEntry>>();

/**
 * The metadata with what the page of `link` tells, where the platform shows a card and no title was given. Given
 * values win. `warnings` tell what came of it. `kept`: what the page told before, null where it told nothing; then it
 * is not read again. `card`: the one that was used; without it none is shown.
 */
export async function withLinkCard(
  ctx: AppContext,
  platform: AnyPlatform,
  metadata: Metadata | null,
  kept?: LinkCard | null,
): Promise<{ metadata: Metadata | null; warnings: readonly string[]; card?: LinkCard | null }> {
  const { link } = metadata ?? {};
  const isWanted = platform.showsLinkCards === true && metadata?.["title"] === undefined;
  if (!isWanted || typeof link !== "string" || !/^https?:\/\//i.test(link)) return { metadata, warnings: [] };
  const card = kept === undefined ? await readCard(ctx, link) : kept;
  if (card?.title === null || card === null)
    return {
      metadata,
      warnings: ["metadata.link: its page told no title for the card. Give one as title."],
      card: null,
    };
  const found = {
    title: card.title,
    ...(card.description === null ? {} : { description: card.description }),
    ...(card.picture === null ? {} : { thumbnailUrl: card.picture }),
  };
  return {
    metadata: { ...found, ...metadata },
    warnings: [
      `metadata.title: was read from the page of the link: ${quote(card.title)}. Give another to change it.`,
    ],
    card,
  };
}

/** Null where the page could not be read. */
function readCard(ctx: AppContext, link: string): Promise<LinkCard | null> {
  const kept = keptBy.get(ctx.outbound) ?? new Map<string, LinkCardCacheEntry>();
  keptBy.set(ctx.outbound, kept);
  const now = ctx.clock.now();
  const before = kept.get(link);
  if (before !== undefined && now - before.at < KEPT_MS) return before.card;
  const card = readPage(ctx, link).catch((error: unknown) => {
    ctx.log.info({ host: parseUrl(link)?.hostname, err: error }, "the page of a link could not be read");
    return null;
  });
  kept.delete(link);
  kept.set(link, { at: now, card });
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return card;
}

async function readPage(ctx: AppContext, link: string): Promise<LinkCard | null> {
  const answer = await ctx.outbound.request({
    method: "GET",
    url: link,
    headers: { Accept: "text/html, application/xhtml+xml" },
    timeoutMs: PAGE_MS,
    idleMs: PAGE_MS,
    maxRedirects: MAX_REDIRECTS,
    signal: deadline(PAGE_MS),
  });
  const type = answer.headers["content-type"] ?? "";
  if (answer.status !== 200 || !/^(?:text\/html|application\/xhtml\+xml)\b/i.test(type)) {
    answer.body.destroy();
    return null;
  }
  const bytes = await readStart(answer.body);
  const card = cardOf(decode(bytes, type), parseUrl(answer.url) === null ? link : answer.url);
  return { ...card, picture: card.picture === null ? null : allowed(ctx, card.picture) };
}

/** What a card needs stands at the beginning: of a larger page no more is read. */
async function readStart(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk as Uint8Array);
    chunks.push(bytes);
    size += bytes.length;
    if (size >= MAX_PAGE_BYTES) break;
  }
  body.destroy();
  return Buffer.concat(chunks).subarray(0, MAX_PAGE_BYTES);
}

/** By the header, else by what the page says of itself, else as UTF-8. */
function decode(bytes: Buffer, type: string): string {
  const said = bytes.subarray(0, 1_024).toString("latin1");
  const [, charset = "utf-8"] =
    /charset=["']?([\w-]{1,40})/i.exec(type) ?? /charset=["']?([\w-]{1,40})/i.exec(said) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

const MAX_TITLE = 300;
const MAX_DESCRIPTION = 300;
const MAX_ADDRESS = 2_000;

/** Of a page's source. */
export function cardOf(html: string, base: string): LinkCard {
  const told = metaOf(html);
  const first = (...names: readonly string[]): string | null =>
    names.map((name) => told.get(name) ?? "").find((text) => text.trim() !== "") ?? null;
  const title = first("og:title", "twitter:title") ?? titleOf(html);
  const description = first("og:description", "twitter:description", "description");
  const picture = first("og:image:secure_url", "og:image:url", "og:image", "twitter:image");
  const url = picture === null ? null : parseUrl(picture.trim(), base);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.href.length <= MAX_ADDRESS;
  return {
    title: title === null ? null : plainText(title, MAX_TITLE),
    description: description === null ? null : plainText(description, MAX_DESCRIPTION),
    picture: isAddress ? url.href : null,
  };
}

const MAX_TAG = 8_192;
const MAX_TAGS = 500;
const ATTRIBUTE = /([a-z:-]{1,20})\s{0,10}=\s{0,10}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

/** Each name with the first content that it has. */
function metaOf(html: string): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  const lower = html.toLowerCase();
  let at = lower.indexOf("<meta");
  for (let count = 0; at !== -1 && count < MAX_TAGS; count += 1) {
    const tag = html.slice(at, at + MAX_TAG);
    const attributes = new Map<string, string>();
    for (const [, name = "", double, single, bare] of tagOnly(tag).matchAll(ATTRIBUTE))
      attributes.set(name.toLowerCase(), textOfHtml(double ?? single ?? bare ?? ""));
    const name = (attributes.get("property") ?? attributes.get("name") ?? "").toLowerCase();
    const content = attributes.get("content");
    if (content !== undefined && !told.has(name)) told.set(name, content);
    at = lower.indexOf("<meta", at + 5);
  }
  return told;
}

/** Up to the bracket that ends it: one between quotes does not. */
function tagOnly(tag: string): string {
  let quoted = "";
  for (let at = 5; at < tag.length; at += 1) {
    const sign = tag.charAt(at);
    if (quoted !== "") quoted = sign === quoted ? "" : quoted;
    else if (sign === ">") return tag.slice(0, at);
    else if (sign === '"' || sign === "'") quoted = sign;
  }
  return tag;
}

function titleOf(html: string): string | null {
  const lower = html.toLowerCase();
  const start = lower.indexOf(">", lower.indexOf("<title"));
  const end = lower.indexOf("</title", start);
  if (lower.indexOf("<title") === -1 || start === -1 || end === -1) return null;
  const text = textOfHtml(html.slice(start + 1, Math.min(end, start + 1 + MAX_TAG)));
  return text.trim() === "" ? null : text;
}

/** A picture at an address that may not be asked is left out. */
function allowed(ctx: AppContext, url: string): string | null {
  try {
    return ctx.outbound.assertAllowed("thumbnailUrl", url).href;
  } catch {
    return null;
  }
}
