import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { AppError } from "../domain/errors.ts";
import { checkCounts, checkMedia } from "../domain/files/media-limits.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { MediaFacts, PostMedia } from "../ports/media.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { placesOf } from "../files/media-places.ts";

/**
 * A post's media, each item held to the platform's limits before its file sees it: what was checked at
 * scheduling may have changed since, and remote media could not be looked at then. Throws `invalid` naming
 * the field.
 */
export function limitMedia(
  platform: AnyPlatform,
  { media: { accepts } }: Pick<PlatformCapabilities, "media">,
  media: PostMedia,
  content: { readonly mediaUrl: string; readonly metadata: Metadata | null },
): PostMedia {
  const places = placesOf(platform, content);
  const items = new Map<string, MediaFacts>();
  return {
    ...media,
    async item(url, altText) {
      const item = await media.item(url, altText);
      const place = places.find((one) => one.isShown && one.url === url);
      if (place === undefined) return item;
      const { problems } = checkMedia(item.facts, accepts);
      if (problems.length > 0) throw refusal(platform, place.field, problems);
      for (const { field, isItem } of places.filter((one) => one.url === url))
        if (isItem) items.set(field, item.facts);
      const excess = checkCounts([...items.values()], accepts);
      if (excess !== null) throw refusal(platform, "metadata.moreMedia", [excess]);
      return item;
    },
  };
}

/** One sentence for a person: the field, what is wrong with it, what to do. */
export function refusal(platform: AnyPlatform, field: string, problems: readonly string[]): AppError {
  return new AppError("invalid", `${field}: ${problems.join("; ")} on ${platform.title}. Give another file.`);
}
