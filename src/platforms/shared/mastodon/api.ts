import * as z from "zod";
import { commonMetadata, pollWithin } from "../../../domain/posts/common-metadata.ts";
import { PlatformFault, type PlatformResponse } from "../../../ports/platform-io.ts";
import { Id } from "../../../ports/platform-values.ts";
import type { PlatformPost } from "../../../ports/platform.ts";
import { byCode, type Code, type FaultTable, TOO_LARGE_FILE } from "../faults.ts";
import { restApi } from "../rest-api.ts";
import { serverOf } from "../servers.ts";

/** Not there, or not there any more. */
const GONE = [404, 410];

export function isGone(error: unknown): error is PlatformFault {
  return error instanceof PlatformFault && GONE.includes(error.httpStatus ?? 0);
}

export const {
  ask: own,
  askOrGone: ownOrGone,
  askWith,
} = restApi({
  base: serverOf,
  headers: () => ({ accept: "application/json" }),
  // snac closes connections that it seems to keep.
  freshConnections: true,
  gone: [{ status: GONE }],
  faults: () => FAULTS,
});

const Words = z.looseObject({ error: z.string(), error_description: z.string().catch("") });
const Unfit = z.looseObject({ message: z.string(), errors: z.looseObject({}) });

/** Pixelfed answers 500 to what its framework throws: an unknown token, a row that is not there, an unfit field. */
function asUsual(response: PlatformResponse): PlatformResponse {
  const { status, json } = response;
  const unfit = Unfit.safeParse(json);
  if (unfit.success && status >= 400) {
    return { ...response, status: status >= 500 ? 422 : status, json: { error: unfit.data.message } };
  }
  const error = status === 500 ? (Words.safeParse(json).data?.error ?? "") : "";
  if (error.startsWith("Unauthenticated")) return { ...response, status: 403 };
  return error.startsWith("No query results for model") ? { ...response, status: 404 } : response;
}

/** Servers name their errors only in sentences, mostly Mastodon's own. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/^Unauthenticated/, "no_token"],
  [/scope/i, "scope"],
  [/login is|confirmed e-?mail|account (is |has been )?(suspended|disabled)/i, "closed"],
  // A post has the media already: the first sending came through.
  [/idempotency|invalid media.?ids?/i, "used_key"],
  [/finished processing|not ready/i, "not_ready"],
  [/processing/i, "unusable"],
  [/character limit|too long|exceeds? the (character|text)|status .{0,60}not be greater/i, "too_long"],
  [/attach more than|too many (attach|media|files)/i, "too_many"],
  [/attach a video|multiple videos/i, "mixed"],
  [/empty status|can't be blank|no content/i, "empty"],
  [/content type|unsupported|file type|mime/i, "file_type"],
  [/media ids .{0,60}more than/i, "too_many"],
  [/file size|account size|file .{0,60}not be greater|too large|must be less than|too big/i, "too_large"],
];

function codesOf({ status, json }: PlatformResponse): Code[] {
  const words = Words.safeParse(json);
  if (status < 400 || status >= 500 || !words.success) return [];
  const text = `${words.data.error} ${words.data.error_description}`;
  return CODES.flatMap(([pattern, code]) => (pattern.test(text) ? [code] : []));
}

const FAULTS: FaultTable = {
  title: "The server",
  asUsual,
  codesOf,
  rules: [
    ...byCode(
      { status: 403, kind: "auth" },
      {
        no_token: "The server does not know the channel's token any more.",
        scope: "The channel's token may not do this. Reconnect it and allow everything that is asked for.",
        closed:
          "The server has disabled this account, or has not let it in yet. Settle that with the server first.",
      },
    ),
    {
      status: [400, 409, 422],
      code: "used_key",
      kind: "ambiguous",
      isNotDone: false,
      message: "The server already received this post, so it may be there.",
    },
    {
      status: 422,
      code: "not_ready",
      kind: "transient",
      isNotDone: true,
      message: "The server is still working on the media.",
    },
    ...byCode(
      { status: 422, kind: "rejected", field: "mediaUrl" },
      { unusable: "the server could not use the file. Give another one, then send the post again." },
    ),
    ...byCode(
      { status: 422, kind: "rejected", field: "caption" },
      { too_long: "is longer than this server takes. Shorten it, then send the post again." },
    ),
    ...byCode(
      { status: 422, kind: "rejected", field: "metadata.moreMedia" },
      {
        too_many:
          "gives more media than this server takes in a post. Leave some out, then send the post again.",
        mixed:
          "a post takes either pictures or one video or sound. Leave the rest out, then send the post again.",
      },
    ),
    {
      status: [403, 422],
      code: "empty",
      kind: "rejected",
      message:
        "The server takes no post like this without text, or without media. Add what is missing, then send the post again.",
    },
    {
      status: [400, 415, 422],
      code: "file_type",
      kind: "rejected",
      field: "mediaUrl",
      message:
        "the server does not take files of this type. Give a JPEG, PNG or MP4, then send the post again.",
    },
    { ...TOO_LARGE_FILE, status: [400, 422], code: "too_large" },
    TOO_LARGE_FILE,
    {
      status: 403,
      kind: "rejected",
      message: "The server does not let this account do that. Its own pages may say why.",
    },
    {
      status: GONE,
      kind: "rejected",
      message: "The server does not have, or no longer has, what was asked for.",
    },
    {
      status: [400, 422],
      kind: "rejected",
      message: "The server refused the request. Change the post, then send it again.",
    },
  ],
};

const Address = z.url({ protocol: /^https?$/ }).max(2_000);
const Count = z.int().min(0).optional().catch(undefined);

/** https://docs.joinmastodon.org/entities/MediaAttachment */
export const Attachment = z.looseObject({
  id: Id,
  type: z.string().catch("unknown"),
  url: z.string().nullish(),
});

