import * as z from "zod";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import { measureText } from "../../domain/posts/caption.ts";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, GatedOption, PlatformPost } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { hasScope } from "../shared/consent.ts";
import { itemsOf } from "../shared/media.ts";

/** Long known, and what its apps go by; the reference does not name it. */
export const MAX_TEXT = 63_206;
export const MAX_PHOTOS = 10;
/** https://developers.facebook.com/documentation/video-api/guides/reels-publishing */
const MAX_REEL_SECONDS = 90;

/** As its composer has it and schedulers that offer backgrounds go by; the reference does not name it. */
const MAX_ON_BACKGROUND = 130;

const FILM_KINDS = ["reel", "video"] as const;

const { title, link, altText, moreMedia, firstComment, thumbnailUrl } = commonMetadata;

const PageId = z.string().regex(/^\d+$/, "must be the id of a Facebook Page");

export const COMMENT_SCOPE = "pages_manage_engagement";
const WITH_COMMENTS = "Pages that were connected with comments";

/** What a post on a Page takes beside caption and media. */
export const FacebookMetadata = z.strictObject({
  title: title.unwrap().max(255).optional().describe("Title of a video."),
  link: link.describe("Address shown as a link card, not with media."),
  altText: altText.describe("What the first picture shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_PHOTOS - 1, fits(MAX_PHOTOS))
    .optional()
    .describe("Up to 9 more pictures."),
  kind: z
    .enum(FILM_KINDS)
    .optional()
    .describe("How a video is posted. Default: reel up to 90 seconds, video beyond.")
    .meta({ title: "Post the video as" }),
  story: z
    .boolean()
    .optional()
    .describe("True: a story of one picture or video, which shows no caption.")
    .meta({ title: "Post as a story" }),
  thumbnailUrl: thumbnailUrl.describe("Picture in front of a video."),
  background: z
    .string()
    .regex(/^\d+$/, "must be the id of a background")
    .optional()
    .describe("Id of one of Facebook's backgrounds, for a text of up to 130 characters alone.")
    .meta({ title: "Background number" }),
  locationId: PageId.optional().describe("Id of a Page with a place.").meta({ title: "Place" }),
  collaborators: z
    .array(PageId)
    .min(1)
    .max(3)
    .optional()
    .describe("Ids of up to 3 Pages that are asked to be a reel's authors too."),
  firstComment: firstComment
    .unwrap()
    .min(1)
    .max(8_000)
    .optional()
    .describe(`Put under the post by the Page. Only for ${WITH_COMMENTS}.`),
});

export type FacebookPost = PlatformPost<z.infer<typeof FacebookMetadata>>;

const NO_STORY_FIELDS = [
  "title",
  "link",
  "altText",
  "moreMedia",
  "kind",
  "thumbnailUrl",
  "background",
  "locationId",
  "collaborators",
  "firstComment",
] as const;

export const GATED: readonly GatedOption<keyof z.infer<typeof FacebookMetadata>>[] = [
  {
    field: "firstComment",
    who: WITH_COMMENTS,
    instead: `Leave it out, or add the permission ${COMMENT_SCOPE} to the Meta app and connect the Page again.`,
    mayUse: hasScope(COMMENT_SCOPE),
  },
];

/** Rules that data cannot say. Of files that are not ours nothing is known yet. */
export function checkPost(post: FacebookPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { metadata } = post;
  if (metadata.story === true) return checkStory(post, media);
  const items = itemsOf(post);
  const known = items.flatMap(({ url }) => media.get(url) ?? []);
  const film = known.find(({ type }) => type === "video");
  const hasNoFilm = items.length === 0 || (known.length === items.length && film === undefined);
  const errors: string[] = [];
  const warnings: string[] = [];
  if (metadata.link !== undefined && items.length > 0)
    errors.push(
      "metadata.link: Facebook shows a link card or media. Leave one out, or put the link into the caption.",
    );
  if (metadata.moreMedia !== undefined && post.mediaUrl === "")
    errors.push("mediaUrl: give the first picture here. metadata.moreMedia follows it.");
  if (film !== undefined && items.length > 1)
    errors.push("metadata.moreMedia: a video on Facebook goes without other media. Leave the rest out.");
  errors.push(...backgroundErrors(post));
  for (const field of ["title", "kind", "thumbnailUrl", "collaborators"] as const)
    if (hasNoFilm && metadata[field] !== undefined)
      errors.push(`metadata.${field}: only videos have it on Facebook. Leave it out.`);
  if (film !== undefined) errors.push(...kindErrors(filmKindOf(post, film), film, metadata));
  const { width = null, height = null } = film ?? {};
  const isWide = width !== null && height !== null && width > height;
  if (film !== undefined && isWide && metadata.kind === undefined && filmKindOf(post, film) === "reel")
    warnings.push(
      'mediaUrl: is wider than high. Facebook may refuse it as a reel. Give metadata.kind "video" to post it as a video.',
    );
  const isHigh = width !== null && height !== null && height > width;
  if (film !== undefined && isHigh && filmKindOf(post, film) === "video") {
    const isShort = (film.durationSeconds ?? Infinity) <= MAX_REEL_SECONDS;
    warnings.push(
      `mediaUrl: is a vertical video${isShort ? "" : ` of more than ${MAX_REEL_SECONDS} seconds`}. Facebook may keep it as a draft until a person publishes it there. The post then says so.` +
        (isShort ? " As a reel it goes out by itself: leave metadata.kind out." : ""),
    );
  }
  if (film !== undefined && metadata.altText !== undefined)
    warnings.push("metadata.altText: Facebook has none for videos. It is not shown.");
  return { errors, warnings };
}

/** Meta's guide of stories says 90 seconds, that of reels (July 2026) 60 for a reel that is a story. */
const SURE_STORY_SECONDS = 60;

function checkStory({ caption, mediaUrl, metadata }: FacebookPost, media: CheckedAt["media"]): CheckResult {
  const odd = NO_STORY_FIELDS.filter((field) => metadata[field] !== undefined);
  const seconds = media.get(mediaUrl)?.durationSeconds ?? 0;
  return {
    errors: odd.map((field) => `metadata.${field}: a Facebook story has none. Leave it out.`),
    warnings: [
      ...((caption ?? "") === "" ? [] : ["caption: a Facebook story shows none."]),
      ...(seconds > SURE_STORY_SECONDS
        ? [
            `mediaUrl: is a video of more than ${SURE_STORY_SECONDS} seconds, which Facebook may refuse as a story. To be sure, give a shorter one.`,
          ]
        : []),
    ],
  };
}

type Film = Pick<MediaFigures, "durationSeconds" | "mimeType">;
export type FilmKind = (typeof FILM_KINDS)[number] | "filmStory";

/** A single film is a reel, unless it is too long for one. */
export function filmKindOf({ metadata }: FacebookPost, { durationSeconds }: Film): FilmKind {
  if (metadata.story === true) return "filmStory";
  return metadata.kind ?? ((durationSeconds ?? 0) > MAX_REEL_SECONDS ? "video" : "reel");
}

function kindErrors(
  kind: FilmKind,
  { durationSeconds, mimeType }: Film,
  metadata: FacebookPost["metadata"],
): string[] {
  if (kind === "reel" && (durationSeconds ?? 0) > MAX_REEL_SECONDS)
    return [
      `metadata.kind: a reel may last at most ${MAX_REEL_SECONDS} seconds. Shorten it, or use "video".`,
    ];
  if (kind !== "video") return [];
  const odd = (["locationId", "collaborators"] as const).filter((field) => metadata[field] !== undefined);
  return [
    ...(mimeType === "video/mp4"
      ? []
      : ["mediaUrl: Facebook takes videos that are not reels only as MP4. Convert it."]),
    ...odd.map((field) => `metadata.${field}: of videos, only reels have it on Facebook. Leave it out.`),
  ];
}

function backgroundErrors({ caption, mediaUrl, metadata: { background, link } }: FacebookPost): string[] {
  if (background === undefined) return [];
  const length = measureText(caption ?? "", "characters");
  if (mediaUrl !== "" || link !== undefined)
    return [
      "metadata.background: Facebook shows it only behind a text without media and link. Leave it out.",
    ];
  if (length >= 1 && length <= MAX_ON_BACKGROUND) return [];
  return [
    `metadata.background: Facebook shows it behind 1 to ${MAX_ON_BACKGROUND} characters, and the text has ${length}. Change the text, or leave it out.`,
  ];
}

/** Facebook takes posts from 10 minutes ahead on; the rest is for the way there and its clock. */
const SOONEST_MS = 11 * MINUTE;

/** Facebook's own schedule is over for this post: it goes out at its time. */
export class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "It is too late for Facebook's own schedule. The post goes out at its time.");
  }
}

export type Timing =
  | { readonly isScheduled: false }
  | {
      readonly isScheduled: true;
      /** Seconds since 1970, never before the post's time. */
      readonly at: number;
    };

/** Whether there is time enough left for Facebook's own schedule. */
export function canSchedule({ scheduledAt }: FacebookPost, io: PublishIo): boolean {
  return scheduledAt - io.now() >= SOONEST_MS;
}

/** How a post goes out that is sent now. Throws TooNear where it must not be sent yet. */
export function timingOf(post: FacebookPost, io: PublishIo): Timing {
  if (io.isDue) return { isScheduled: false };
  if (!canSchedule(post, io)) throw new TooNear();
  return { isScheduled: true, at: Math.ceil(post.scheduledAt / SECOND) };
}

/** Facebook publishes within a minute or two of the time; then we do. */
export const FLIP_AFTER_MS = 5 * MINUTE;
