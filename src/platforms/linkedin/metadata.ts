import * as z from "zod";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import { MENTION, plainMentions } from "../../domain/posts/mentions.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";

/** What an app with Share on LinkedIn and Sign In with LinkedIn using OpenID Connect has: any app at once. */
export const MEMBER_SCOPES: readonly string[] = ["openid", "profile", "w_member_social"];

/** What an app with the Community Management API has. LinkedIn lets that be an app's only product: no `openid`. */
export const PAGE_SCOPES: readonly string[] = [
  "r_basicprofile",
  "w_member_social",
  "w_member_social_feed",
  "r_member_postAnalytics",
  "w_organization_social",
  "w_organization_social_feed",
  "r_organization_social",
  "r_organization_social_feed",
  "rw_organization_admin",
];

const Kept = z.array(z.string()).catch([...MEMBER_SCOPES, "w_organization_social", "r_organization_social"]);

/**
 * Whether the person allowed it, as connecting kept it in `scopes`. A channel that was connected before they
 * were kept has what was asked for then.
 */
export function isAllowed({ settings }: Pick<PlatformAccount, "settings">, scope: string): boolean {
  return Kept.parse(settings["scopes"]).includes(scope);
}

export const MAX_TEXT = 3_000;
export const MAX_IMAGES = 20;
/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/documents-api */
export const MAX_DOCUMENT_PAGES = 300;
export const MAX_TITLE = 400;

const MAX_COMMENT = 1_250;
const MAX_QUESTION = 140;

/** Of polls, in hours: LinkedIn takes no other. */
export const POLL_DURATIONS: Readonly<Record<number, string>> = {
  24: "ONE_DAY",
  72: "THREE_DAYS",
  168: "SEVEN_DAYS",
  336: "FOURTEEN_DAYS",
};

const { title, description, link, altText, moreMedia, thumbnailUrl, firstComment, thread } = commonMetadata;

/** What a post on LinkedIn takes beside caption and media. */
export const LinkedInMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(MAX_TITLE)
    .optional()
    .describe(
      "Title of the link, the video or the document (default: its file's name), or the question of the poll.",
    ),
  description: description.describe("Text below the title of the link."),
  link: link.describe(
    "Address shown as a card, not with media. Title, description and picture are read from its page where they are not given.",
  ),
  thumbnailUrl: thumbnailUrl.describe("Picture of the link."),
  altText,
  moreMedia: z
    .array(moreMedia.unwrap().element)
    .max(MAX_DOCUMENT_PAGES - 1, fits(MAX_DOCUMENT_PAGES))
    .optional()
    .describe(`Up to ${MAX_IMAGES - 1} more pictures, or ${MAX_DOCUMENT_PAGES - 1} with asDocument.`),
  asDocument: z
    .boolean()
    .optional()
    .describe("True: the pictures become the pages of a PDF to leaf through, in their order. Needs a title.")
    .meta({ title: "Pictures as a PDF" }),
  audience: z
    .enum(["PUBLIC", "CONNECTIONS", "LOGGED_IN"])
    .optional()
    .describe("Who can see it. CONNECTIONS: only for members. Default: PUBLIC.")
    .meta({ title: "Who can see it" }),
  disableReshare: z
    .boolean()
    .optional()
    .describe("True: it cannot be shared on.")
    .meta({ title: "Turn reposts off" }),
  firstComment: firstComment
    .unwrap()
    .min(1)
    .max(MAX_COMMENT)
    .optional()
    .describe("A comment put under the post at once, if the channel's app may comment."),
  thread: z
    .array(
      thread
        .unwrap()
        .element.pick({ caption: true })
        .extend({ caption: z.string().min(1).max(MAX_COMMENT) }),
    )
    .max(25)
    .optional()
    .describe("More comments under the post, in order, after firstComment."),
  poll: pollWithin({
    maxOptions: 4,
    maxOptionLength: 30,
    minHours: 24,
    maxHours: 336,
    takesMultiple: false,
  }).describe(
    "A poll in place of media and link, open for 24, 72, 168 or 336 hours. The title asks, or the caption where there is none (140 characters).",
  ),
});
export type LinkedInMetadata = z.infer<typeof LinkedInMetadata>;
export type LinkedInPost = PlatformPost<LinkedInMetadata>;

/** Who speaks: a member, or a Page. */
export function authorOf({ settings, platformAccountId }: PlatformAccount): string {
  const author = z.string().safeParse(settings["urn"]);
  return author.success ? author.data : `urn:li:person:${platformAccountId ?? ""}`;
}

export function isPage(account: PlatformAccount): boolean {
  return authorOf(account).startsWith("urn:li:organization:");
}

/** Whether anything is brought to LinkedIn before the post. */
export function hasMedia({ mediaUrl, metadata }: LinkedInPost): boolean {
  return mediaUrl !== "" || metadata.thumbnailUrl !== undefined;
}

export function checkPost(post: LinkedInPost, at: CheckedAt): CheckResult {
  const errors = [...contentProblems(post, at), ...commentProblem(post, at.account)];
  return { errors, warnings: sizeWarning(at.media.get(post.mediaUrl)) };
}

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/videos-api */
const MIN_FILM_BYTES = 75_000;

function sizeWarning(film: Pick<MediaFigures, "type" | "sizeBytes"> | undefined): string[] {
  const isSmall = film?.type === "video" && film.sizeBytes < MIN_FILM_BYTES;
  return isSmall
    ? ["mediaUrl: is a video of less than 75 KB, which LinkedIn may refuse. To be sure, give a better one."]
    : [];
}

