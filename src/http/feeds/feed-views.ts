import { toIso } from "../../domain/time.ts";
import type { FeedItem, FeedMedia } from "../../ports/feed-storage.ts";
import { type FeedPage, THUMBNAIL } from "../../reporting/feeds/feed.ts";
import { html, type Html, withLinks } from "../pages/html.ts";
import type { View } from "../pages/layout.ts";

/** How feeds look, and where their media come from. */
const LOOK = {
  allow: { "img-src": ["'self'", "data:"], "media-src": ["'self'"] },
  styles: `
.head{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 1rem;margin:0 0 1rem}
.head h1{margin:0}
.formats a{margin-left:.75rem}.formats a:first-child{margin-left:0}
.entry{padding:1.25rem 1.5rem 1.4rem}
.entry h1,.entry h2{font-size:1.25rem;line-height:1.3;margin:0 0 .15rem}
.entry h1{font-size:1.5rem}
.entry h2 a{color:inherit;text-decoration:none}.entry h2 a:hover{text-decoration:underline}
.entry .untitled{font-size:1rem;margin-bottom:.75rem}
.when{margin:0 0 .75rem;font-size:.875rem;color:var(--muted)}
.media{margin:1rem 0 0;display:grid;gap:.5rem}
.media a{display:block;border-radius:10px}
.media img,.media video{display:block;width:100%;max-height:80vh;object-fit:contain;background:var(--bg)}
.media.many{grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr))}
.media.many img{aspect-ratio:4/3;height:100%;object-fit:cover}
.media.many a:last-child:nth-child(odd){grid-column:1/-1}.media.many a:last-child:nth-child(odd) img{aspect-ratio:16/9}
.media.many video,.media audio{grid-column:1/-1}
.tags{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:1rem 0 0;padding:0;font-size:.875rem}
.tags li{padding:.1rem .6rem;border-radius:99px;background:var(--bg);color:var(--muted)}
.turn{display:flex;justify-content:space-between;gap:1rem;padding:.5rem 0 2rem}
`,
};

/** The newest entries, or those before a place. */
export function feedView(
  feed: FeedPage,
  page: { readonly timezone: string; readonly isFirst: boolean },
): View {
  const { accountId } = feed;
  const addresses = addressesBelow(`${accountId}/`);
  const articles = feed.items.map((item) =>
    articleOf(item, { addresses, timezone: page.timezone, isAlone: false }),
  );
  return {
    title: feed.title,
    ...LOOK,
    head: alternates(feed.title, accountId),
    body: html`<div class="head">
        <h1 dir="auto">${feed.title}</h1>
        <span class="formats small"
          ><a href="${accountId}.rss">RSS</a><a href="${accountId}.json">JSON</a></span
        >
      </div>
      ${articles.length > 0 ? articles : html`<section class="card"><p class="muted">Nothing has been published here yet.</p></section>`}
      <nav class="turn" aria-label="Pages">
        ${page.isFirst ? html`<span></span>` : html`<a href="${accountId}.html" rel="first">Newest</a>`}
        ${feed.next !== null && html`<a href="${accountId}.html?before=${feed.next}" rel="next">Older</a>`}
      </nav>`,
  };
}

export function entryView(feedTitle: string, item: FeedItem, timezone: string): View {
  const { accountId } = item;
  const title = item.title ?? firstWords(item.text) ?? feedTitle;
  return {
    title: title === feedTitle ? title : `${title} – ${feedTitle}`,
    ...LOOK,
    head: html`${alternates(feedTitle, `../${accountId}`)}
    ${item.text !== null && html`<meta name="description" content="${firstWords(item.text)}" />`}`,
    body: html`<div class="head">
        <span class="small" dir="auto"><a href="../${accountId}.html">${feedTitle}</a></span>
      </div>
      ${articleOf(item, { addresses: addressesBelow(""), timezone, isAlone: true })}`,
  };
}

function alternates(title: string, base: string): Html {
  return html`<link rel="alternate" type="application/rss+xml" title="${title}" href="${base}.rss" />
    <link rel="alternate" type="application/feed+json" title="${title}" href="${base}.json" />`;
}

interface ArticleView {
  readonly addresses: FeedAddresses;
  readonly timezone: string;
  /** It has the page to itself, so that its title is the page's. */
  readonly isAlone: boolean;
}

