import type { FeedItem, FeedMedia } from "../../ports/feed-shelf.ts";
import { THUMBNAIL } from "../../feeds/feed.ts";
import { html, type Html } from "../pages/html.ts";
import { withLinks } from "../pages/links.ts";

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
  return html`${item.text === null ? null : paragraphs(item.text)}${link === null ? null : html`<p><a href="${link}">${link}</a></p>`}${mediaOf(
    item,
    addresses,
  )}`;
}

/** The entry's address in the web; null for one that no browser should follow. */
export function safeLink({ link }: FeedItem): string | null {
  return link !== null && /^https?:\/\//i.test(link) ? link : null;
}

function paragraphs(text: string): Html[] {
  const parts = text.split(/\r?\n(?:[ \t]*\r?\n)+/).filter((part) => part.trim() !== "");
  return parts.map(
    (part) =>
      html`<p>${part.split(/\r?\n/).map((line, at) => [at > 0 && html`<br />`, withLinks(line)])}</p>`,
  );
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