/** Those under the post, in order. */
export function commentsOf({ metadata: { firstComment, thread = [] } }: LinkedInPost): readonly string[] {
  return [...(firstComment === undefined ? [] : [firstComment]), ...thread.map(({ caption }) => caption)];
}

/** What the poll asks, and what stands above it. */
export function askedIn({ caption, metadata: { title } }: LinkedInPost): { question: string; text: string } {
  const text = caption ?? "";
  return title === undefined ? { question: plainMentions(text).trim(), text: "" } : { question: title, text };
}

function pollProblems(post: LinkedInPost): string[] {
  const { mediaUrl, metadata } = post;
  const { poll, link } = metadata;
  if (poll === undefined) return [];
  const { length } = [...askedIn(post).question];
  return [
    ...(mediaUrl !== "" || link !== undefined
      ? ["metadata.poll: a LinkedIn post shows a poll, media or a link. Leave all but one out."]
      : []),
    ...(POLL_DURATIONS[poll.hours] === undefined
      ? ["metadata.poll.hours: LinkedIn's polls are open for 24, 72, 168 or 336 hours. Give one of these."]
      : []),
    ...(length === 0 || length > MAX_QUESTION
      ? [
          `metadata.title: the question of a poll has 1 to ${MAX_QUESTION} characters, and this has ${length}. Give it as title, and what else there is to say as caption.`,
        ]
      : []),
  ];
}

/** Self-serve apps get 403 for a comment, also below a post of their own. */
function commentProblem(post: LinkedInPost, account: PlatformAccount): string[] {
  const scope = isPage(account) ? "w_organization_social_feed" : "w_member_social_feed";
  const comments = commentsOf(post);
  if (new Set(comments).size < comments.length)
    return ["metadata.thread: says the same twice. Change one of the comments."];
  const field = post.metadata.firstComment === undefined ? "thread" : "firstComment";
  return comments.length === 0 || isAllowed(account, scope)
    ? []
    : [
        `metadata.${field}: LinkedIn lets this channel write no comments, because it lacks the permission ${scope}. Leave it out, or connect the channel through an app with the Community Management API.`,
      ];
}

/** What makes a post impossible; asked once more when it goes out. */
export function contentProblems(
  post: LinkedInPost,
  { account, media }: Pick<CheckedAt, "account" | "media">,
): string[] {
  const { metadata, mediaUrl, caption } = post;
  const { link, moreMedia: more = [] } = metadata;
  const seen = [mediaUrl, ...more.map(({ url }) => url)].flatMap((url) => media.get(url) ?? []);
  return [
    ...(link !== undefined && mediaUrl !== ""
      ? [
          "metadata.link: LinkedIn shows a link or media, not both. Leave one of them out, or put the link into the caption.",
        ]
      : []),
    ...(link !== undefined && metadata.title === undefined
      ? ["metadata.title: is required with link, because its page told none. Give its title."]
      : []),
    ...(link === undefined && metadata.thumbnailUrl !== undefined
      ? ["metadata.thumbnailUrl: is the picture of a link, and there is no link. Leave it out."]
      : []),
    ...(mediaUrl === "" && link === undefined && (caption ?? "").trim() === ""
      ? ["caption: a LinkedIn post needs text, media or a link. Give one of them."]
      : []),
    ...(isPage(account) && metadata.audience === "CONNECTIONS"
      ? ["metadata.audience: a Page has no connections. Leave it out."]
      : []),
    ...(metadata.asDocument === true && (mediaUrl === "" || metadata.title === undefined)
      ? ["metadata.asDocument: makes a document of pictures, and needs them and a title. Give both."]
      : []),
    ...pollProblems(post),
    ...mixProblem(
      seen.map(({ type }) => type),
      metadata,
    ),
  ];
}

/** What does not go into one post. */
export function mixProblem(
  types: readonly string[],
  { moreMedia: more = [], asDocument = false }: LinkedInMetadata,
): string[] {
  const alone = types.find((type) => type === "video" || type === "document");
  if (alone === undefined) return [];
  if (asDocument)
    return [`metadata.asDocument: makes a document of pictures, and this is a ${alone}. Leave it out.`];
  return more.length > 0
    ? [`metadata.moreMedia: a LinkedIn post shows one ${alone}, or pictures. Leave the rest out.`]
    : [];
}

/**
 * Little text: what would be markup is escaped, or LinkedIn cuts the post where it does not understand it. A # in
 * front of a word stays, so that it is a hashtag.
 */
export function toLittleText(text: string): string {
  let written = "";
  let end = 0;
  for (const { 0: token, 1: name = "", 2: id = "", index } of text.matchAll(MENTION)) {
    written += escapeMarkup(text.slice(end, index));
    written += MENTIONED.test(id) ? `@[${escapeMarkup(name)}](${id})` : escapeMarkup(plainMentions(token));
    end = index + token.length;
  }
  return written + escapeMarkup(text.slice(end));
}

const MENTIONED = /^urn:li:(?:organization|person):[\w-]{1,40}$/;

function escapeMarkup(text: string): string {
  return text.replace(/[\\|{}@[\]()<>*_~]|#(?![\p{L}\p{N}])/gu, String.raw`\$&`);
}

/** The text alone, to compare by: LinkedIn gives hashtags back as templates, and may space otherwise. */
export function ofLittleText(commentary: string): string {
  return commentary
    .replace(/\{hashtag\|\\?#\|([^|}]*)\}/g, "#$1")
    .replace(/\\([\\|{}@[\]()<>#*_~])/g, "$1")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim();
}
