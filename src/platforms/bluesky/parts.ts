import { itemsOf, type PostItem } from "../shared/media/items.ts";
import { measureText } from "../../domain/posts/caption.ts";
import { MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES, type BlueskyPost } from "./metadata.ts";
import { normalizeText } from "./rich-text.ts";

/** One post of a thread; a post without a thread is one part. */
export interface Part {
  readonly text: string;
  readonly media: readonly PostItem[];
}

/** The post and those that follow it. */
export function partsOf(post: BlueskyPost): [Part, ...Part[]] {
  const { thread } = post.metadata;
  const rest = (thread ?? []).map((next) => ({
    text: normalizeText(next.caption),
    media:
      next.mediaUrl === undefined || next.mediaUrl === ""
        ? []
        : [{ url: next.mediaUrl, altText: next.altText ?? null }],
  }));
  return [{ text: normalizeText(post.caption ?? ""), media: itemsOf(post) }, ...rest];
}

/** What the schema cannot say: length in graphemes and bytes, and what excludes what. */
export function checkPost(post: BlueskyPost): { errors: string[]; warnings: string[] } {
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
  if (metadata.langs !== undefined && metadata.language !== undefined) {
    errors.push("metadata.langs: give either language or langs.");
  }
  const warnings: string[] = [];
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
