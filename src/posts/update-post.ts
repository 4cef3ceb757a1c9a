import { isDeepStrictEqual } from "node:util";
import type { PostChange, PostInput, PostRetry } from "../domain/posts/post-body.ts";
import { fromStored, join, type Said } from "../domain/sentences.ts";
import { withLinkCard } from "./link-cards.ts";
import { AppError, nothingToChange } from "../domain/errors.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { conflictSentence } from "../domain/posts/post-states.ts";
import type { Tx } from "../store/engine/store.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { hasEffects, readMetadata, toPost, transition, type TransitionSet } from "../store/queries/posts.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { findAccount } from "../accounts/accounts.ts";
import { findPlan, labelsOf } from "../store/queries/plans.ts";
import { lockPost } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import {
  assertTakesPosts,
  assertUsable,
  checkAddresses,
  checkContent,
  foldThumbnail,
  readScheduledAt,
  withUtmOf,
} from "./post-checks.ts";
import { warnOfDoubles } from "./doubles.ts";
import { type CheckedForm, checkForm, contentOf, mergeMetadata } from "./post-form.ts";
import { previewPost } from "./preview.ts";
import { type FileUse, requireFiles } from "../files/media-places.ts";
import { findOwnPost } from "./posts.ts";
import { reconcileInDoubt } from "../publishing/reconcile.ts";
import { findPlatform } from "../platform-io/set-up.ts";

interface ChangedPost {
  readonly post: SaidPost;
  readonly warnings: Said[];
  /** Only of what is only shown. */
  readonly dryRun?: true;
  readonly preview?: Preview;
}

/** Said of a change to what the post says already. */
export const NOTHING_CHANGED = "Nothing changed: the post is so already.";

/** A change that raced with another one is checked again on the newer content, this often. */
const MAX_ROUNDS = 5;

/**
 * Changes a post that still waits, or with `dryRun` only shows it as it would be. After the answer only the new version goes out. Throws `invalid` for an
 * empty change, `not_found`, and `conflict` when the post does not wait any more.
 */
export async function updatePost(call: CallContext, input: PostChange): Promise<ChangedPost> {
  const { ctx, caller } = call;
  const { id, dryRun = false, ...patch } = input;
  if (!dryRun && Object.values(patch).every((value) => value === undefined)) {
    throw nothingToChange(
      "Give one of scheduledAt, mediaUrl, caption, metadata, leadMinutes, thumbnailUrl.",
      call.leftEmpty,
    );
  }
  const time = patch.scheduledAt === undefined ? null : readScheduledAt(call, patch.scheduledAt);
  const metadata = foldThumbnail(patch);
  checkAddresses(ctx, { ...patch, metadata });
  return untilUnchanged("The post is", async () => {
    const before = await findOwnPost(ctx, caller, id);
    const account = await findAccount(ctx, caller, before.account_id);
    const form = await applyPatch(ctx, account, before, {
      ...patch,
      metadata,
      scheduledMs: time?.ms ?? before.scheduled_at,
    });
    if (before.status !== "scheduled") throw new AppError("conflict", conflictSentence("edit", before));
    assertTakesPosts(account, dryRun);
    const checked = await checkContent(ctx, account, form, { caller, before, signal: call.signal });
    const set = {
      ...checked.row,
      next_at: checked.row.due_at,
      error: null,
      tries: 0,
      updated_at: ctx.clock.now(),
    };
    const changed = { ...before, ...checked.row };
    const doubles = await warnOfDoubles(ctx, changed, { isDone: !dryRun });
    const warnings = [
      ...sayIfSame(patch, before, changed),
      ...(time?.warnings ?? []),
      ...checked.warnings,
      ...doubles,
    ];
    if (dryRun) return { post: toPost(changed), warnings, ...(await showDryRun(ctx, account, changed)) };
    const answer = await commitOnce(call, async (tx) => {
      await requireFiles(tx, caller, checked.files);
      const at = { ownerId: before.owner_id, id: before.id };
      const row = await writeIfUnchanged(tx, before, (run) => transition(tx, at, "edit", { ...set, run }));
      return { post: toPost(row), warnings };
    });
    ctx.wakePublisher();
    return answer;
  });
}

