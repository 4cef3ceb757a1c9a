import { deadline, MINUTE } from "../domain/time.ts";
import { AppError } from "../domain/errors.ts";
import type { Post } from "../domain/posts/post.ts";
import { TRANSITIONS } from "../domain/posts/post-states.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { PostRow } from "../store/engine/schema.ts";
import { beginTakeDown, type HeldPost, holdPost, letGo } from "../store/queries/publishing/held-posts.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { toPost, transition } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import { findAccount } from "../accounts/accounts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { createPlatformIo } from "../connecting/account-io.ts";
import { openSteps } from "../publishing/follow-ups.ts";
import { readStepResults, toPlatformPost } from "../publishing/publish-io.ts";
import { holdOrRefuse, isWorkedOn } from "../publishing/reconcile.ts";
import { assertUsable } from "./post-draft.ts";
import { findPlatform } from "../platform-io/ways.ts";

/** A thread is deleted part by part. */
const REMOVE_TIMEOUT_MS = MINUTE;

/** What a process that ends in the middle leaves on the post; both an answer and a refusal replace it. */
const BEGUN = "It was to be taken down, and the process ended before that was done. Take it down again.";

/** Whether there is something to delete on its platform. */
export function isOnPlatform({ status }: Pick<PostRow, "status">): boolean {
  return TRANSITIONS.take_down.from.some((from) => from === status);
}

/**
 * Deletes an uploaded or a live post on its platform and cancels it. Once that is begun nothing that follows a
 * live post (a first comment, the rest of a thread) goes out any more. Throws `conflict` where the platform
 * cannot or does not; the post keeps the reason, and the same call may be made again.
 */
export async function takeDown(call: CallContext, row: PostRow): Promise<{ post: Post }> {
  const { ctx, caller } = call;
  const platform = findPlatform(ctx, row.provider);
  const account = await findAccount(ctx, caller, row.account_id);
  assertRemovable(platform, { row, account });
  assertUsable(account);
  const held = await holdOrRefuse(ctx, row, (tx) =>
    row.status === "published"
      ? beginTakeDown(tx, row, { workerId: ctx.workerId, error: BEGUN, now: ctx.clock.now() })
      : holdPost(tx, row, ctx.workerId),
  );
  let answer: { post: Post };
  try {
    const error = await remove(ctx, platform, held);
    answer = await commitOnce(call, async (tx) => {
      if (!(await letGo(tx, held))) throw isWorkedOn();
      const set = { next_at: null, error, in_doubt: 0, updated_at: ctx.clock.now() };
      const gone = await transition(tx, { ownerId: row.owner_id, id: row.id }, "take_down", set);
      return { post: toPost(gone) };
    });
  } catch (error) {
    const refusal = explain(error, { platform, row, account });
    const note = refusal === null ? null : { error: refusal.message, now: ctx.clock.now() };
    await ctx.store.write((tx) => letGo(tx, held, note));
    throw refusal ?? error;
  }
  await ctx.media.release(row.id);
  return answer;
}

/** Throws `conflict` with the address where a person deletes it, for a platform that lets no app do it. */
function assertRemovable(
  platform: AnyPlatform,
  at: { readonly row: PostRow; readonly account: AccountRow },
): void {
  if (platform.remove !== undefined) return;
  throw new AppError("conflict", `${platform.title} lets no app delete a post. ${deleteByHand(at)}`);
}

function deleteByHand({ row, account }: { row: PostRow; account: AccountRow }): string {
  const where = row.platform_url ?? account.profile_url;
  return where === null
    ? `A person deletes it on the channel "${account.name}".`
    : `A person deletes it at ${where}.`;
}

/** What is left over in spite of it, in a sentence for the post; null: nothing. */
async function remove(ctx: AppContext, platform: AnyPlatform, held: HeldPost): Promise<string | null> {
  const { post: row, account } = held;
  const signal = deadline(REMOVE_TIMEOUT_MS);
  const io = { ...(await createPlatformIo(ctx, account, signal)), ...(await readStepResults(ctx, row)) };
  const post = toPlatformPost(platform, row);
  // The platform may have published it a moment ago: what people have seen is not taken back unasked.
  const isUploaded = row.status === "uploaded";
  if (isUploaded && (await platform.insights?.(post, io))?.state === "live") throw wentLive(platform.title);
  const left = (await platform.remove?.(post, io))?.left ?? null;
  const lost = openSteps(held.effects);
  const where = row.platform_url ?? account.profile_url ?? `the channel "${account.name}"`;
  const doubt =
    lost.length === 0
      ? []
      : [`Whether a further part of it (${lost.join(", ")}) went out is not known. Look at ${where}.`];
  const told = [...(left === null ? [] : [left]), ...doubt];
  return told.length === 0 ? null : `It was taken down. ${told.join(" ")}`;
}

function wentLive(title: string): AppError {
  return new AppError(
    "conflict",
    `It went live on ${title} a moment ago, so it was not deleted. Once it is shown as published, take it down again.`,
  );
}

/** The refusal that the caller gets and the post keeps; null for a bug of ours. */
function explain(
  error: unknown,
  at: { readonly platform: AnyPlatform; readonly row: PostRow; readonly account: AccountRow },
): AppError | null {
  if (error instanceof AppError) return error;
  const isLate = error instanceof Error && error.name === "TimeoutError";
  if (!isLate && !(error instanceof PlatformFault)) return null;
  const why = isLate ? "it did not answer in time." : error.message;
  const stopped =
    at.row.next_at !== null && at.row.status === "published"
      ? " What was to follow it is not sent any more."
      : "";
  return new AppError(
    "conflict",
    `${at.platform.title} did not delete the whole post: ${why} What is left of it is there still.${stopped} Take it down again. ${deleteByHand(at)}`,
    { cause: error },
  );
}
