import * as z from "zod";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { PlatformPost } from "../../ports/platform.ts";

const PRIVACY_LEVELS = [
  "PUBLIC_TO_EVERYONE",
  "MUTUAL_FOLLOW_FRIENDS",
  "FOLLOWER_OF_CREATOR",
  "SELF_ONLY",
] as const;
export type PrivacyLevel = (typeof PRIVACY_LEVELS)[number];

export const MAX_PHOTOS = 35;
const MAX_TITLE = 90;
export const MAX_VIDEO_CAPTION = 2_200;
export const MAX_PHOTO_CAPTION = 4_000;

const { title, moreMedia } = commonMetadata;
const privacy = z.enum(PRIVACY_LEVELS);

const TERMS = "https://www.tiktok.com/legal/page/global";

/**
 * What a post on TikTok takes beside caption and media. A page where it is written shows whose channel it is, has
 * what it permits off until a person turns it on, and names what is agreed to:
 * https://developers.tiktok.com/doc/content-sharing-guidelines
 */
export const TikTokMetadata = z
  .strictObject({
    privacyLevel: privacy
      .optional()
      .describe(
        "Who can see it: required, unless mode is inbox. list_choices tells what the account may choose.",
      )
      .meta({ title: "Who can see it" }),
    privacy: privacy.optional().describe("The same as privacyLevel."),
    mode: z
      .enum(["direct", "inbox"])
      .optional()
      .describe("inbox: a draft that the person finishes in the TikTok app. Default: direct.")
      .meta({ title: "How it is posted" }),
    title: title.unwrap().max(MAX_TITLE).optional().describe("Title above the text of photos."),
    moreMedia: z
      .array(moreMedia.unwrap().element)
      .max(MAX_PHOTOS - 1, fits(MAX_PHOTOS))
      .optional()
      .describe(`Up to ${MAX_PHOTOS - 1} more photos.`),
    disableComment: z.boolean().optional().describe("True: no comments.").meta({ permits: "Comments" }),
    disableDuet: z.boolean().optional().describe("True: no duets with the video.").meta({ permits: "Duets" }),
    disableStitch: z
      .boolean()
      .optional()
      .describe("True: no stitches of the video.")
      .meta({ permits: "Stitches" }),
    brandContent: z
      .boolean()
      .optional()
      .describe("A paid partnership for another brand, not with SELF_ONLY.")
      .meta({ discloses: "Branded content: you promote another brand or a third party" }),
    brandOrganic: z
      .boolean()
      .optional()
      .describe("It promotes the creator's own business.")
      .meta({ discloses: "Your brand: you promote yourself or your own business" }),
    aiGenerated: z.boolean().optional().describe("The video was made by AI."),
    coverMs: z
      .int()
      .min(0)
      .optional()
      .describe(
        "The moment of the video that is its cover, in milliseconds. Only for posts that everybody can see.",
      )
      .meta({ title: "Cover: moment in milliseconds" }),
    coverIndex: z
      .int()
      .min(0)
      .max(MAX_PHOTOS - 1)
      .optional()
      .describe("Which photo is the cover, from 0.")
      .meta({ title: "Cover: number of the photo" }),
    autoAddMusic: z
      .boolean()
      .optional()
      .describe("TikTok adds music to photos.")
      .meta({ title: "Add music" }),
  })
  .meta({
    agreements: [
      { title: "Branded Content Policy", url: `${TERMS}/bc-policy/en`, with: "brandContent" },
      { title: "Music Usage Confirmation", url: `${TERMS}/music-usage-confirmation/en` },
    ],
  });
export type TikTokMetadata = z.infer<typeof TikTokMetadata>;
export type TikTokPost = PlatformPost<TikTokMetadata>;

export function privacyOf({ privacyLevel, privacy: short }: TikTokMetadata): PrivacyLevel | null {
  return privacyLevel ?? short ?? null;
}

export function isInbox({ mode }: TikTokMetadata): boolean {
  return mode === "inbox";
}

const Granted = z.looseObject({ scopes: z.array(z.string()) });

/** Whether a permission was given; one of an account that was connected before they were kept counts as given. */
export function permissionsOf({ settings }: Pick<PlatformAccount, "settings">): (scope: string) => boolean {
  const granted = Granted.safeParse(settings).data?.scopes;
  return (scope) => granted?.includes(scope) ?? true;
}
