import type { FeedItem, FeedMedia } from "../../ports/feed-shelf.ts";
import { THUMBNAIL, type FeedPage } from "../../services/feeds/feed.ts";
import { addressesOf, contentOf, type FeedAddresses } from "./feed-content.ts";
import { html as xml, type Html as Xml } from "../pages/html.ts";

/**
 * RSS 2.0 with Atom's links and Media RSS (https://www.rssboard.org/media-rss), which names every medium with
 * its description.
 */
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
