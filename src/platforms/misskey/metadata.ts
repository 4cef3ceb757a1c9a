import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkAltTexts, tooLong } from "../shared/posts/check-texts.ts";
import { partsOf } from "../shared/posts/thread.ts";
import { limitsOf } from "./limits.ts";
import { measure } from "./text.ts";

const { altText, moreMedia, visibility, sensitive, spoilerText, thread } = commonMetadata;

/** What a note takes beside caption and media. */
export const MisskeyMetadata = z.strictObject({
  altText,
  moreMedia: moreMedia.describe("Further pictures, videos or sounds, up to 16 in all."),
  visibility: visibility.describe(
    "Who sees it: public (default), unlisted (home timelines only), or private (followers).",
  ),
  sensitive: sensitive.describe("Shows the media only after a click."),
  spoilerText: spoilerText.describe("Content warning: shown in place of the text until a click."),
  thread: thread.describe("Notes that follow, each a reply to the one before."),
});
export type MisskeyPost = PlatformPost<z.infer<typeof MisskeyMetadata>>;

/** What the schema cannot say: lengths on this server. */
export function check(post: MisskeyPost, { account }: CheckedAt): { errors: string[]; warnings: string[] } {
  const { maxText, maxWarning, maxAlt } = limitsOf(account);
  const { metadata } = post;
  const later = partsOf(post).slice(1);
  return {
    errors: [
      ...tooLong("metadata.spoilerText", measure(metadata.spoilerText ?? ""), maxWarning),
      ...later.flatMap(({ text }, at) => tooLong(`metadata.thread[${at}].caption`, measure(text), maxText)),
      ...checkAltTexts(metadata, maxAlt),
    ],
    warnings: [],
  };
}