/** https://docs.joinmastodon.org/entities/Status */
export const Status = z.looseObject({
  id: Id,
  url: Address.nullable().catch(null),
  created_at: z.string().catch(""),
  content: z.string().catch(""),
  spoiler_text: z.string().catch(""),
  visibility: z.string().nullable().catch(null),
  sensitive: z.boolean().catch(false),
  in_reply_to_id: Id.nullable().catch(null),
  reblog: z.unknown().optional(),
  media_attachments: z.array(Attachment).catch([]),
  favourites_count: Count,
  replies_count: Count,
  reblogs_count: Count,
  quotes_count: Count,
  poll: z
    .looseObject({ options: z.array(z.looseObject({ title: z.string() })), expires_at: z.string().nullish() })
    .nullish()
    .catch(null),
});
export type Status = z.infer<typeof Status>;

/** https://docs.joinmastodon.org/entities/Account */
export const Account = z.looseObject({
  id: Id,
  username: z.string(),
  display_name: z.string().catch(""),
  url: Address.nullable().catch(null),
  avatar: Address.nullable().catch(null),
  followers_count: Count,
});

/** Whose token it is. */
export const ME = { path: "/api/v1/accounts/verify_credentials" } as const;

const { altText, moreMedia, language, visibility, sensitive, spoilerText, thread, thumbnailUrl } =
  commonMetadata;

const Coordinate = z.number().min(-1).max(1);

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
  poll: pollWithin({
    maxOptions: 20,
    maxOptionLength: 200,
    minHours: 5 / 60,
    maxHours: 8_784,
    takesMultiple: true,
  }).describe(
    "A poll in place of media. The caption asks. The server sets how many answers (mostly 4 of 50 characters).",
  ),
  quote: z
    .string()
    .max(2_000)
    .optional()
    .describe(
      "A post to show below the text (Mastodon 4.5): its id, or its address as the channel's own server shows it.",
    ),
  focus: z
    .strictObject({
      x: Coordinate.describe("-1 is left, 1 is right."),
      y: Coordinate.describe("-1 is below, 1 is above."),
    })
    .optional()
    .describe("What must stay in sight of the first picture or video where it is cut."),
});
export type MastodonMetadata = z.infer<typeof MastodonMetadata>;
export type MastodonPost = PlatformPost<MastodonMetadata>;
