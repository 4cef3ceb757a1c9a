import { toIso } from "../../domain/time.ts";
import type { FeedItem, FeedMedia } from "../../ports/feed-storage.ts";
import { type FeedPage, THUMBNAIL } from "../../reporting/feeds/feed.ts";
import { addressesOf, contentOf, type FeedAddresses, safeLink } from "./feed-views.ts";
import { html as xml, type Html as Xml } from "../pages/html.ts";

/** JSON Feed 1.1, https://www.jsonfeed.org/version/1.1/; what there is nothing of is left out, as it asks. */
export function jsonFeed(feed: FeedPage, publicUrl: string): object {
  const home = `${publicUrl}/feed/${feed.accountId}`;
  const addresses = addressesOf(publicUrl, feed.accountId);
  return {
    version: "https://jsonfeed.org/version/1.1",
    title: feed.title,
    home_page_url: `${home}.html`,
    feed_url: `${home}.json`,
    ...(feed.next === null ? {} : { next_url: `${home}.json?before=${feed.next}` }),
    items: feed.items.map((item) => jsonItem(item, addresses)),
  };
}

function jsonItem(item: FeedItem, addresses: FeedAddresses): object {
  const link = safeLink(item);
  const image = imageOf(item, addresses);
  const toAttachment = (media: FeedMedia, at: number): object => ({
    url: addresses.media(item.id, String(at)),
    mime_type: media.mimeType,
    title: media.altText ?? undefined,
    size_in_bytes: media.sizeBytes,
    duration_in_seconds: media.durationSeconds ?? undefined,
  });
  return {
    id: item.id,
    url: addresses.page(item.id),
    external_url: link ?? undefined,
    title: item.title ?? undefined,
    content_html: contentOf(item, addresses).text,
    content_text: item.text ?? "",
    image: image ?? undefined,
    date_published: toIso(item.publishedAt),
    tags: item.tags.length === 0 ? undefined : item.tags,
    language: item.language ?? undefined,
    attachments: item.media.length === 0 ? undefined : item.media.map(toAttachment),
  };
}

function imageOf(item: FeedItem, addresses: FeedAddresses): string | null {
  if (item.thumbnail !== null) return addresses.media(item.id, THUMBNAIL);
  const first = item.media.findIndex(({ mimeType }) => mimeType.startsWith("image/"));
  return first < 0 ? null : addresses.media(item.id, String(first));
}

/** RSS 2.0 with Atom's links and Media RSS (https://www.rssboard.org/media-rss) for descriptions of media. */
export function rssFeed(feed: FeedPage, publicUrl: string): string {
  const home = `${publicUrl}/feed/${feed.accountId}`;
  const addresses = addressesOf(publicUrl, feed.accountId);
  const newest = feed.items[0];
  const document = xml`<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel>
<title>${feed.title}</title>
<link>${home}.html</link>
<description>${feed.title}</description>
<atom:link rel="self" type="application/rss+xml" href="${home}.rss"/>
${feed.next !== null && xml`<atom:link rel="next" type="application/rss+xml" href="${home}.rss?before=${feed.next}"/>\n`}<generator>Posthorn</generator>
<docs>https://www.rssboard.org/rss-specification</docs>
${newest !== undefined && xml`<lastBuildDate>${dateOf(newest)}</lastBuildDate>\n`}${feed.items.map((item) => rssItem(item, addresses))}</channel>
</rss>
`;
  return document.text;
}

function rssItem(item: FeedItem, addresses: FeedAddresses): Xml {
  const page = addresses.page(item.id);
  const [first] = item.media;
  return xml`<item>
${item.title !== null && xml`<title>${item.title}</title>\n`}<link>${page}</link>
<guid isPermaLink="false">${item.id}</guid>
<pubDate>${dateOf(item)}</pubDate>
<description>${contentOf(item, addresses).text}</description>
${item.tags.map((tag) => xml`<category>${tag}</category>\n`)}${item.language !== null && xml`<dc:language>${item.language}</dc:language>\n`}${
    // Readers take only the first one, and validators frown on more.
    first !== undefined &&
    xml`<enclosure url="${addresses.media(item.id, "0")}" length="${first.sizeBytes}" type="${first.mimeType}"/>\n`
  }${item.media.map((media, at) => mediaContent(media, addresses.media(item.id, String(at))))}${
    item.thumbnail !== null && xml`<media:thumbnail url="${addresses.media(item.id, THUMBNAIL)}"/>\n`
  }</item>
`;
}

function mediaContent(media: FeedMedia, url: string): Xml {
  const { width, height, durationSeconds } = media;
  const size = width !== null && height !== null && xml` width="${width}" height="${height}"`;
  const duration = durationSeconds !== null && xml` duration="${Math.round(durationSeconds)}"`;
  const kind = media.mimeType.split("/")[0];
  return xml`<media:content url="${url}" fileSize="${media.sizeBytes}" type="${media.mimeType}" medium="${kind}"${size}${duration}>${
    media.altText !== null && xml`<media:description type="plain">${media.altText}</media:description>`
  }</media:content>
`;
}

function dateOf(item: FeedItem): string {
  return new Date(item.publishedAt).toUTCString();
}
