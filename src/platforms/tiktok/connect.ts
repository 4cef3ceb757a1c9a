import { plural } from "../../domain/text/plain-text.ts";
import { type Said, say } from "../../domain/sentences.ts";
import * as z from "zod";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { HOUR } from "../../domain/time.ts";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import {
  type JsonObject,
  type PlatformAccount,
  PlatformFault,
  type PlatformIo,
} from "../../ports/platform-io.ts";
import type {
  CheckResult,
  CheckedAt,
  Choice,
  Inspection,
  PlatformPreview,
  UnfinishedPost,
} from "../../ports/platform.ts";
import { callTikTok, callWith } from "./api.ts";
import { profileUrl } from "./live.ts";
import {
  isInbox,
  MAX_VIDEO_CAPTION,
  type PrivacyLevel,
  privacyOf,
  type TikTokMetadata,
  type TikTokPost,
} from "./metadata.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

const REVOKE_URL = "https://open.tiktokapis.com/v2/oauth/revoke/";

/** What the Content Posting API takes, and who the account is. */
const SCOPES = ["user.info.basic", "video.publish", "video.upload"];

/**
 * With those of the Display API, which new apps do not get any more. One that an app lacks refuses the whole
 * consent: https://github.com/trypostit/trypost/pull/315
 */
const DISPLAY_SCOPES = [
  "user.info.basic",
  "user.info.profile",
  "user.info.stats",
  "video.publish",
  "video.upload",
  "video.list",
];

const User = z.looseObject({
  user: z.looseObject({
    open_id: z.string().min(1),
    display_name: z.string().catch(""),
    avatar_url: z.string().catch(""),
    username: z.string().catch(""),
  }),
});

/** The account of the person who agreed. Fields of a permission that was not given are not asked for: it refuses them. */
async function targets({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const hasProfile = (scopes ?? SCOPES).includes("user.info.profile");
  const fields = ["open_id", "avatar_url", "display_name", ...(hasProfile ? ["username"] : [])];
  const call = { path: "/v2/user/info/", query: { fields: fields.join(",") }, kind: "repeatable" } as const;
  const { user } = await callWith(io, secrets, call, User);
  const { open_id: id, username, display_name: name, avatar_url: avatarUrl } = user;
  const handle = username === "" ? null : username;
  return [
    {
      platformAccountId: id,
      name: name === "" ? (handle ?? "TikTok") : name,
      handle,
      profileUrl: handle === null ? null : profileUrl(handle),
      avatarUrl: parseUrl(avatarUrl) === null ? null : avatarUrl,
      settings: scopes === null ? {} : { scopes: [...scopes] },
      secrets: {},
    },
  ];
}

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const { clientId, clientSecret } = io.app;
  await io.request({
    method: "POST",
    url: io.setting("REVOKE_URL") ?? REVOKE_URL,
    form: { client_key: clientId, client_secret: clientSecret, token: secrets["accessToken"] },
  });
}

