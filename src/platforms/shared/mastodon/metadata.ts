import * as z from "zod";
import { commonMetadata } from "../../../domain/posts/common-metadata.ts";
import type { PlatformPost } from "../../../ports/platform.ts";

const { altText, moreMedia, language, visibility, sensitive, spoilerText, thread, thumbnailUrl } =
  commonMetadata;

/** What a post on Mastodon takes beside caption and media. */
export const MastodonMetadata = z.strictObject({
  altText,
  moreMedia: moreMedia.describe("Further pictures. The server sets how many (mostly 4 in all)."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown before a video or sound plays."),
  language: language.describe("Language of the text."),
  visibility: visibility.describe(
    "Who sees it: public, unlisted (kept out of public timelines), or private (only followers). Default: the account's setting.",
  ),
  sensitive: sensitive.describe("Shows the media only after a click."),
  spoilerText: spoilerText.describe("Content warning: shown in place of the text until a click."),
  thread: thread.describe("Posts that follow, each a reply to the one before."),
});
export type MastodonMetadata = z.infer<typeof MastodonMetadata>;
export type MastodonPost = PlatformPost<MastodonMetadata>;