function articleOf(item: FeedItem, { addresses, timezone, isAlone }: ArticleView): Html {
  const page = addresses.page(item.id);
  const time = html`<time datetime="${toIso(item.publishedAt)}">${dateOf(item.publishedAt, timezone)}</time>`;
  // One without a title is told apart by its time.
  const name = item.title ?? html`Post of ${time}`;
  const linked = isAlone ? name : html`<a href="${page}">${name}</a>`;
  const untitled = item.title === null && html`class="untitled" dir="ltr" lang="en"`;
  return html`<article
    class="card entry"
    id="${item.id}"
    dir="auto"
    ${item.language !== null && html`lang="${item.language}"`}
  >
    ${isAlone ? html`<h1 ${untitled}>${linked}</h1>` : html`<h2 ${untitled}>${linked}</h2>`}
    ${item.title !== null && html`<p class="when" dir="ltr" lang="en">${time}</p>`}
    ${contentOf(item, addresses)}
    ${
      item.tags.length > 0 &&
      html`<ul class="tags" aria-label="Tags">
        ${item.tags.map((tag) => html`<li dir="auto">#${tag}</li>`)}
      </ul>`
    }
  </article>`;
}

function dateOf(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone,
  }).format(ms);
}

const MAX_WORDS_CHARS = 120;

function firstWords(text: string | null): string | null {
  const line = text?.split("\n").find((part) => part.trim() !== "") ?? null;
  if (line === null || line.length <= MAX_WORDS_CHARS) return line;
  const words = line.slice(0, MAX_WORDS_CHARS);
  const end = words.lastIndexOf(" ");
  return `${(end > 0 ? words.slice(0, end) : words).trimEnd()}…`;
}

/** Where the feed's readers find things; whole addresses in feeds, relative ones on pages. */
export interface FeedAddresses {
  page(itemId: string): string;
  media(itemId: string, position: string): string;
}

/** Addresses from the outside, below our own public one. */
export function addressesOf(publicUrl: string, accountId: string): FeedAddresses {
  return addressesBelow(`${publicUrl}/feed/${accountId}/`);
}

/** `base` ends with a slash, or is empty. */
export function addressesBelow(base: string): FeedAddresses {
  return {
    page: (itemId) => `${base}${itemId}.html`,
    media: (itemId, position) => `${base}media/${itemId}/${position}`,
  };
}

/** An entry's text, link and media as markup that pages and feed readers show alike. */
export function contentOf(item: FeedItem, addresses: FeedAddresses): Html {
  const link = safeLink(item);
  return html`${item.text !== null && paragraphs(item.text)}${link !== null && html`<p>${plainLink(link)}</p>`}${mediaOf(item, addresses)}`;
}

/** The entry's address in the web; null for one that no browser should follow. */
export function safeLink({ link }: FeedItem): string | null {
  return link !== null && /^https?:\/\//i.test(link) ? link : null;
}

const plainLink = (address: string): Html => html`<a href="${address}">${address}</a>`;

function paragraphs(text: string): Html[] {
  const parts = text.split(/\r?\n(?:[ \t]*\r?\n)+/).filter((part) => part.trim() !== "");
  const toLine = (line: string, at: number) => [at > 0 && html`<br />`, withLinks(line, plainLink)];
  return parts.map((part) => html`<p>${part.split(/\r?\n/).map(toLine)}</p>`);
}

function mediaOf(item: FeedItem, addresses: FeedAddresses): Html | null {
  const at = (position: string): string => addresses.media(item.id, position);
  const poster = item.thumbnail === null ? null : at(THUMBNAIL);
  const needsPicture = !item.media.some(isSeen);
  const shown = item.media.map((media, position) => oneMedium(media, at(String(position)), poster));
  const all = [
    needsPicture && item.thumbnail !== null && poster !== null && picture(item.thumbnail, poster),
    ...shown,
  ].filter((one) => one !== false);
  const isGallery = item.media.filter(isSeen).length > 1;
  return all.length === 0 ? null : html`<div class="media${isGallery ? " many" : ""}">${all}</div>`;
}

/** A sound has nothing to look at, so the thumbnail stands above it. */
function isSeen({ mimeType }: FeedMedia): boolean {
  return mimeType.startsWith("image/") || mimeType.startsWith("video/");
}

function oneMedium(media: FeedMedia, address: string, poster: string | null): Html {
  if (media.mimeType.startsWith("image/")) return picture(media, address);
  const label = media.altText !== null && media.altText !== "" && html` aria-label="${media.altText}"`;
  if (media.mimeType.startsWith("audio/"))
    return html`<audio controls preload="metadata" src="${address}" ${label}></audio>`;
  return html`<video
    controls
    playsinline
    preload="metadata"
    src="${address}"
    ${poster !== null && html` poster="${poster}"`}${sizeOf(media)}${label}
  ></video>`;
}

/** Opens by itself, as large as it is. */
function picture(media: FeedMedia, address: string): Html {
  const alt = media.altText ?? "";
  return html`<a href="${address}" ${alt === "" && html`aria-label="Open the picture"`}
    ><img src="${address}" alt="${alt}" ${sizeOf(media)} loading="lazy" decoding="async"
  /></a>`;
}

/** Keeps the page from jumping while it loads. */
function sizeOf({ width, height }: FeedMedia): Html | false {
  return width !== null && height !== null && html` width="${width}" height="${height}"`;
}
