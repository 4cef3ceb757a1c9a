import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { GatedOption, GateFacts, PlatformPost } from "../../ports/platform.ts";

export const MAX_DESCRIPTION = 5_000;
const MAX_TITLE = 128;

const { title, tags, language, visibility, thumbnailUrl } = commonMetadata;

const PAYING = "accounts on a paid plan";

/** What a video takes beside its file and its description, which is the caption. */
export const VimeoMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(MAX_TITLE)
    .optional()
    .describe("Title, max. 128 characters. Default: the caption's first line."),
  tags: tags
    .unwrap()
    .max(20)
    .optional()
    .describe(`${tags.description ?? ""} At most 20.`),
  visibility: visibility.describe(
    `Who can see it from its time on. Default public. unlisted is only for ${PAYING}.`,
  ),
  language: language.describe("Language of title and description."),
  thumbnailUrl: thumbnailUrl.describe("Thumbnail: JPEG or PNG, best in the video's shape."),
  license: z
    .enum(["by", "by-nc", "by-nc-nd", "by-nc-sa", "by-nd", "by-sa", "cc0"])
    .optional()
    .describe("Creative Commons license. Default none."),
  comments: z.enum(["enabled", "disabled"]).optional().describe("Whether people may comment."),
  embeddable: z.boolean().optional().describe("Whether other sites may embed it."),
  downloadEnabled: z.boolean().optional().describe(`Whether people may download it. Only for ${PAYING}.`),
});
export type VimeoMetadata = z.infer<typeof VimeoMetadata>;
export type VimeoPost = PlatformPost<VimeoMetadata>;
type VideoDetails = Pick<VimeoPost, "caption" | "metadata">;

/** `account` of https://developer.vimeo.com/api/reference/users, as `inspect` found it; "" before that. */
const UNPAID: readonly string[] = ["free", "basic"];

function pays({ account: { limits } }: GateFacts): boolean | null {
  const plan = limits["plan"];
  return typeof plan === "string" && plan !== "" ? !UNPAID.includes(plan) : null;
}

export const GATED: readonly GatedOption<keyof VimeoMetadata>[] = [
  {
    field: "visibility",
    values: ["unlisted"],
    who: PAYING,
    instead: "Choose public or private, or take a paid plan at Vimeo.",
    mayUse: pays,
  },
  {
    field: "downloadEnabled",
    who: PAYING,
    instead: "Leave it out, or take a paid plan at Vimeo.",
    mayUse: pays,
  },
];

/** Who sees a video, in Vimeo's words. */
export const VIEWS = { public: "anybody", unlisted: "unlisted", private: "nobody" } as const;

export function viewOf({ metadata }: Pick<VimeoPost, "metadata">): string {
  return VIEWS[metadata.visibility ?? "public"];
}

export function titleOf({ caption, metadata }: VideoDetails): string {
  const [line = ""] = (caption ?? "").trim().split("\n");
  return metadata.title ?? ([...line].slice(0, MAX_TITLE).join("") || "Untitled");
}

/** What is said of a video at first, apart from who sees it. */
export function fieldsOf(post: VideoDetails): JsonObject {
  const { license, language } = post.metadata;
  return {
    name: titleOf(post),
    ...(post.caption === null || post.caption === "" ? {} : { description: post.caption }),
    ...(license === undefined ? {} : { license }),
    ...(language === undefined ? {} : { locale: language }),
  };
}

export function privacyOf({ comments, embeddable, downloadEnabled }: VimeoMetadata): JsonObject {
  return {
    ...(comments === undefined ? {} : { comments: comments === "enabled" ? "anybody" : "nobody" }),
    ...(embeddable === undefined ? {} : { embed: embeddable ? "public" : "private" }),
    ...(downloadEnabled === undefined ? {} : { download: downloadEnabled }),
  };
}

/** Fields of a live video that can be changed: those of the video, and those of its privacy. */
export const EDITABLE = [
  "caption",
  "title",
  "language",
  "license",
  "visibility",
  "comments",
  "embeddable",
  "downloadEnabled",
] as const;
