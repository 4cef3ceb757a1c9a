import { meantMoment } from "../domain/arguments/meant-times.ts";
import { plural } from "../domain/plain-text.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import type { PostInput } from "../domain/posts/post-body.ts";
import { hash } from "node:crypto";
import * as z from "zod";
import { commonMetadata } from "../domain/posts/common-metadata.ts";
import { isPaused, reconnectSentence } from "../domain/accounts/account.ts";
import { AppError } from "../domain/errors.ts";
import type { Metadata } from "../domain/posts/post.ts";
import { withUtm } from "../domain/posts/utm.ts";
import type { Caller } from "../domain/permissions.ts";
import { MINUTE, parseMoment, tellTime, toZoned, warnOfFar, warningsOf } from "../domain/time.ts";
import type { PostContentRow } from "../store/queries/posts.ts";
import type { PostRow, Tables } from "../store/schema/tables.ts";
import { findAccount, readUtm } from "../accounts/accounts.ts";
import { tellLimit } from "../accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { checkMediaAddress, findFileIds, placesOf } from "../files/media-places.ts";
import { checkPostMedia, resolveLiveMedia, type CheckedMedia } from "./post-media.ts";
import { type CheckedForm, type PostContent, contentOf } from "./post-form.ts";
import { warnOfQuotas } from "../publishing/quotas.ts";

interface CheckOptions {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The post as it stands: what it names already, a limited key may leave in it. */
  readonly before?: PostRow;
  /** The same of a draft's post that is not made yet. */
  readonly kept?: ReadonlySet<string> | undefined;
  /** A post that is on its platform has its media there; where they came from may be gone. */
  readonly isLive?: boolean;
}

/** How far in the past a time may lie and still mean now: clocks differ, agents are slow. */
const NOW_WINDOW_MS = 5 * MINUTE;

/**
 * The account a post is to go on. Throws `not_found` for a foreign one, `conflict` for one that must be
 * reconnected.
 */
export async function findUsableAccount(
  ctx: AppContext,
  caller: Caller,
  accountId: string,
): Promise<Tables["accounts"]> {
  const row = await findAccount(ctx, caller, accountId);
  assertUsable(row);
  return row;
}

/**
 * Throws `conflict` for a channel that was disconnected; on one that must be reconnected posts wait. A dry run
 * shows the post on either, with a warning.
 */
export function assertTakesPosts(row: Tables["accounts"], isDryRun: boolean): void {
  if (row.status === "disconnected" && !isDryRun) assertUsable(row);
}

/** Throws `conflict` for a channel that must be reconnected. */
export function assertUsable(row: Tables["accounts"]): void {
  if (row.status === "reconnect_required" || row.status === "disconnected") {
    throw new AppError("conflict", reconnectSentence(row, row.status_reason));
  }
}

/** Reads `scheduledAt`; none is now, and a moment in the last five minutes is now too. */
export function readScheduledAt(
  call: Pick<CallContext, "ctx" | "tellsZone">,
  text: string | undefined,
): { ms: number; warnings: string[] } {
  const { clock, settings } = call.ctx;
  const now = clock.now();
  if (text === undefined) return { ms: now, warnings: [] };
  const { timezone } = settings;
  const parsed = parseMoment("scheduledAt", text, timezone, meantMoment({ now, timezone }));
  const { ms } = parsed;
  if (ms < now - NOW_WINDOW_MS) {
    throw new AppError(
      "invalid",
      say(`${toZoned(ms, timezone)} is in the past. The server's time is ${toZoned(now, timezone)}.`, {
        field: "scheduledAt",
        next: [{ do: "give_time", isFuture: true }],
      }),
    );
  }
  const far = warnOfFar("scheduledAt", ms, { now, timezone });
  return { ms: Math.max(ms, now), warnings: [...warningsOf(call, parsed), ...far] };
}

/** `thumbnailUrl` in a body is a short form of `metadata.thumbnailUrl`; both and different is a mistake. */
export function foldThumbnail(input: PostInput): Metadata | null | undefined {
  if (input.thumbnailUrl === undefined) return input.metadata;
  const given = input.metadata?.["thumbnailUrl"];
  if (given !== undefined && given !== input.thumbnailUrl) {
    throw new AppError("invalid", "thumbnailUrl: differs from metadata.thumbnailUrl. Give one of the two.");
  }
  return { ...input.metadata, thumbnailUrl: input.thumbnailUrl };
}

/** With what the account adds to links. `label`: the post's first. */
export function withUtmOf<T extends Partial<Pick<PostInput, "caption" | "metadata">>>(
  account: Tables["accounts"],
  given: T,
  label = "",
): T {
  const utm = readUtm(account);
  return utm === null ? given : withUtm(given, { utm, provider: account.provider, label });
}

/** Addresses of media that every platform may have. */
export const COMMON = z.object(commonMetadata);

/**
 * The addresses that a caller gives, as far as their form tells; needs neither post nor platform. Throws
 * `invalid`.
 */
export function checkAddresses(ctx: AppContext, given: Pick<PostInput, "mediaUrl" | "metadata">): void {
  const content = { mediaUrl: given.mediaUrl ?? "", metadata: given.metadata ?? null };
  for (const { field, url } of placesOf({ metadata: COMMON }, content)) {
    if (url !== "") checkMediaAddress(ctx, field, url);
  }
}

