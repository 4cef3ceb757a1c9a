import type { MediaFigures } from "../../domain/files/media-limits.ts";
import type { CheckedAt, PlatformPost } from "../../ports/platform.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import { textLimit } from "./capabilities.ts";
import type { XMetadata, XPost } from "./metadata.ts";
import { measure } from "./text.ts";

/** One post of a thread; a post without a thread is one part. */
export interface Part {
  readonly text: string;
  readonly media: readonly { readonly url: string; readonly altText: string | null }[];
}

/** The post and those that follow it. */
export function partsOf(post: PlatformPost<XMetadata>): [Part, ...Part[]] {
  const { altText, moreMedia, thread } = post.metadata;
  const first = post.mediaUrl === "" ? [] : [{ url: post.mediaUrl, altText: altText ?? null }];
  const more = (moreMedia ?? []).map((item) => ({ url: item.url, altText: item.altText ?? null }));
  const rest = (thread ?? []).map(({ caption, mediaUrl = "", altText: shows }) => ({
    text: toText(caption),
    media: mediaUrl === "" ? [] : [{ url: mediaUrl, altText: shows ?? null }],
  }));
  return [{ text: toText(post.caption ?? ""), media: [...first, ...more] }, ...rest];
}

/** As X stores it: line ends of one kind, nothing around it. */
function toText(caption: string): string {
  return caption.replaceAll("\r\n", "\n").normalize("NFC").trim();
}

type Known = Pick<MediaFigures, "type" | "mimeType" | "isAnimated">;

/** A film or an animation, of which a post takes one and nothing beside it. */
export function isAlone({ type, mimeType, isAnimated }: Known): boolean {
  return type === "video" || (mimeType === "image/gif" && isAnimated);
}

export const ALONE =
  "metadata.moreMedia: a post on X shows up to four pictures, or one animated GIF, or one video. Leave the rest out or use metadata.thread.";

export const NO_VIDEO =
  "metadata.thumbnailUrl: X shows a thumbnail only in front of a video. Leave it out, or give a video in mediaUrl.";

/** What the schema cannot say. */
export function checkPost(post: XPost, at: CheckedAt): { errors: string[]; warnings: string[] } {
  const parts = partsOf(post);
  const [first, ...rest] = parts;
  const known = first.media.flatMap(({ url }) => at.media.get(url) ?? []);
  const isVideo = known[0]?.type === "video";
  const errors = [
    ...(first.media.length > 1 && known.some(isAlone) ? [ALONE] : []),
    ...(post.metadata.moreMedia !== undefined && post.metadata.moreMedia.length > 0 && post.mediaUrl === ""
      ? ["metadata.moreMedia: the first picture belongs in mediaUrl."]
      : []),
    ...(post.metadata.thumbnailUrl !== undefined && (post.mediaUrl === "" || (known.length > 0 && !isVideo))
      ? [NO_VIDEO]
      : []),
    ...rest.flatMap((part, nth) => checkPart(part, parts.slice(0, nth + 1), { nth, account: at.account })),
  ];
  const warnings = parts.flatMap((part, nth) =>
    cashtagsIn(part.text) > 1
      ? [`${fieldOf(nth)}: has more than one cashtag ($ABC). X refuses that in posts from programs.`]
      : [],
  );
  if (isVideo && post.metadata.altText !== undefined)
    warnings.push("metadata.altText: X takes none for videos. The post goes out without it.");
  return { errors, warnings };
}

function fieldOf(nth: number): string {
  return nth === 0 ? "caption" : `metadata.thread[${nth - 1}].caption`;
}

function checkPart(
  part: Part,
  before: readonly Part[],
  { nth, account }: { readonly nth: number; readonly account: PlatformAccount },
): string[] {
  const field = fieldOf(nth + 1);
  const length = measure(part.text);
  const limit = textLimit(account);
  if (length > limit)
    return [`${field}: has ${length} characters as X counts them, and X takes at most ${limit}. Shorten it.`];
  if (part.text === "") return [`${field}: is empty. Write some text.`];
  return before.some(({ text }) => text === part.text)
    ? [`${field}: says the same as a post before it, which X refuses as a duplicate. Change it.`]
    : [];
}

function cashtagsIn(text: string): number {
  return [...text.matchAll(/(?<![\w$])\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?!\w)/g)].length;
}