export const CONSENT: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with TikTok",
  instructions: "Sign in to TikTok and leave all permissions ticked.",
  setup: {
    url: "https://developers.tiktok.com/apps/",
    needs: [
      "TikTok's audit of the app, for posts that others can see. TikTok grants it to no app for private use. Until then posts can only be SELF_ONLY, the account must be set to private, and at most 5 people may post in 24 hours.",
      "Without the audit, mode inbox works: the post waits as a draft, and a person finishes it in the TikTok app. At most 5 drafts may wait in 24 hours.",
    ],
    steps: [
      "Open https://developers.tiktok.com/apps/ and press Connect an app.",
      "Under Platforms, tick Web. Where the redirect address begins with http://, tick Desktop instead.",
      "Under Products, press Add products and add Login Kit.",
      "Enter {redirectUrl} as the redirect URI of Login Kit, in the field of that platform.",
      "Add the product Content Posting API.",
      "In it, turn Direct Post on.",
      "Under Scopes, add: {scopes}",
      "For photos, verify the domain of POSTHORN_PUBLIC_URL under URL properties. A bucket cannot replace it. Videos need none.",
      "Under Credentials, copy client key and client secret into POSTHORN_TIKTOK_CLIENT_ID and POSTHORN_TIKTOK_CLIENT_SECRET.",
    ],
    warnings: [
      "TikTok's audit asks for a video of how a post is made: from signing in, over Write on Posthorn's page with a TikTok channel, to the post on TikTok.",
      "The video shows what the audit asks for. Write shows all of it: the name of the TikTok account, who can see the post (nothing is chosen beforehand), comments, duets and stitches off until they are allowed, the switch for advertising, and the sentence on TikTok's Music Usage Confirmation.",
      "TikTok refuses the audit of apps that are only for your own use. For these, mode inbox is the better way.",
      `Numbers of posts and of the account come from TikTok's Display API, which apps registered in 2026 do not get. Only where the app has the Display API, add its scopes, set POSTHORN_TIKTOK_SCOPES to "${DISPLAY_SCOPES.join(" ")}" and connect again. One scope that the app lacks makes TikTok refuse the whole sign-in.`,
      "An account may make some 15 posts a day, from all apps together, and 6 a minute.",
      "Posts cannot be changed or deleted through the API.",
    ],
  },
  endpoints: {
    authorize: "https://www.tiktok.com/v2/auth/authorize/",
    token: "https://open.tiktokapis.com/v2/oauth/token/",
    revoke: REVOKE_URL,
  },
  scopes: SCOPES,
  neededScopes: ["user.info.basic", "video.publish"],
  scopeSeparator: ",",
  clientIdName: "client_key",
  // Login Kit for Web takes https alone, Login Kit for Desktop this computer's own addresses:
  // https://developers.tiktok.com/doc/login-kit-desktop
  redirect: "https-or-home",
  pkce: "hex-at-home",
  // https://developers.tiktok.com/doc/client-access-token-management
  tryApp: { grant: "client_credentials" },
  // A token lasts 24 hours; what renews it, 365 days, and may be another each time.
  renewal: { beforeMs: HOUR, isSingleUse: true },
  revoke,
  targets,
};

const CreatorInfo = z.looseObject({
  creator_avatar_url: z.string().catch(""),
  creator_username: z.string().catch(""),
  creator_nickname: z.string().catch(""),
  privacy_level_options: z.array(z.string()),
  comment_disabled: z.boolean().catch(false),
  duet_disabled: z.boolean().catch(false),
  stitch_disabled: z.boolean().catch(false),
  max_video_post_duration_sec: z.number().positive().nullable().catch(null),
});
export type CreatorInfo = z.infer<typeof CreatorInfo>;

/** What the account may do now; TikTok wants it asked before each post, as it changes. */
export function readCreator(
  io: PlatformIo,
  kind: "repeatable" | "numbers" = "repeatable",
): Promise<CreatorInfo> {
  const path = "/v2/post/publish/creator_info/query/";
  return callTikTok(io, { path, json: null, kind }, CreatorInfo);
}

const LABELS: Readonly<Record<PrivacyLevel, string>> = {
  PUBLIC_TO_EVERYONE: "Everyone",
  MUTUAL_FOLLOW_FRIENDS: "Friends (people who follow each other)",
  FOLLOWER_OF_CREATOR: "Followers",
  SELF_ONLY: "Only you",
};

export async function listPrivacyLevels(search: string, io: PlatformIo): Promise<Choice[]> {
  const { privacy_level_options: options } = await readCreator(io);
  const labels: Readonly<Record<string, string>> = LABELS;
  const choices = options.map((value) => ({ value, label: labels[value] ?? value }));
  const wanted = search.toLowerCase();
  return choices.filter(({ value, label }) => `${value} ${label}`.toLowerCase().includes(wanted));
}

