import * as z from "zod";
import { AppError } from "../errors.ts";
import { type Message, Said, say } from "../sentences.ts";
import { channelInFull } from "./channel-names.ts";
import { Schedule, Utm } from "./schedule.ts";

export const ACCOUNT_STATUSES = ["connected", "expiring", "reconnect_required", "disconnected"] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/**
 * How a doubtful outcome is reconciled: `server_key` the platform drops repeats of one key, `client_key` we
 * choose the record's key and can look it up, `session` a resumable upload is asked, `container` a prepared
 * container is asked, `list` the account's posts are listed and matched, `blind` a person decides.
 */
const RECONCILE_CLASSES = ["server_key", "client_key", "session", "container", "list", "blind"] as const;
export type ReconcileClass = (typeof RECONCILE_CLASSES)[number];

export const MEDIA_KINDS = ["image", "video", "audio", "document"] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

const MediaLimits = z.strictObject({
  kind: z.enum(MEDIA_KINDS),
  mimeTypes: z.array(z.string()),
  maxBytes: z.int().nullable(),
  maxSeconds: z.number().nullable(),
  minAspectRatio: z.number().nullable().describe("Width divided by height."),
  maxAspectRatio: z.number().nullable(),
  maxItems: z.int().describe("How many of this kind one post takes."),
  minSeconds: z.number().optional(),
  maxPages: z.int().optional(),
  minWidth: z.int().optional(),
  minHeight: z.int().optional(),
  maxWidth: z.int().optional().describe("Larger pictures are shrunk."),
  maxHeight: z.int().optional(),
  maxPixels: z.int().optional().describe("Width times height."),
  minFramesPerSecond: z.number().optional(),
  maxFramesPerSecond: z.number().optional(),
  videoCodecs: z.array(z.string()).optional().describe("As avc, hevc, vp9, av1. Left out: any."),
  audioCodecs: z.array(z.string()).optional(),
  animated: z.boolean().optional().describe("False: still pictures only."),
});
export type MediaLimits = z.infer<typeof MediaLimits>;

const Quota = z.strictObject({
  name: z.string(),
  max: z.int(),
  perMinutes: z.int(),
  from: z.string().describe("rolling, or the time zone of the midnight it begins at."),
  scope: z.enum(["account", "app"]),
});
export type Quota = z.infer<typeof Quota>;

/** What a channel, or a platform, can do, as callers see it; made of its data by `showCapabilities`. */
export const Capabilities = z
  .strictObject({
    media: z.strictObject({
      required: z.boolean().describe("False where the platform takes only text."),
      maxItems: z.int(),
      accepts: z.array(MediaLimits),
    }),
    caption: z.strictObject({
      maxLength: z.int().nullable(),
      unit: z.enum(["characters", "graphemes", "bytes", "utf16", "weighted"]),
      urlLength: z.int().optional().describe("What each address counts."),
      withMedia: z.int().optional().describe("maxLength beside media."),
    }),
    nativeScheduling: z.boolean().describe("The platform can hold a post privately until its time."),
    leadMinutes: z.strictObject({ min: z.int(), default: z.int(), max: z.int() }),
    thumbnail: z.strictObject({ set: z.boolean(), replaceAfterPublish: z.boolean() }),
    editPublished: z.strictObject({
      fields: z.array(z.string()).describe("caption and metadata keys. Empty: none."),
    }),
    analytics: z.strictObject({ account: z.array(z.string()), post: z.array(z.string()) }),
    reconciles: z.enum(RECONCILE_CLASSES),
    needsPublicMediaUrl: z.boolean(),
    remove: z
      .strictObject({ uploaded: z.boolean(), published: z.boolean() })
      .describe("Whether cancel_post with fromPlatform can delete a post there."),
    quotas: z.array(Quota).describe("How many posts in a time."),
  })
  .meta({ id: "Capabilities" });
export type Capabilities = z.infer<typeof Capabilities>;

