import type { Metadata } from "../../domain/posts/post.ts";

/** An address somewhere in a post. */
export interface MediaPlace {
  readonly field: string;
  readonly url: string;
  /** Shown as media of a post, and so held to the platform's limits. */
  readonly isShown: boolean;
  /** One of the items of the post itself; the others belong to the posts of its thread. */
  readonly isItem: boolean;
}

/** Every address of a post's content, also empty ones; the first is mediaUrl's. */
export function placesOf(content: {
  readonly mediaUrl: string;
  readonly metadata: Metadata | null;
}): MediaPlace[] {
  const places: MediaPlace[] = [{ field: "mediaUrl", url: content.mediaUrl, isShown: true, isItem: true }];
  visitAddresses(content.metadata ?? {}, (field, url) => {
    const isItem = field.startsWith("metadata.moreMedia");
    places.push({ field, url, isShown: isItem || field.startsWith("metadata.thread"), isItem });
    return url;
  });
  return places;
}

/** Rebuilds metadata with each of its media addresses replaced; the fields are those of the common metadata. */
export function visitAddresses(
  metadata: Metadata,
  replace: (field: string, url: string) => string,
): Metadata {
  const result: Metadata = { ...metadata };
  const inList = (name: string, key: string): void => {
    const list = metadata[name];
    if (!Array.isArray(list)) return;
    result[name] = list.map((item, at) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      const url = item[key];
      return typeof url === "string"
        ? { ...item, [key]: replace(`metadata.${name}[${at}].${key}`, url) }
        : item;
    });
  };
  inList("moreMedia", "url");
  inList("thread", "mediaUrl");
  const thumbnail = metadata["thumbnailUrl"];
  if (typeof thumbnail === "string") result["thumbnailUrl"] = replace("metadata.thumbnailUrl", thumbnail);
  return result;
}
