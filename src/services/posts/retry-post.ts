import { AppError } from "../../domain/errors.ts";
import type { PostRetry } from "../../domain/posts/post-body.ts";
import type { Post } from "../../domain/posts/post.ts";
import { conflictSentence } from "../../domain/posts/post-states.ts";
import type { PostRow } from "../../store/engine/schema.ts";
import { toPost, transition, type TransitionSet } from "../../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import { findAccount } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { requireFiles, type FileUse } from "../files/media-addresses.ts";
import { reconcileInDoubt } from "../publishing/reconcile.ts";
import { assertUsable, checkAddresses, checkContent, readScheduledAt } from "./post-draft.ts";
import { findOwnPost } from "./posts.ts";
import { applyPatch } from "./update-post.ts";

export interface Retried {
  readonly post: Post;
  /** Only of a retry with changes. */
  readonly warnings?: string[];
}

/** What a retry writes. */
interface Again {
  readonly set: Omit<TransitionSet, "run" | "updated_at">;
  readonly files: readonly FileUse[];
  readonly warnings?: string[];
}

/**
 * Sends a failed post again, with changes where some are given, at once or at `scheduledAt`. Where the last
 * outcome is unknown the platform is asked first: found there, it is published as it was sent; still unknown is
 * a `conflict` that says what to do.
 */
export async function retryPost(call: CallContext, input: PostRetry): Promise<Retried> {
  const { ctx, caller } = call;
  checkAddresses(ctx, input);
  readScheduledAt(ctx, input.scheduledAt);
  const row = await findOwnPost(ctx, caller, input.id);
  const isChanged = hasChanges(input);
  const again = isChanged ? await checkChanges(call, row, input) : await asItWas(call, row);
  if (row.in_doubt === 1) {
    const settled = await reconcileInDoubt(call, row);
    if (settled !== null) return settled;
  }
  // Settled as "did not happen", the step keeps its key and is sent with it. Another content needs a clean
  // ledger, and after a proven failure all begins anew.
  const run = row.in_doubt === 1 && !isChanged ? row.run : row.run + 1;
  const answer = await commitOnce(call, async (tx) => {
    await requireFiles(tx, caller, again.files);
    const set = { ...again.set, error: null, in_doubt: 0, tries: 0, run, updated_at: ctx.clock.now() };
    const retried = await transition(tx, { ownerId: caller.ownerId, id: row.id }, "retry", set);
    return { post: toPost(retried), ...(again.warnings === undefined ? {} : { warnings: again.warnings }) };
  });
  ctx.wakePublisher();
  return answer;
}

/** Whether something of the post is to be another, its time included. */
export function hasChanges({ id: _id, ...changes }: PostRetry): boolean {
  return Object.values(changes).some((value) => value !== undefined);
}

async function asItWas({ ctx, caller }: CallContext, row: PostRow): Promise<Again> {
  assertFailed(row);
  assertUsable(await findAccount(ctx, caller, row.account_id));
  const now = ctx.clock.now();
  return { set: { scheduled_at: now, due_at: now, next_at: now }, files: [] };
}

/** Checks the post as a new one; what is wrong with the form of a field comes before its state. */
export async function checkChanges(call: CallContext, row: PostRow, input: PostRetry): Promise<Again> {
  const { ctx, caller } = call;
  const { id: _id, ...patch } = input;
  const time = readScheduledAt(ctx, patch.scheduledAt);
  const account = await findAccount(ctx, caller, row.account_id);
  const form = await applyPatch(ctx, account, row, { ...patch, scheduledMs: time.ms });
  assertFailed(row);
  assertUsable(account);
  const checked = await checkContent(ctx, account, form, { caller, before: row, signal: call.signal });
  return {
    set: { ...checked.row, next_at: checked.row.due_at },
    files: checked.files,
    warnings: [...time.warnings, ...checked.warnings],
  };
}

function assertFailed({ status }: PostRow): void {
  if (status !== "failed") throw new AppError("conflict", conflictSentence("retry", status));
}