/** A connected channel. Never holds a token. */
export const Account = z
  .strictObject({
    id: z.string(),
    provider: z.string(),
    name: z.string(),
    handle: z.string().nullable(),
    platformAccountId: z.string().nullable(),
    profileUrl: z.string().nullable(),
    avatarUrl: z.string().nullable(),
    status: z.enum(ACCOUNT_STATUSES),
    statusReason: Said.nullable(),
    tokenExpiresAt: z.iso.datetime().nullable(),
    scopes: z.array(z.string()),
    schedule: Schedule.nullable().describe("Slots that slot: next takes. Null: none."),
    utm: Utm.nullable().describe("Added to links."),
    capabilities: Capabilities,
    queuedCount: z.int().min(0).describe("Posts that wait on this account."),
    lastPublishedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Account" });
export type Account = z.infer<typeof Account>;

type InFull = Parameters<typeof channelInFull>[0];

/** Why a channel cannot be used now, for the error of a post: people read it, too, so it names no tool. */
export function mustReconnect(account: InFull, reason?: string | null): string {
  const why = reason === undefined || reason === null ? "" : ` ${reason}`;
  return `${capitalized(channelInFull(account))}${MUST_RECONNECT}${why}`;
}

/** Why nothing of a channel goes out that a person paused, in the same way. */
export function isPaused(account: InFull): string {
  return `${capitalized(channelInFull(account))}${PAUSED} until the channel is resumed.`;
}

const MUST_RECONNECT = " must be reconnected first.";
const PAUSED = " is paused, so the post waits";

/** What keeps a channel's posts back until a person lets them go. */
interface Holding extends InFull {
  readonly paused: number;
  readonly status: AccountStatus;
  readonly status_reason: string | null;
}

/** Whether nothing can be sent before a person connects it again. */
export function isCut({ status }: { readonly status: AccountStatus }): boolean {
  return status === "disconnected" || status === "reconnect_required";
}

/** Why nothing of a channel goes out before a person acts, all of it. Null: it can be used. */
export function whyHeld(account: Holding): string | null {
  if (account.paused === 0) return isCut(account) ? mustReconnect(account, account.status_reason) : null;
  const reason = account.status_reason === null ? "" : ` ${account.status_reason}`;
  return isCut(account) ? `${isPaused(account)} It${MUST_RECONNECT}${reason}` : isPaused(account);
}

const AT_EARLIEST = " at the earliest.";

/** When a channel that has to wait sends something again. */
export function atEarliest(what: string, when: string): string {
  return `${what} on ${when}${AT_EARLIEST}`;
}

/** The state of a channel that a warning tells of, which may be another by now. Null: it tells of something else. */
export function toldState(warning: string): "paused" | "reconnect" | "waits" | null {
  if (warning.includes(PAUSED)) return "paused";
  if (warning.includes(AT_EARLIEST)) return "waits";
  return warning.includes(MUST_RECONNECT) ? "reconnect" : null;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `mustReconnect` with the next step, for a refused call. */
export function reconnectSentence(account: InFull & { id: string }, reason?: string | null): Message {
  const { provider, id: accountId } = account;
  return say(mustReconnect(account, reason), { next: [{ do: "reconnect", provider, accountId }] });
}

/** Throws `conflict` for a channel that must be reconnected. */
export function assertUsable(
  account: InFull & {
    readonly id: string;
    readonly status: AccountStatus;
    readonly status_reason: string | null;
  },
): void {
  if (isCut(account)) throw new AppError("conflict", reconnectSentence(account, account.status_reason));
}

/**
 * The same for one that was disconnected alone: on one that must be reconnected posts wait. A dry run shows the post on
 * either, with a warning.
 */
export function assertTakesPosts(account: Parameters<typeof assertUsable>[0], isDryRun: boolean): void {
  if (account.status === "disconnected" && !isDryRun) assertUsable(account);
}
