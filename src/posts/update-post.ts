import { isDeepStrictEqual } from "node:util";
import type { PostChange, PostInput, PostRetry } from "../domain/posts/post-body.ts";
import { ended, fromStored, join, type Said, say } from "../domain/sentences.ts";
import { quote } from "../domain/text/plain-text.ts";
import { assertTakesPosts, assertUsable, isCut, reconnectSentence } from "../domain/accounts/account.ts";
import { AppError, nothingToChange } from "../domain/errors.ts";
import { signatureOf } from "../domain/permissions.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { conflictSentence } from "../domain/posts/post-states.ts";
import type { Tx } from "../store/engine/store.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { findDraftRow } from "../store/queries/drafts.ts";
import { findPlan } from "../store/queries/plans.ts";
import { hasEffects, lockPost, toPost, transition, type TransitionSet } from "../store/queries/posts.ts";
import type { Standing } from "../store/queries/publishing/standing.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { findAccount } from "../channels/accounts/accounts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { CallContext } from "../context.ts";
import { requireFiles } from "../files/media-places.ts";
import { reconcileInDoubt } from "../publishing/reconcile.ts";
import { contentOf, type PostContent } from "./post-form.ts";
import { findOwnPost, readStanding } from "./posts.ts";
import { type PreparedContent, prepare, prepareForm, readInput } from "./prepare.ts";
import { previewPost } from "./preview.ts";
import {
  warnOfDone,
  warnOfDoubles,
  warnOfHeld,
  warnOfKept,
  warnOfSameText,
  warnOfSilence,
} from "./warnings.ts";
import { asksForChange } from "./waits.ts";

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
 * Changes a post that still waits, or with `dryRun` only shows it as it would be. After the answer only the new version
 * goes out. Throws `invalid` for an empty change, `not_found`, and `conflict` when the post does not wait any more.
 */
