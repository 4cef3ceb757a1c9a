import { toIso } from "../../domain/time.ts";
import type { FeedItem, FeedMedia } from "../../ports/feed-shelf.ts";
import { THUMBNAIL, type FeedPage } from "../../services/feeds/feed.ts";
import { addressesOf, contentOf, safeLink, type FeedAddresses } from "./feed-content.ts";

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
  return {
    id: item.id,
    url: addresses.page(item.id),
    ...(link === null ? {} : { external_url: link }),
    ...(item.title === null ? {} : { title: item.title }),
    content_html: contentOf(item, addresses).text,
    content_text: item.text ?? "",
    ...(image === null ? {} : { image }),
    date_published: toIso(item.publishedAt),
    ...(item.tags.length === 0 ? {} : { tags: item.tags }),
    ...(item.language === null ? {} : { language: item.language }),
    ...(item.media.length === 0
      ? {}
      : {
          attachments: item.media.map((media, at) => attachment(media, addresses.media(item.id, String(at)))),
        }),
  };
}

function imageOf(item: FeedItem, addresses: FeedAddresses): string | null {
  if (item.thumbnail !== null) return addresses.media(item.id, THUMBNAIL);
  const first = item.media.findIndex(({ mimeType }) => mimeType.startsWith("image/"));
  return first < 0 ? null : addresses.media(item.id, String(first));
}

function attachment(media: FeedMedia, url: string): object {
  return {
    url,
    mime_type: media.mimeType,
    ...(media.altText === null ? {} : { title: media.altText }),
    size_in_bytes: media.sizeBytes,
    ...(media.durationSeconds === null ? {} : { duration_in_seconds: media.durationSeconds }),
  };
}