/** Throws `invalid` for what the account may not do at this moment. */
export function assertAllowed(
  { privacy_level_options: options, max_video_post_duration_sec: maxSeconds }: CreatorInfo,
  { metadata, seconds }: { readonly metadata: TikTokMetadata; readonly seconds: number | null },
): void {
  const privacy = privacyOf(metadata);
  const reject = (field: string, sentence: string): never => {
    throw new PlatformFault("rejected", sentence, { field });
  };
  if (privacy === null || !options.includes(privacy))
    reject(
      "metadata.privacyLevel",
      `TikTok offers this account ${options.join(", ") || "nothing"} now. Choose one of them, then send the post again.`,
    );
  if (seconds !== null && maxSeconds !== null && seconds > maxSeconds)
    reject(
      "mediaUrl",
      `the video lasts ${plural(Math.round(seconds), "second")}, and this account may post at most ${maxSeconds}. Give a shorter one.`,
    );
}

const Limits = z.looseObject({
  maxSeconds: z.number().nullable().catch(null),
  privacyLevels: z.array(z.string()).catch([]),
});

/** What `inspect` found; empty lists and null before it. */
export function limitsOf({ limits }: Pick<PlatformAccount, "limits">): z.infer<typeof Limits> {
  return Limits.parse(limits);
}

const ONLY_DRAFTS =
  "The channel was connected without the permission video.publish, so only the mode inbox works. Reconnect it for posts that go out by themselves.";

/** A refusal to tell is what stands in the way; what passes is thrown. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  try {
    const info = await readCreator(io, "numbers");
    const limits: JsonObject = {
      maxSeconds: info.max_video_post_duration_sec,
      privacyLevels: info.privacy_level_options,
      commentDisabled: info.comment_disabled,
      duetDisabled: info.duet_disabled,
      stitchDisabled: info.stitch_disabled,
    };
    const { creator_nickname: name, creator_username: handle, creator_avatar_url: avatarUrl } = info;
    return {
      ...(name === "" ? {} : { name }),
      ...(handle === "" ? {} : { handle }),
      ...(parseUrl(avatarUrl) !== null ? { avatarUrl } : {}),
      limits,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    if (error.kind === "rejected" && error.httpStatus === 401) return { problem: ONLY_DRAFTS };
    if (["rejected", "setup", "rate"].includes(error.kind)) return { problem: error.message };
    throw error;
  }
}

type TypedMedia = Pick<MediaFigures, "type">;

const OF_VIDEOS = ["aiGenerated", "coverMs"] as const;
const OF_PHOTOS = ["title", "coverIndex", "autoAddMusic"] as const;

/** Rules that data cannot say. What TikTok offers the account may change until the post's time: it is told. */
export function checkPost(post: TikTokPost, { account, media }: CheckedAt): CheckResult {
  const { metadata } = post;
  const urls = [post.mediaUrl, ...(metadata.moreMedia ?? []).map(({ url }) => url)];
  const seen = urls.flatMap((url) => media.get(url) ?? []);
  const errors = [privacyProblem(post), coverProblem(post, urls.length), kindProblem(post, seen)];
  const warnings = [
    optionWarning(post, limitsOf(account).privacyLevels),
    coverWarning(post),
    inboxWarning(post, seen),
  ];
  const told = (texts: readonly (Said | null)[]): Said[] => texts.filter((text) => text !== null);
  return { errors: told(errors), warnings: told(warnings) };
}

function privacyProblem({ metadata }: TikTokPost): Said | null {
  const { privacyLevel, privacy: short } = metadata;
  const privacy = privacyOf(metadata);
  if (privacyLevel !== undefined && short !== undefined && privacyLevel !== short)
    return "metadata.privacy: is another name for privacyLevel, and the two differ. Leave one of them out.";
  if (isInbox(metadata)) return null;
  if (privacy === null)
    return say("TikTok asks the person to choose who can see the post.", {
      field: "metadata.privacyLevel",
      next: [{ do: "choose", field: "privacyLevel" }],
    });
  return privacy === "SELF_ONLY" && metadata.brandContent === true
    ? "metadata.brandContent: a paid partnership cannot be SELF_ONLY on TikTok. Choose another privacyLevel."
    : null;
}