/** A dry run may be asked for without a change. */
function sayIfSame(patch: PostInput, before: PostRow, after: PostRow): string[] {
  const isAsked = Object.values(patch).some((value) => value !== undefined);
  return isAsked && CONTENT.every((column) => after[column] === before[column]) ? [NOTHING_CHANGED] : [];
}

/** What only a dry run answers. */
async function showDryRun(
  ctx: AppContext,
  account: AccountRow,
  row: PostRow,
): Promise<{ dryRun: true; preview: Preview }> {
  return { dryRun: true, preview: await previewPost(ctx, account, contentOf(row)) };
}

/** The content that a change makes, with its form checked. */
async function applyPatch(
  ctx: AppContext,
  account: AccountRow,
  before: PostRow,
  patch: PostInput & { readonly scheduledMs: number },
): Promise<CheckedForm> {
  const platform = findPlatform(ctx, before.provider);
  const current = readMetadata(before);
  const { caption, metadata } = withUtmOf(
    account,
    { caption: patch.caption, metadata: patch.metadata },
    labelsOf((await findPlan(ctx.store, before.id)) ?? { labels: "[]" })[0],
  );
  const merged = metadata === undefined ? current : mergeMetadata(platform, current, metadata);
  const carded =
    metadata === undefined ? { metadata: merged, warnings: [] } : await withLinkCard(ctx, platform, merged);
  const form = await checkForm(ctx, account, {
    scheduledAt: patch.scheduledMs,
    mediaUrl: patch.mediaUrl ?? before.media_url,
    caption: caption === undefined ? before.caption : caption,
    metadata: carded.metadata,
    leadMinutes: patch.leadMinutes === undefined ? before.lead_minutes : patch.leadMinutes,
  });
  return { ...form, warnings: [...carded.warnings, ...form.warnings] };
}

/** Another call changed the content after it was read: a merge would lose that change. */
class ChangedMeanwhile extends Error {}

/** Works anew on what others changed meanwhile. Throws `conflict` where they do so again and again. */
export async function untilUnchanged<T>(what: string, work: () => Promise<T>): Promise<T> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
  throw new AppError(
    "conflict",
    `${what} being changed by others at the same time, and nothing was changed. Try again.`,
  );
}

/**
 * Writes a waiting post that is still as it was read. `write` gets the run that
 * another content goes out in.
 */
export async function writeIfUnchanged(
  tx: Tx,
  before: PostRow,
  write: (run: number) => Promise<PostRow>,
): Promise<PostRow> {
  const now = await lockPost(tx, before.owner_id, before.id);
  if (now?.status === "scheduled" && CONTENT.some((column) => now[column] !== before[column]))
    throw new ChangedMeanwhile();
  // What an earlier try prepared belongs to the old content: the new one starts with a clean ledger.
  return write((await hasEffects(tx, before)) ? before.run + 1 : before.run);
}

const CONTENT = ["media_url", "caption", "metadata", "lead_minutes", "scheduled_at"] as const;

/** What a retry writes; warnings only of one with changes. */
interface Again {
  readonly account: AccountRow;
  readonly set: Omit<TransitionSet, "run" | "updated_at">;
  readonly files: readonly FileUse[];
  readonly warnings?: Said[];
}

/**
 * Sends a failed post again, with changes where some are given, at once or at `scheduledAt`. Where the last
 * outcome is unknown the platform is asked first: found there, it is published as it was sent; still unknown is
 * a `conflict` that says what to do.
 */