export async function updatePost(call: CallContext, input: PostChange): Promise<ChangedPost> {
  const { ctx, caller } = call;
  const { id, dryRun = false, ifUpdatedAt, ...patch } = input;
  if (!dryRun && Object.values(patch).every((value) => value === undefined)) {
    throw nothingToChange(
      "Give one of scheduledAt, mediaUrl, caption, metadata, leadMinutes, thumbnailUrl.",
      call.leftEmpty,
    );
  }
  const { given, warnings: told } = readInput(call, patch);
  return untilUnchanged("The post is", async () => {
    const before = await findOwnPost(ctx, caller, id);
    const account = await findAccount(ctx, caller, before.account_id);
    const at = patch.scheduledAt === undefined ? { scheduledAt: before.scheduled_at } : {};
    const form = await prepareForm(ctx, account, { given: { ...given, ...at }, before });
    if (before.status !== "scheduled")
      throw new AppError("conflict", conflictSentence("edit", await readStanding(ctx, before)));
    assertAsSeen(before, ifUpdatedAt);
    assertTakesPosts(account, dryRun);
    const checked = await prepare(call, form);
    const begun = { next_at: checked.row.due_at, error: null, tries: 0, updated_at: ctx.clock.now() };
    const set = { ...checked.row, ...begun };
    const changed = { ...before, ...checked.row };
    const doubles = await warnOfDoubles(ctx, changed, { isDone: !dryRun });
    const silence = patch.scheduledAt === undefined ? [] : await warnOfSilence(call, [changed.scheduled_at]);
    const same = sayIfSame(patch, before, changed);
    const approved = await warnOfApproval(call, before, changed);
    const done = dryRun ? [] : warnOfDone(call);
    const warnings = [...done, ...same, ...approved, ...told, ...checked.warnings, ...doubles, ...silence];
    if (dryRun) {
      const preview = await previewPost(ctx, account, checked.content, checked);
      return { post: toPost(changed), warnings, dryRun, preview };
    }
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

/** Throws `conflict` where the post was changed since the caller read it, so that nothing of others is lost. */
function assertAsSeen({ id, updated_at: at }: PostRow, seen: string | undefined): void {
  if (seen === undefined || Date.parse(seen) === at) return;
  if (Number.isNaN(Date.parse(seen)))
    throw new AppError(
      "invalid",
      `ifUpdatedAt: ${quote(seen)} is no time. Give the updatedAt that you read.`,
    );
  throw new AppError(
    "conflict",
    say("The post was changed since it was read, and nothing was changed by this call.", {
      next: [{ do: "read", postId: id }],
    }),
  );
}

/** A dry run may be asked for without a change. */
function sayIfSame(patch: PostInput, before: PostRow, after: PostRow): string[] {
  const isAsked = Object.values(patch).some((value) => value !== undefined);
  return isAsked && CONTENT.every((column) => after[column] === before[column]) ? [NOTHING_CHANGED] : [];
}

/** What others approved as a draft, or was asked to be approved, goes out otherwise. */
async function warnOfApproval(
  { ctx: { store }, caller }: CallContext,
  before: PostRow,
  after: PostRow,
): Promise<string[]> {
  const isSame = APPROVED.every((column) => after[column] === before[column]);
  const plan = isSame ? null : await findPlan(store, before.id);
  if (plan === null || plan.draft_id === null) return [];
  const draft = await findDraftRow(store, caller.ownerId, plan.draft_id);
  const { keyId, wasAsked } = readApproval(draft?.decision ?? "{}");
  if (wasAsked === false && keyId === signatureOf(caller)) return [];
  return [
    "It was approved as a draft with other content: what goes out now was not approved. Tell who approved it.",
  ];
}

/** Of older drafts it is not known whether anybody was asked. */
function readApproval(decision: string): { readonly keyId?: string; readonly wasAsked?: boolean } {
  return JSON.parse(decision);
}

const APPROVED = ["media_url", "caption", "metadata"] as const;

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
interface Again
  extends Pick<PreparedContent, "account" | "files">, Partial<Pick<PreparedContent, "places" | "figures">> {
  readonly set: Omit<TransitionSet, "run" | "updated_at">;
  readonly warnings: Said[];
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
  const { id, dryRun = false, ...patch } = input;
  const read = readInput(call, patch);
  const row = await findOwnPost(ctx, caller, id);
  const isChanged = Object.values(patch).some((value) => value !== undefined);
  const isTimed = patch.scheduledAt !== undefined;
  const again = isChanged
    ? await checkChanges(call, row, { ...read, isTimed, isDone: !dryRun })
    : await asItWas(call, row, !dryRun);
  const warnings = [...(dryRun ? [] : warnOfDone(call)), ...warnOfKeptFields(call), ...again.warnings];
  // The answer of one without changes has them only where there are some.
  const told = isChanged || warnings.length > 0 ? { warnings } : {};
  if (dryRun) {
    const sent = { ...row, ...again.set, status: "scheduled" as const, error: null };
    const preview = await previewPost(ctx, again.account, contentOf(sent), again);
    return { post: toPost(sent), warnings, dryRun, preview };
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

const RETRIED: readonly string[] = ["caption", "mediaUrl", "metadata", "thumbnailUrl"];

/** Who gave a field without a value may have meant to empty it. */
function warnOfKeptFields({ leftEmpty = [] }: CallContext): string[] {
  const fields = RETRIED.filter((field) => leftEmpty.includes(field));
  if (fields.length === 0) return [];
  return [`${fields.join(", ")} came empty, which counts as left out, so that stays as it was.`];
}

/** Begins what is said of a retry that changes nothing, or the time alone. */
export const SENT_AS_IT_WAS = "It is sent just as it was,";

function sentAsItWas({ error, in_doubt: inDoubt }: PostRow, { paused }: AccountRow, isTimed = false): Said[] {
  const when =
    inDoubt === 1
      ? "if its platform can tell that it is not there. Where it cannot tell, it is not sent, and a person settles it."
      : paused === 1
        ? "as soon as its channel is resumed."
        : isTimed
          ? "at its time."
          : "at once.";
  const sent = `${SENT_AS_IT_WAS} ${when}`;
  return [error === null ? sent : join(`${sent} It failed before:`, fromStored(error))];
}

/** Said once it is done. What was not refused for what it says may well go out as it is. */
function sentInVain({ error, in_doubt: inDoubt }: PostRow): Said[] {
  if (inDoubt === 1 || error === null || !asksForChange(fromStored(error))) return [];
  return ["Nothing of it was changed before it was sent again, though its refusal asked for that."];
}

async function asItWas({ ctx, caller }: CallContext, row: PostRow, isDone: boolean): Promise<Again> {
  assertFailed(await readStanding(ctx, row));
  const account = await findAccount(ctx, caller, row.account_id);
  assertCanBeSent(row, account);
  const now = ctx.clock.now();
  const doubles = await warnOfSameText(ctx, { ...row, scheduled_at: now }, { isDone });
  const held = [...warnOfHeld(ctx, account), ...warnOfKept(ctx, account, now)];
  const asIs = isDone ? sentInVain(row) : sentAsItWas(row, account);
  const warnings = [...asIs, ...held, ...doubles];
  return { account, set: { scheduled_at: now, due_at: now, next_at: now }, files: [], warnings };
}

/** Checks the post as a new one; what is wrong with the form of a field comes before its state. */
async function checkChanges(
  call: CallContext,
  row: PostRow,
  read: ReturnType<typeof readInput> & { readonly isTimed: boolean; readonly isDone: boolean },
): Promise<Again> {
  const { ctx, caller } = call;
  const account = await findAccount(ctx, caller, row.account_id);
  const form = await prepareForm(ctx, account, { given: read.given, before: row });
  const isSame = !isOther(form.content, row, false);
  assertFailed(await readStanding(ctx, row), isOther(form.content, row, read.isTimed));
  assertCanBeSent(row, account);
  const checked = await prepare(call, form);
  const doubles = await warnOfDoubles(ctx, { ...row, ...checked.row }, { isDone: read.isDone });
  const silence = await warnOfSilence(call, [checked.row.scheduled_at]);
  return {
    ...checked,
    set: { ...checked.row, next_at: checked.row.due_at },
    warnings: [
      ...(isSame ? sentAsItWas(row, account, read.isTimed) : []),
      ...(await warnOfApproval(call, row, { ...row, ...checked.row })),
      ...read.warnings,
      ...checked.warnings,
      ...doubles,
      ...silence,
    ],
  };
}

/** Whether a repeated call would find something of its own missing from the post. */
function isOther(content: PostContent, row: PostRow, isTimed: boolean): boolean {
  const { scheduledAt, ...rest } = content;
  const { scheduledAt: at, ...before } = contentOf(row);
  return (isTimed && scheduledAt !== at) || !isDeepStrictEqual(rest, before);
}

/** Where its platform cannot be asked what became of it, a person can look there. */
function assertCanBeSent({ id, in_doubt: inDoubt }: PostRow, account: AccountRow): void {
  if (inDoubt === 0 || !isCut(account)) return assertUsable(account);
  const settled = say("Who has looked at the channel can settle it now.", {
    next: [{ do: "settle", postId: id }],
  });
  throw new AppError("conflict", join(ended(reconnectSentence(account, account.status_reason)), settled));
}

function assertFailed(row: Standing, isChanged = false): void {
  if (row.status !== "failed") throw new AppError("conflict", conflictSentence("retry", row, isChanged));
}