function coverProblem({ metadata: { coverIndex } }: TikTokPost, count: number): string | null {
  return coverIndex !== undefined && coverIndex >= count
    ? `metadata.coverIndex: the post has ${count} photos, counted from 0. Give the number of one of them.`
    : null;
}

/** What does not go together with the kind of its media, as far as it is known. */
export function kindProblem(post: TikTokPost, seen: readonly TypedMedia[]): string | null {
  const { caption, metadata } = post;
  const hasFilm = seen.some(({ type }) => type === "video");
  const hasPhoto = seen.some(({ type }) => type === "image");
  if (hasFilm && (hasPhoto || (metadata.moreMedia ?? []).length > 0))
    return "metadata.moreMedia: a TikTok post shows one video, or photos. Leave the rest out.";
  const strange = hasFilm ? OF_PHOTOS : hasPhoto ? OF_VIDEOS : [];
  const field = strange.find((name) => metadata[name] !== undefined);
  if (field !== undefined)
    return `metadata.${field}: is only for ${hasFilm ? "photos" : "videos"} on TikTok. Leave it out.`;
  const length = (caption ?? "").length;
  return hasFilm && length > MAX_VIDEO_CAPTION
    ? `caption: has ${length} characters, and may have ${MAX_VIDEO_CAPTION} with a video on TikTok. Shorten it.`
    : null;
}

function optionWarning({ metadata }: TikTokPost, options: readonly string[]): string | null {
  const privacy = privacyOf(metadata);
  if (isInbox(metadata) || privacy === null || options.length === 0 || options.includes(privacy)) return null;
  return `metadata.privacyLevel: TikTok last offered this account ${options.join(", ")}. Posthorn asks again at the post's time. If that has not changed, TikTok refuses the post.`;
}

/** Seen, and not written down by TikTok: https://github.com/gitroomhq/postiz-app/pull/1989 */
function coverWarning({ metadata }: TikTokPost): string | null {
  if (metadata.coverMs === undefined) return null;
  if (isInbox(metadata)) return "metadata.coverMs: TikTok takes no cover with a draft. Choose it in the app.";
  return privacyOf(metadata) === "PUBLIC_TO_EVERYONE"
    ? null
    : "metadata.coverMs: TikTok uses it only for posts that everybody can see. This one may show the first frame.";
}

/** TikTok's inbox takes texts of photos alone; what is not seen yet is most likely a film. */
function takesText({ metadata }: UnfinishedPost<TikTokMetadata>, seen: readonly TypedMedia[]): boolean {
  const hasPhotos = (metadata.moreMedia ?? []).length > 0 || seen.some(({ type }) => type === "image");
  return hasPhotos || !isInbox(metadata);
}

export function preview(
  post: UnfinishedPost<TikTokMetadata>,
  { media }: Pick<CheckedAt, "media">,
): PlatformPreview {
  const first = media.get(post.mediaUrl);
  return {
    ...(takesText(post, first === undefined ? [] : [first]) ? {} : { body: null }),
    ...(isInbox(post.metadata) ? { note: "TikTok: a person finishes it in the app." } : {}),
  };
}

/** What the person decides who finishes the draft: https://github.com/gitroomhq/postiz-app/commit/75d9eef05 */
const NOT_OF_DRAFTS = [
  "aiGenerated",
  "brandContent",
  "brandOrganic",
  "disableComment",
  "disableDuet",
  "disableStitch",
  "autoAddMusic",
] as const;

function inboxWarning(post: TikTokPost, seen: readonly TypedMedia[]): string | null {
  if (!isInbox(post.metadata)) return null;
  const isText = (post.caption ?? "") !== "" && !takesText(post, seen);
  const set = NOT_OF_DRAFTS.filter((name) => post.metadata[name] === true).map((name) => `metadata.${name}`);
  const text = isText ? " TikTok takes no text with such a video. Enter the caption in the app." : "";
  const lost = set.length === 0 ? "" : ` TikTok drops ${set.join(", ")} with a draft. Set that in the app.`;
  return `metadata.mode: the post waits in TikTok's inbox at its time until a person finishes it in the TikTok app.${text}${lost}`;
}
