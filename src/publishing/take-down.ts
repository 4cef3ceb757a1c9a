import { assertUsable } from "../domain/accounts/account.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { foundGone, isTakenDown, TRANSITIONS } from "../domain/posts/post-states.ts";
import { AppError } from "../domain/errors.ts";
import { fromStored, type Message, type Said, say, toStored } from "../domain/sentences.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import { deadline, formatTime, MINUTE, SECOND } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { toPost, transition, readMetadata } from "../store/queries/posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { commitOnce } from "../access/idempotency.ts";
import { withFullStop } from "../domain/text/plain-text.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { createPlatformIo } from "../channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "./publish-io.ts";
import { capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";
import type { AnyPlatform, PostInsights } from "../ports/platform.ts";
import {
  beginTakeDown,
  forgetError,
  holdPost,
  letGo,
  type HeldPost,
} from "../store/queries/publishing/held-posts.ts";
import { findAccount } from "../channels/accounts/accounts.ts";
import { openSteps } from "./follow-ups.ts";
import { holdOrRefuse, isWorkedOn } from "./reconcile.ts";

export function describeTakenDown({ platforms, settings }: AppContext, row: PostRow): string {
  const title = platforms.get(row.provider)?.title ?? row.provider;
  return `It was live, and was taken down on ${title} on ${formatTime(row.updated_at, settings.timezone)}.`;
}

/** A thread is deleted part by part. */
const REMOVE_TIMEOUT_MS = MINUTE;
/** Whether a live post is there still is asked for a better answer alone. */
const LOOK_TIMEOUT_MS = 10 * SECOND;

/** What a process that ends in the middle leaves on the post; both an answer and a refusal replace it. */
const BEGUN = "It was to be taken down, and the process ended before that was done. Take it down again.";

/** Whether there is something to delete on its platform. */
export function isOnPlatform({ status }: Pick<PostRow, "status">): boolean {
  return TRANSITIONS.take_down.from.some((from) => from === status);
}

/** Whether something can be done about a live post of its platform, for which its id is needed. */
export function canReach(ctx: AppContext, row: PostRow): boolean {
  const { edit, remove, insights, setThumbnail } = findPlatform(ctx, row.provider);
  return [edit, remove, insights, setThumbnail].some((way) => way !== undefined);
}

/** Why nothing can be done about a live post that was settled without its id there. */
export function describeNoPlace(ctx: AppContext, row: PostRow): Message {
  const { title } = findPlatform(ctx, row.provider);
  return say(
    `Its id on ${title} is not known, so it can be neither changed nor taken down there, nor asked about.`,
    { next: [{ do: "settle", postId: row.id, of: "place" }] },
  );
}

/** Throws `conflict` for a live post whose id on its platform is not known. */
export function assertPlace(ctx: AppContext, row: PostRow): void {
  if (row.status === "published" && row.platform_post_id === null)
    throw new AppError("conflict", describeNoPlace(ctx, row));
}

/** Whether live posts of the account can be deleted on its platform. */
export function canRemove(ctx: AppContext, account: AccountRow): boolean {
  const canFile = findPlatform(ctx, account.provider).remove !== undefined;
  return canFile && capabilitiesFor(ctx, account, null).removes !== false;
}

/** Throws `conflict` where that cannot be. */
export function assertRemovable(ctx: AppContext, row: PostRow, account: AccountRow): void {
  if (!canRemove(ctx, account)) {
    const { title, remove } = findPlatform(ctx, row.provider);
    const whose = remove === undefined ? "" : " of a channel that is connected in this way";
    throw new AppError(
      "conflict",
      `${title} lets no app delete a post${whose}. ${deleteByHand({ row, account })}`,
    );
  }
  assertUsable(account);
  assertPlace(ctx, row);
}

/**
 * Deletes an uploaded or a live post on its platform and cancels it. Once that is begun nothing that follows a
 * live post (a first comment, the rest of a thread) goes out any more. Throws `conflict` where the platform
 * cannot or does not; the post keeps the reason, and the same call may be made again. `told`: see `cancelPost`.
 */
export async function takeDown(
  call: CallContext,
  row: PostRow,
  told: readonly Said[] = [],
): Promise<{ post: SaidPost; warnings: Said[] }> {
  const { ctx, caller } = call;
  const platform = findPlatform(ctx, row.provider);
  const account = await findAccount(ctx, caller, row.account_id);
  assertRemovable(ctx, row, account);
  const held = await holdOrRefuse(ctx, row, (tx) =>
    row.status === "published"
      ? beginTakeDown(tx, row, { workerId: ctx.workerId, error: BEGUN, now: ctx.clock.now() })
      : holdPost(tx, row, ctx.workerId),
  );
  let answer: { post: SaidPost; warnings: Said[] };
  try {
    const { left: error, wasGone } = await remove(ctx, platform, held);
    answer = await commitOnce(call, async (tx) => {
      if (!(await letGo(tx, held))) throw isWorkedOn();
      const ended = { next_at: null, error, in_doubt: 0, updated_at: ctx.clock.now() };
      const set = wasGone ? { ...ended, warnings: JSON.stringify([foundGone(platform.title)]) } : ended;
      const gone = await transition(tx, { ownerId: row.owner_id, id: row.id }, "take_down", set);
      return { post: toPost(gone), warnings: [describeRemoval(ctx, gone, wasGone), ...told] };
    });
  } catch (error) {
    const refusal = explain(error, { platform, row, account });
    const note = refusal === null ? null : { error: toStored(refusal.said), now: ctx.clock.now() };
    await ctx.store.write((tx) => letGo(tx, held, note));
    throw refusal ?? error;
  }
  await ctx.media.release(row.id);
  return answer;
}

function describeRemoval(ctx: AppContext, row: PostRow, wasGone: boolean): string {
  const { title } = findPlatform(ctx, row.provider);
  if (wasGone) return foundGone(title);
  return isTakenDown(row) ? describeTakenDown(ctx, row) : `It was deleted on ${title} before it went live.`;
}

function deleteByHand({ row, account }: { row: PostRow; account: AccountRow }): string {
  const where = row.platform_url ?? account.profile_url;
  return where === null
    ? `A person deletes it on ${channelInFull(account)}.`
    : `A person deletes it at ${where}.`;
}

/** `left`: what is over in spite of it, in a sentence for the post; null: nothing. */
async function remove(
  ctx: AppContext,
  platform: AnyPlatform,
  held: HeldPost,
): Promise<{ readonly left: string | null; readonly wasGone: boolean }> {
  const { post: row, account } = held;
  const results = await readStepResults(ctx, row);
  const ioWithin = async (ms: number) => ({
    ...(await createPlatformIo(ctx, account, deadline(ms))),
    ...results,
  });
  const io = await ioWithin(REMOVE_TIMEOUT_MS);
  const post = toPlatformPost(platform, row);
  // The platform may have published it a moment ago: what people have seen is not taken back unasked.
  const isUploaded = row.status === "uploaded";
  const asked = isUploaded ? io : await ioWithin(LOOK_TIMEOUT_MS);
  const state = await askState(isUploaded, async () => platform.insights?.(post, asked));
  if (isUploaded && state === "live")
    throw new AppError(
      "conflict",
      `It went live on ${platform.title} a moment ago, so it was not deleted. Once it is shown as published, take it down again.`,
    );
  const left = (await platform.remove?.(post, io))?.left ?? null;
  const wasGone = state === "removed";
  const lost = openSteps(held.effects);
  const where = row.platform_url ?? account.profile_url ?? channelInFull(account);
  const doubt =
    lost.length === 0
      ? []
      : [`Whether a further part of it (${lost.join(", ")}) went out is not known. Look at ${where}.`];
  const told = [...(left === null ? [] : [left]), ...doubt];
  return { left: told.length === 0 ? null : `It was taken down. ${told.join(" ")}`, wasGone };
}

/** What its platform says of it first. Only of an uploaded post it must be known: nothing else holds up the removal. */
async function askState(
  isNeeded: boolean,
  ask: () => Promise<PostInsights | undefined>,
): Promise<PostInsights["state"] | undefined> {
  try {
    return (await ask())?.state;
  } catch (error) {
    if (isNeeded) throw error;
    return "unknown";
  }
}

/** The refusal that the caller gets and the post keeps; null for a bug of ours. */
function explain(
  error: unknown,
  at: { readonly platform: AnyPlatform; readonly row: PostRow; readonly account: AccountRow },
): AppError | null {
  if (error instanceof AppError) return error;
  const isLate = error instanceof Error && error.name === "TimeoutError";
  if (!isLate && !(error instanceof PlatformFault)) return null;
  const why = isLate ? `${at.platform.title} did not answer in time.` : error.message;
  const isUnknown = !(error instanceof PlatformFault) || !error.isNotDone;
  const stopped =
    at.row.next_at !== null && at.row.status === "published"
      ? " What was to follow it is not sent any more."
      : "";
  const said = `${notDeleted(at, isUnknown)} ${withFullStop(why)}${stopped} ${nextOf(at, isUnknown)}`;
  const next = isUnknown ? [{ do: "settle", postId: at.row.id, of: "presence" } as const] : [];
  return new AppError("conflict", say(said, { next }), { cause: error });
}

const LOST = "It is not known whether";

/** Whether a post was to be deleted and its platform's answer was lost. */
export function isLostDeletion({ status, error }: Pick<PostRow, "status" | "error">): boolean {
  return status !== "cancelled" && error !== null && LOST_DELETION.test(String(fromStored(error)));
}

/** The same, or it was begun and the process ended: what became of the deletion is to be seen on the platform. */
export function isDeletionOpen(row: Pick<PostRow, "status" | "error">): boolean {
  return row.error === BEGUN || isLostDeletion(row);
}

/** The post, which was seen live: it was not deleted. */
export async function forgetDeletion({ store }: AppContext, row: PostRow): Promise<PostRow> {
  if (!isLostDeletion(row)) return row;
  await store.write((tx) => forgetError(tx, row));
  return { ...row, error: null };
}

const LOST_DELETION = new RegExp(`^${LOST} (?:all of it|it) was deleted:`);

/** Only what has several parts can be gone in part. */
function notDeleted({ platform, row }: { platform: AnyPlatform; row: PostRow }, isUnknown: boolean): string {
  const parts = readMetadata(row)?.["thread"];
  const isThread = Array.isArray(parts) && parts.length > 0;
  if (isUnknown) return `${LOST} ${isThread ? "all of it" : "it"} was deleted:`;
  return isThread
    ? `${platform.title} did not delete all of it, and what is left is there still:`
    : `${platform.title} did not delete it, and it is there still:`;
}

function nextOf(at: { row: PostRow; account: AccountRow }, isUnknown: boolean): string {
  if (!isUnknown) return `Take it down again. ${deleteByHand(at)}`;
  const where = at.row.platform_url ?? at.account.profile_url ?? channelInFull(at.account);
  return `Look at ${where}. Where it is there still, take it down again.`;
}