/**
 * Looks at the media of a content and turns it into what is stored: ids of files become their addresses,
 * texts stay as they came. Throws `invalid` naming the field, `not_found` for a file that is not the owner's.
 */
export async function checkContent(
  ctx: AppContext,
  account: Tables["accounts"],
  { platform, capabilities, content, warnings }: CheckedForm,
  options: CheckOptions,
): Promise<Pick<CheckedMedia, "files"> & { readonly row: PostContentRow; readonly warnings: Said[] }> {
  const { mediaUrl, metadata } = content;
  const { caller, signal, before } = options;
  const kept =
    options.kept ??
    new Set(before === undefined ? [] : placesOf(platform, contentOf(before)).map(({ url }) => url));
  const check = { platform, capabilities, caller, mediaUrl, metadata, signal, kept };
  const media = options.isLive
    ? { ...(await resolveLiveMedia(ctx, check)), warnings: [] }
    : await checkPostMedia(ctx, check);
  const resolved = { ...content, mediaUrl: media.mediaUrl, metadata: media.metadata };
  const urls = placesOf(platform, resolved).map(({ url }) => url);
  const fileIds = await findFileIds(ctx, account.owner_id, urls);
  const row = toContentRow({ platform, capabilities }, resolved, fileIds);
  if (options.isLive === true) return { row, files: media.files, warnings: [] };
  const planned = { id: before?.id ?? null, at: row.scheduled_at, quotas: capabilities.quotas };
  return {
    row,
    files: media.files,
    warnings: [
      ...media.warnings,
      ...warnings,
      ...warnOfReconnect(account),
      ...(account.paused === 1 ? [`${isPaused(account)} ${tellLimit(ctx.settings)}`] : []),
      ...warnOfAccess(ctx, account, row.scheduled_at),
      ...(await warnOfQuotas(ctx, account, planned)),
      ...tellWhoPublishes({ platform, capabilities }, row, ctx.clock.now()),
    ],
  };
}

const UNTIL_THEN: Readonly<Partial<Record<Tables["accounts"]["status"], string>>> = {
  reconnect_required: "Until then the post waits.",
  disconnected: "Until then it takes no post.",
};

function warnOfReconnect(account: Tables["accounts"]): Said[] {
  const until = UNTIL_THEN[account.status];
  return until === undefined ? [] : [join(reconnectSentence(account, account.status_reason), until)];
}

/** One text in two spellings of Unicode is the same post. */
export function hashContent({ mediaUrl, caption, scheduledAt }: PostContent): string {
  return hash("sha256", JSON.stringify([mediaUrl, caption?.normalize("NFC") ?? null, scheduledAt]));
}

type On = Pick<CheckedForm, "platform" | "capabilities">;

function toContentRow(
  { platform, capabilities }: On,
  content: PostContent,
  fileIds: string | null,
): PostContentRow {
  const lead = (content.leadMinutes ?? capabilities.leadMinutes.default) * MINUTE;
  return {
    media_url: content.mediaUrl,
    caption: content.caption,
    metadata: content.metadata === null ? null : JSON.stringify(content.metadata),
    lead_minutes: content.leadMinutes,
    scheduled_at: content.scheduledAt,
    due_at: content.scheduledAt - lead,
    content_hash: hashContent(content),
    is_light: placesOf(platform, content).every(({ url }) => url === "") ? 1 : 0,
    file_ids: fileIds,
  };
}

/** What another time changes in a waiting post's row. */
export function movedTo(
  row: PostRow,
  scheduledAt: number,
): Pick<PostRow, "scheduled_at" | "due_at" | "next_at" | "content_hash"> {
  const due = row.due_at + scheduledAt - row.scheduled_at;
  const hash = hashContent({ ...contentOf(row), scheduledAt });
  return { scheduled_at: scheduledAt, due_at: due, next_at: due, content_hash: hash };
}

/** What is on the platform before its time goes live there though nothing of ours may be running. */
function tellWhoPublishes({ platform, capabilities }: On, row: PostContentRow, now: number): Said[] {
  const leadMinutes = (row.scheduled_at - row.due_at) / MINUTE;
  if (capabilities.scheduling !== "platform" || leadMinutes === 0 || row.scheduled_at <= now) return [];
  return [
    say(
      `From ${plural(leadMinutes, "minute")} before its time it is on ${platform.title}, still private. ${platform.title} publishes it by itself, even while Posthorn does not run.`,
      { next: [{ do: "take_down", postId: null }] },
    ),
  ];
}

/** What to say of a channel whose access is over by then. */
export function warnOfAccess(
  { settings }: AppContext,
  account: Tables["accounts"],
  scheduledAt: number,
): Said[] {
  const expires = account.access_ends_at;
  if (expires === null || expires > scheduledAt) return [];
  return [
    say(
      `The access to ${channelInFull(account)} ends on ${tellTime(expires, settings.timezone)}, before this post goes out. Reconnect it before then.`,
      { next: [{ do: "reconnect", provider: account.provider, accountId: account.id }] },
    ),
  ];
}
