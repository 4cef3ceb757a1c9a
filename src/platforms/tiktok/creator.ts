import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { Choice, Inspection } from "../../ports/platform.ts";
import {
  PlatformFault,
  type JsonObject,
  type PlatformAccount,
  type PlatformIo,
} from "../../ports/platform-io.ts";
import { callTikTok } from "./api.ts";
import { privacyOf, type PrivacyLevel, type TikTokMetadata } from "./metadata.ts";

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
  io: Pick<PlatformIo, "ask" | "setting">,
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
  if (privacy === null || !options.includes(privacy)) {
    throw new PlatformFault(
      "rejected",
      `TikTok offers this account ${options.join(", ") || "nothing"} now. Choose one of them, then send the post again.`,
      { field: "metadata.privacyLevel" },
    );
  }
  if (seconds !== null && maxSeconds !== null && seconds > maxSeconds) {
    throw new PlatformFault(
      "rejected",
      `the video lasts ${Math.round(seconds)} seconds, and this account may post at most ${maxSeconds}. Give a shorter one.`,
      { field: "mediaUrl" },
    );
  }
}

const Limits = z.looseObject({
  maxSeconds: z.number().nullable().catch(null),
  privacyLevels: z.array(z.string()).catch([]),
});

/** What `inspect` found; empty lists and null before it. */
export function limitsOf({ limits }: Pick<PlatformAccount, "limits">): z.infer<typeof Limits> {
  return Limits.parse(limits);
}

const Granted = z.looseObject({ scopes: z.array(z.string()) });

/** Whether a permission was given; one of an account that was connected before they were kept counts as given. */
export function permissionsOf({ settings }: Pick<PlatformAccount, "settings">): (scope: string) => boolean {
  const granted = Granted.safeParse(settings).data?.scopes;
  return (scope) => granted?.includes(scope) ?? true;
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
