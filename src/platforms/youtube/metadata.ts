import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, CheckedAt, GatedOption, PlatformPost } from "../../ports/platform.ts";
import { checkSubtitles } from "../shared/subtitles.ts";

/** https://developers.google.com/youtube/v3/docs/videos#properties */
export const MAX_DESCRIPTION_BYTES = 5_000;
const MAX_TITLE_CHARS = 100;
const MAX_TAGS_CHARS = 500;

/** "People & Blogs", which YouTube itself takes where none is chosen. */
export const USUAL_CATEGORY = "22";

const NO_BRACKETS = "must not hold < or >, which YouTube refuses";

/** YouTube takes neither sign in any text, and has no way to write them otherwise. */
function hasBrackets(text: string): boolean {
  return /[<>]/.test(text);
}

/** As YouTube counts them: with the commas between them, and quotes around those that hold spaces. */
export function tagsLength(tags: readonly string[]): number {
  const letters = tags.map((tag) => [...tag].length + (/\s/.test(tag) ? 2 : 0));
  return letters.reduce((sum, length) => sum + length, Math.max(0, tags.length - 1));
}

const { title, tags, language, visibility, thumbnailUrl, subtitles, firstComment } = commonMetadata;

const VERIFIED = "channels that are verified by phone";

/** What a video on YouTube takes beside its file and its description, which is the caption. */
export const YoutubeMetadata = z.strictObject({
  title: title
    .unwrap()
    .refine((text) => text.trim() !== "", "must not be empty")
    .refine((text) => [...text].length <= MAX_TITLE_CHARS, `may have ${MAX_TITLE_CHARS} characters`)
    .refine((text) => !hasBrackets(text), NO_BRACKETS)
    .describe("Title, max. 100 characters, without < and >."),
  tags: z
    .array(z.string().min(1).max(MAX_TAGS_CHARS))
    .refine((all) => tagsLength(all) <= MAX_TAGS_CHARS, {
      error: ({ input }) =>
        `have ${tagsLength(z.array(z.string()).catch([]).parse(input))} characters together, and may have ${MAX_TAGS_CHARS}`,
    })
    .refine((all) => !all.some(hasBrackets), NO_BRACKETS)
    .optional()
    .describe(`${tags.description ?? ""} 500 characters together.`),
  categoryId: z
    .string()
    .regex(/^\d{1,4}$/, "must be the number of a category")
    .optional()
    .describe("Number of the category, from list_choices. Default 22, People & Blogs."),
  playlistId: z
    .string()
    .regex(/^[\w-]{2,100}$/, "must be the id of a playlist")
    .optional()
    .describe("One of the channel's playlists, from list_choices."),
  madeForKids: z
    .boolean()
    .optional()
    .describe("Whether it is made for children. The law asks for it. Default false."),
  visibility: visibility.describe("Who can see it from its time on. Default public."),
  language: language.describe("Language of title and description."),
  thumbnailUrl: thumbnailUrl.describe(`Thumbnail: JPEG or PNG, best 1280 × 720. Only for ${VERIFIED}.`),
  subtitles: subtitles.describe("WebVTT or SRT files, one a language. Each costs 400 units of the day."),
  firstComment: firstComment
    .unwrap()
    .refine((text) => text.trim() !== "", "must not be empty")
    .optional()
    .describe("A comment of the channel, put under the video once others can see it."),
  license: z.enum(["youtube", "creativeCommon"]).optional().describe("License. Default youtube."),
  embeddable: z.boolean().optional().describe("Whether other sites may embed it. Default true."),
  publicStatsViewable: z
    .boolean()
    .optional()
    .describe("Whether everybody sees its extended statistics.")
    .meta({ title: "Show extended statistics" }),
  containsSyntheticMedia: z
    .boolean()
    .optional()
    .describe("Whether it holds realistic content that was altered or made by a machine."),
  notifySubscribers: z.boolean().optional().describe("False: subscribers are not told. Default true."),
});
export type YoutubeMetadata = z.infer<typeof YoutubeMetadata>;
export type YoutubePost = PlatformPost<YoutubeMetadata>;

export const GATED: readonly GatedOption<keyof YoutubeMetadata>[] = [
  {
    field: "thumbnailUrl",
    who: VERIFIED,
    instead: "Leave it out, or verify the channel at https://www.youtube.com/verify.",
    // The same step lets a channel have long videos. Others may still lack them, so it proves nothing against.
    mayUse: ({ account: { limits } }) =>
      ["eligible", "disallowed"].includes(String(limits["longUploads"])) ? null : true,
  },
];

/** Who is to see the video from its time on. */
export function visibilityOf({ metadata }: Pick<YoutubePost, "metadata">): "public" | "unlisted" | "private" {
  return metadata.visibility ?? "public";
}

/** What data cannot say of a post, and what a person should know before its time. */
export function checkPost(post: YoutubePost, at?: CheckedAt): CheckResult {
  const errors = [
    ...(hasBrackets(post.caption ?? "")
      ? ["caption: has < or >, which YouTube does not allow in descriptions. Leave them out."]
      : []),
    ...checkSubtitles(post, at?.media ?? new Map()),
    ...commentProblem(post),
  ];
  const warnings: string[] = [];
  if (post.metadata.madeForKids === undefined)
    warnings.push(
      "metadata.madeForKids: is not given, so the video is declared not to be made for children. The law asks for one or the other.",
    );
  const keptPrivateAt = at?.account.settings["keptPrivateAt"];
  if (typeof keptPrivateAt === "string" && visibilityOf(post) !== "private")
    warnings.push(
      `metadata.visibility: YouTube kept the channel's last video private (${keptPrivateAt}), and will keep this one private too until the Google Cloud project has passed its audit.`,
    );
  return { errors, warnings };
}

/** YouTube takes comments on neither: https://support.google.com/youtube/answer/9706180 */
function commentProblem(post: YoutubePost): string[] {
  const { firstComment: comment, madeForKids } = post.metadata;
  const isPrivate = visibilityOf(post) === "private";
  if (comment === undefined || (!isPrivate && madeForKids !== true)) return [];
  const which = isPrivate ? "private videos" : "videos that are made for children";
  return [`metadata.firstComment: YouTube takes no comments on ${which}. Leave it out.`];
}
