import type { MediaFigures } from "../../domain/files/media-limits.ts";
import type { CheckedAt } from "../../ports/platform.ts";
import { limitsOf } from "./creator.ts";
import { isInbox, MAX_VIDEO_CAPTION, privacyOf, type TikTokPost } from "./metadata.ts";

type Seen = Pick<MediaFigures, "type">;

const OF_VIDEOS = ["disableDuet", "disableStitch", "aiGenerated", "coverMs"] as const;
const OF_PHOTOS = ["title", "coverIndex", "autoAddMusic"] as const;

/** Rules that data cannot say. What TikTok offers the account may change until the post's time: it is told. */
export function checkPost(
  post: TikTokPost,
  { account, media }: CheckedAt,
): { errors: string[]; warnings: string[] } {
  const { metadata } = post;
  const urls = [post.mediaUrl, ...(metadata.moreMedia ?? []).map(({ url }) => url)];
  const seen = urls.flatMap((url) => media.get(url) ?? []);
  const errors = [privacyProblem(post), coverProblem(post, urls.length), kindProblem(post, seen)];
  const warnings = [
    optionWarning(post, limitsOf(account).privacyLevels),
    coverWarning(post),
    inboxWarning(post, seen),
  ];
  const told = (texts: readonly (string | null)[]): string[] => texts.filter((text) => text !== null);
  return { errors: told(errors), warnings: told(warnings) };
}

function privacyProblem({ metadata }: TikTokPost): string | null {
  const { privacyLevel, privacy: short } = metadata;
  const privacy = privacyOf(metadata);
  if (privacyLevel !== undefined && short !== undefined && privacyLevel !== short)
    return "metadata.privacy: is another name for privacyLevel, and the two differ. Leave one of them out.";
  if (isInbox(metadata)) return null;
  if (privacy === null)
    return "metadata.privacyLevel: TikTok asks the person to choose who can see the post. Call list_choices, then give one of its values.";
  return privacy === "SELF_ONLY" && metadata.brandContent === true
    ? "metadata.brandContent: a paid partnership cannot be SELF_ONLY on TikTok. Choose another privacyLevel."
    : null;
}

function coverProblem({ metadata: { coverIndex } }: TikTokPost, count: number): string | null {
  return coverIndex !== undefined && coverIndex >= count
    ? `metadata.coverIndex: the post has ${count} photos, counted from 0. Give the number of one of them.`
    : null;
}

/** What does not go together with the kind of its media, as far as it is known. */
export function kindProblem(post: TikTokPost, seen: readonly Seen[]): string | null {
  const { caption, metadata } = post;
  const hasFilm = seen.some(({ type }) => type === "video");
  const hasPhoto = seen.some(({ type }) => type === "image");
  if (hasFilm && (hasPhoto || (metadata.moreMedia ?? []).length > 0))
    return "metadata.moreMedia: a TikTok post shows one video, or photos. Leave the rest out.";
  const strange = hasFilm ? OF_PHOTOS : hasPhoto ? OF_VIDEOS : [];
  const field = strange.find((name) => metadata[name] !== undefined);
  if (field !== undefined)
    return `metadata.${field}: is only for ${hasFilm ? "photos" : "videos"} on TikTok. Leave it out.`;
  const length = (caption ?? "").length;
  return hasFilm && length > MAX_VIDEO_CAPTION
    ? `caption: has ${length} characters, and may have ${MAX_VIDEO_CAPTION} with a video on TikTok. Shorten it.`
    : null;
}

function optionWarning({ metadata }: TikTokPost, options: readonly string[]): string | null {
  const privacy = privacyOf(metadata);
  if (isInbox(metadata) || privacy === null || options.length === 0 || options.includes(privacy)) return null;
  return `metadata.privacyLevel: TikTok last offered this account ${options.join(", ")}. Posthorn asks again at the post's time. If that has not changed, TikTok refuses the post.`;
}

/** Seen, and not written down by TikTok: https://github.com/gitroomhq/postiz-app/pull/1989 */
function coverWarning({ metadata }: TikTokPost): string | null {
  if (metadata.coverMs === undefined) return null;
  if (isInbox(metadata)) return "metadata.coverMs: TikTok takes no cover with a draft. Choose it in the app.";
  return privacyOf(metadata) === "PUBLIC_TO_EVERYONE"
    ? null
    : "metadata.coverMs: TikTok uses it only for posts that everybody can see. This one may show the first frame.";
}

function inboxWarning({ caption, metadata }: TikTokPost, seen: readonly Seen[]): string | null {
  if (!isInbox(metadata)) return null;
  const isText = (caption ?? "") !== "" && !seen.some(({ type }) => type === "image");
  const text = isText ? " TikTok takes no text with such a video. Enter the caption in the app." : "";
  return `metadata.mode: the post waits in TikTok's inbox at its time until a person finishes it in the TikTok app.${text}`;
}