export async function retryPost(
  call: CallContext,
  input: PostRetry,
): Promise<Omit<ChangedPost, "warnings"> & { warnings?: Said[] }> {
  const { ctx, caller } = call;
  checkAddresses(ctx, input);
  readScheduledAt(call, input.scheduledAt);
  const row = await findOwnPost(ctx, caller, input.id);
  const isChanged = hasChanges(input);
  const again = isChanged ? await checkChanges(call, row, input) : await asItWas(call, row);
  const told = again.warnings === undefined ? {} : { warnings: again.warnings };
  if (input.dryRun === true) {
    const sent = { ...row, ...again.set, status: "scheduled" as const, error: null };
    const warnings = isChanged ? told : { warnings: sentAsItWas(row, again.account) };
    return { post: toPost(sent), ...warnings, ...(await showDryRun(ctx, again.account, sent)) };
  }
  if (row.in_doubt === 1) {
    const published = await reconcileInDoubt(call, row);
    if (published !== null) return published;
  }
  // Reconciled as "did not happen", the step keeps its key and is sent with it. Another content needs a clean
  // ledger, and after a proven failure all begins anew.
  const run = row.in_doubt === 1 && !isChanged ? row.run : row.run + 1;
  const answer = await commitOnce(call, async (tx) => {
    await requireFiles(tx, caller, again.files);
    const set = { ...again.set, error: null, in_doubt: 0, tries: 0, run, updated_at: ctx.clock.now() };
    const retried = await transition(tx, { ownerId: caller.ownerId, id: row.id }, "retry", set);
    return { post: toPost(retried), ...told };
  });
  ctx.wakePublisher();
  return answer;
}

/** Begins what only a dry run says of a retry without changes. */
export const SENT_AS_IT_WAS = "It is sent just as it was,";

function sentAsItWas({ error, in_doubt: inDoubt }: PostRow, { paused }: AccountRow): Said[] {
  const when =
    inDoubt === 1
      ? "if its platform says that it is not there."
      : paused === 1
        ? "as soon as its channel is resumed."
        : "at once.";
  const sent = `${SENT_AS_IT_WAS} ${when}`;
  return [error === null ? sent : join(`${sent} It failed before:`, fromStored(error))];
}

/** Whether something of the post is to be another, its time included. */
function hasChanges({ id: _id, dryRun: _dryRun, ...changes }: PostRetry): boolean {
  return Object.values(changes).some((value) => value !== undefined);
}

async function asItWas({ ctx, caller }: CallContext, row: PostRow): Promise<Again> {
  assertFailed(row);
  const account = await findAccount(ctx, caller, row.account_id);
  assertUsable(account);
  const now = ctx.clock.now();
  return { account, set: { scheduled_at: now, due_at: now, next_at: now }, files: [] };
}

/** Checks the post as a new one; what is wrong with the form of a field comes before its state. */
export async function checkChanges(call: CallContext, row: PostRow, input: PostRetry): Promise<Again> {
  const { ctx, caller } = call;
  const { id: _id, dryRun: _dryRun, ...patch } = input;
  const time = readScheduledAt(call, patch.scheduledAt);
  const account = await findAccount(ctx, caller, row.account_id);
  const form = await applyPatch(ctx, account, row, { ...patch, scheduledMs: time.ms });
  assertFailed(row, isOther(form, row, patch.scheduledAt !== undefined));
  assertUsable(account);
  const checked = await checkContent(ctx, account, form, { caller, before: row, signal: call.signal });
  const doubles = await warnOfDoubles(ctx, { ...row, ...checked.row }, { isDone: input.dryRun !== true });
  return {
    account,
    set: { ...checked.row, next_at: checked.row.due_at },
    files: checked.files,
    warnings: [...time.warnings, ...checked.warnings, ...doubles],
  };
}

/** Whether a repeated call would find something of its own missing from the post. */
function isOther({ content }: CheckedForm, row: PostRow, isTimed: boolean): boolean {
  const { scheduledAt, ...rest } = content;
  const { scheduledAt: at, ...before } = contentOf(row);
  return (isTimed && scheduledAt !== at) || !isDeepStrictEqual(rest, before);
}

function assertFailed(row: PostRow, isChanged = false): void {
  if (row.status !== "failed") throw new AppError("conflict", conflictSentence("retry", row, isChanged));
}
