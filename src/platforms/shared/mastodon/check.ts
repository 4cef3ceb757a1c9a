import { captionLength, measureText } from "../../../domain/posts/caption.ts";
import type { CheckedAt } from "../../../ports/platform.ts";
import { checkAltTexts, tooLong } from "../posts/check-texts.ts";
import { partsOf } from "../posts/thread.ts";
import { MENTION } from "./find.ts";
import { altLengthOf, capabilitiesOf } from "./limits.ts";
import { MIXED } from "./media.ts";
import type { MastodonPost } from "./metadata.ts";

/** Graphemes; of a mention of somebody elsewhere, what readers see (addresses are weighed before). */
export function measure(text: string): number {
  return measureText(text.replace(MENTION, "$1"), "graphemes");
}

/** What the schema cannot say: lengths on this server, and what excludes what. */
export function check(
  post: MastodonPost,
  { account, media }: CheckedAt,
): { errors: string[]; warnings: string[] } {
  const { spoilerText } = post.metadata;
  const errors = [...checkLengths(post, account), ...checkMedia(post, { account, media })];
  const warnings: string[] = [];
  if (spoilerText !== undefined && spoilerText.trim() === "")
    warnings.push("metadata.spoilerText: is empty, so there is no content warning.");
  const isPicture = post.mediaUrl === "" || media.get(post.mediaUrl)?.type === "image";
  if (post.metadata.thumbnailUrl !== undefined && isPicture)
    warnings.push("metadata.thumbnailUrl: Mastodon shows one only on a video or a sound.");
  return { errors, warnings };
}

/** Their alternative texts, and what excludes what. */
export function checkMedia(
  { mediaUrl, metadata }: MastodonPost,
  { account, media }: Pick<CheckedAt, "account" | "media">,
): string[] {
  const { moreMedia = [] } = metadata;
  const errors = checkAltTexts(metadata, altLengthOf(account));
  if (moreMedia.length > 0 && mediaUrl === "")
    errors.push("metadata.moreMedia: the first picture belongs in mediaUrl.");
  const kinds = [mediaUrl, ...moreMedia.map(({ url }) => url)].map((url) => media.get(url)?.type);
  const hasFilm = kinds.some((kind) => kind === "video" || kind === "audio");
  return kinds.length > 1 && hasFilm ? [...errors, MIXED] : errors;
}

/** The content warning counts with the text, in each post of a thread. */
function checkLengths(post: MastodonPost, account: CheckedAt["account"]): string[] {
  const { caption } = capabilitiesOf(account);
  const warning = post.metadata.spoilerText ?? "";
  return partsOf(post).flatMap(({ text }, at) => {
    // The caption by itself is held to its limit wherever posts are checked.
    if (at === 0 && warning === "") return [];
    const length = captionLength(warning + text, caption, measure);
    const max = caption.maxLength ?? Infinity;
    if (at === 0 && captionLength(text, caption, measure) > max) return [];
    const field = at === 0 ? "metadata.spoilerText" : `metadata.thread[${at - 1}].caption`;
    return tooLong(field, length, max, warning === "" ? "" : " together with the content warning");
  });
}
