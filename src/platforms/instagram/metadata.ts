import * as z from "zod";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, CheckedAt, GatedOption, PlatformPost } from "../../ports/platform.ts";
import { hasScope } from "../shared/consent.ts";
import { itemsOf } from "../shared/media.ts";

export const MAX_ITEMS = 10;
export const MAX_CAPTION = 2_200;
const MAX_HASHTAGS = 30;
const MAX_MENTIONS = 20;
const MAX_ALT_TEXT = 1_000;
const TOO_LONG = `may have ${MAX_ALT_TEXT} characters on Instagram`;

/** Left out on a reel, which has no place for it. */
const share = z.number().min(0).max(1).optional();

const { altText, moreMedia, thumbnailUrl, firstComment } = commonMetadata;

const WITH_COMMENTS = "channels that may manage comments";
const WITH_TRIALS = "accounts that Instagram lets make trial reels";

/** What a post on Instagram takes beside caption and media. */
export const InstagramMetadata = z.strictObject({
  altText: altText.unwrap().max(MAX_ALT_TEXT).optional().describe("What the first picture shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .refine((items) => items.every((item) => (item.altText ?? "").length <= MAX_ALT_TEXT), TOO_LONG)
    .optional()
    .describe("Up to 9 more pictures or videos: a carousel."),
  story: z
    .boolean()
    .optional()
    .describe("True: a story of one picture or video, which shows no caption.")
    .meta({ title: "Post as a story" }),
  thumbnailUrl: thumbnailUrl.describe("Cover of a reel."),
  thumbOffsetMs: z
    .int()
    .min(0)
    .optional()
    .describe("Which moment of a reel is its cover, in milliseconds. thumbnailUrl goes first.")
    .meta({ title: "Cover: moment in milliseconds" }),
  shareToFeed: z
    .boolean()
    .optional()
    .describe("False: a reel is shown only under Reels, not in the feed.")
    .meta({ title: "Show in the feed" }),
  audioName: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Name of a reel's own sound.")
    .meta({ title: "Name of the audio" }),
  collaborators: z
    .array(z.string().regex(/^@?[\w.]{1,30}$/, "must be a user name"))
    .min(1)
    .max(3)
    .optional()
    .describe("User names of up to 3 people who are asked to be its authors too."),
  locationId: z
    .string()
    .regex(/^\d+$/, "must be the id of a Facebook Page")
    .optional()
    .describe("Id of a Page with a place.")
    .meta({ title: "Place" }),
  userTags: z
    .array(
      z.strictObject({
        username: z.string().regex(/^@?[\w.]{1,30}$/, "must be a user name"),
        x: share,
        y: share,
      }),
    )
    .min(1)
    .max(20)
    .optional()
    .describe("People on a picture, with x and y from 0 to 1 from its top left, or on a reel, without."),
  trialReel: z
    .enum(["manual", "performance"])
    .optional()
    .describe(
      `A reel first shown to non-followers. When all see it: by hand, or once it does well. Only for ${WITH_TRIALS}.`,
    ),
  aiGenerated: z.boolean().optional().describe("True: it was made by AI, and Instagram says so."),
  comments: z.boolean().optional().describe(`False: the post takes no comments. Only for ${WITH_COMMENTS}.`),
  firstComment: firstComment
    .unwrap()
    .max(MAX_CAPTION)
    .optional()
    .describe(`A comment put under the post at once. Only for ${WITH_COMMENTS}.`),
});
export type InstagramMetadata = z.infer<typeof InstagramMetadata>;
export type InstagramPost = PlatformPost<InstagramMetadata>;

const mayComment = hasScope("instagram_manage_comments", "instagram_business_manage_comments");
const COMMENT_AGAIN = "Leave it out, or add that permission to the Meta app and connect the channel again.";

/** https://help.instagram.com/1107015344344060: trial reels come to accounts bit by bit. */
export const GATED: readonly GatedOption<keyof InstagramMetadata>[] = [
  { field: "firstComment", who: WITH_COMMENTS, instead: COMMENT_AGAIN, mayUse: mayComment },
  { field: "comments", values: [false], who: WITH_COMMENTS, instead: COMMENT_AGAIN, mayUse: mayComment },
  { field: "trialReel", who: WITH_TRIALS, instead: "Leave it out.", mayUse: () => null },
];

const REEL_FIELDS = ["thumbnailUrl", "thumbOffsetMs", "shareToFeed", "audioName", "trialReel"] as const;
const NO_STORY_FIELDS = [
  "altText",
  "moreMedia",
  "collaborators",
  "locationId",
  "userTags",
  "comments",
  "firstComment",
  ...REEL_FIELDS,
] as const;

/** What the schema cannot say: what belongs to which kind of post, and what is counted in the caption. */
export function checkPost(post: InstagramPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { metadata, caption, mediaUrl } = post;
  const errors: string[] = [];
  const warnings: string[] = [];
  const count = (pattern: RegExp): number => (caption ?? "").match(pattern)?.length ?? 0;
  if (count(/(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]/gu) > MAX_HASHTAGS)
    errors.push(`caption: has more than the ${MAX_HASHTAGS} hashtags that Instagram takes. Leave some out.`);
  if (count(/(?<![\w.])@\w/g) > MAX_MENTIONS)
    errors.push(`caption: names more than the ${MAX_MENTIONS} people that Instagram takes. Leave some out.`);
  if (metadata.story === true) {
    const odd = NO_STORY_FIELDS.filter((field) => metadata[field] !== undefined);
    errors.push(...odd.map((field) => `metadata.${field}: an Instagram story has none. Leave it out.`));
    if ((caption ?? "") !== "") warnings.push("caption: an Instagram story shows none.");
    return { errors, warnings };
  }
  const isReel = metadata.moreMedia === undefined || metadata.moreMedia.length === 0;
  const isPicture = media.get(mediaUrl)?.type === "image";
  if (!isReel || isPicture) {
    const odd = REEL_FIELDS.filter((field) => metadata[field] !== undefined);
    errors.push(
      ...odd.map((field) => `metadata.${field}: is only for a reel (a single video). Leave it out.`),
    );
  }
  errors.push(...tagErrors(metadata, isReel ? (media.get(mediaUrl)?.type ?? null) : "carousel"));
  if (metadata.comments === false && metadata.firstComment !== undefined)
    errors.push("metadata.firstComment: the post takes no comments. Leave it or metadata.comments out.");
  if (media.get(mediaUrl)?.type === "video" && metadata.altText !== undefined)
    warnings.push("metadata.altText: Instagram takes it only for pictures. The video goes out without it.");
  return { errors, warnings: [...warnings, ...shapeWarnings(post, media)] };
}

/** `kind`: null while nothing is known of the file. */
function tagErrors({ userTags = [] }: InstagramMetadata, kind: string | null): string[] {
  if (userTags.length === 0 || kind === null) return [];
  if (kind === "carousel")
    return ["metadata.userTags: is only for a single picture or a reel. Leave it out of a carousel."];
  const isPlaced = userTags.every(({ x, y }) => x !== undefined && y !== undefined);
  if (kind === "image" && !isPlaced)
    return ["metadata.userTags: a picture needs x and y of each person. Give both."];
  const isBare = userTags.every(({ x, y }) => x === undefined && y === undefined);
  return kind === "video" && !isBare ? ["metadata.userTags: a reel has no places. Leave x and y out."] : [];
}

/** More than by rounding. */
const SHAPE_TOLERANCE = 0.02;

function shapeWarnings(post: InstagramPost, media: CheckedAt["media"]): string[] {
  const shapes = itemsOf(post).flatMap(({ url }) => {
    const { width = null, height = null } = media.get(url) ?? {};
    return width === null || height === null ? [] : [width / height];
  });
  const [first = 1] = shapes;
  return shapes.some((shape) => Math.abs(shape / first - 1) > SHAPE_TOLERANCE)
    ? [
        "metadata.moreMedia: Instagram crops all items of a carousel to the shape of the first, and some have another shape.",
      ]
    : [];
}
