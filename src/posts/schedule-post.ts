import { AppError, saidOf } from "../domain/errors.ts";
import type { SaidBatchResult, SaidPost } from "../domain/posts/post.ts";
import type { PostBody } from "../domain/posts/post-body.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { join, type Said } from "../domain/sentences.ts";
import { SECOND } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Tx } from "../store/engine/store.ts";
import { lockFiles } from "../store/queries/files.ts";
import { insertPost, toPost } from "../store/queries/posts.ts";
import { lockAccount } from "../store/queries/slots.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { CallContext } from "../context.ts";
import { requireFiles } from "../files/media-places.ts";
import { tryOut } from "./change-posts.ts";
import { type PreparedPost, preparePost, timesOn } from "./prepare.ts";
import { inSlot, takeSlot } from "./slots.ts";

/** How the error of a post begins that is right, but goes only together with others that are not. */
export const REFUSED_WITH_OTHERS = "Not scheduled, because";

/** A post of a batch that may be stored, or why it may not. */
type Checked = PreparedPost | { readonly error: Said };

/**
 * Schedules a post, or with `dryRun` only shows it as it would be. Throws `invalid`, `not_found` (account,
 * file) and `conflict` (the channel must be reconnected).
 */
export async function schedulePost(
  call: CallContext,
  input: PostBody,
): Promise<{ post: SaidPost; warnings: Said[]; dryRun?: true; preview?: Preview }> {
  const prepared = await preparePost(call, input, { isDone: true });
  const { warnings, files, preview } = prepared;
  if (preview !== undefined) return { post: asDryRun(prepared.row), warnings, dryRun: true, preview };
  const answer = await commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    const { row, plan } = await placePost(call, tx, prepared);
    await insertPost(tx, row, plan);
    return { post: toPost(row), warnings };
  });
  call.ctx.wakePublisher();
  return answer;
}

/** Posts that are scheduled in one call. */
interface Batch {
  readonly posts: readonly PostBody[];
  readonly atomic?: boolean | undefined;
  /** For all of them. */
  readonly dryRun?: boolean | undefined;
}

/** For so long pages of links are read for posts that come together. */
const READING_MS = 20 * SECOND;

/**
 * Schedules several: each for itself, or with `atomic` all or none. The results stand in the order of the
 * posts.
 */
export async function schedulePosts(
  call: CallContext,
  input: Batch,
): Promise<{ results: SaidBatchResult[] }> {
  const checked: Checked[] = [];
  const begunAt = call.ctx.clock.monotonic();
  for (const [index, post] of input.posts.entries()) {
    call.signal.throwIfAborted();
    const before = checked.flatMap((one) => ("error" in one ? [] : [one.row]));
    const readsLinks = call.ctx.clock.monotonic() - begunAt < READING_MS;
    const known = { before, readsLinks, isDone: true, isOneOfSeveral: true };
    const body = input.dryRun === true ? { ...post, dryRun: true } : post;
    checked.push(await preparePost(call, body, known).catch((error: unknown) => refuse(error)));
    call.progress(index + 1, input.posts.length, `Checked ${index + 1} of ${input.posts.length} posts.`);
  }
  // Taken back in time, nothing of it is scheduled.
  call.signal.throwIfAborted();
  const { results, toStore } = judge(input, checked);
  if (checked.every((post) => "error" in post || post.preview !== undefined))
    return { results: judge({ posts: input.posts }, await tryPlaces(call, checked)).results };
  if (toStore.length === 0) return { results };
  const answer = await commitOnce(call, async (tx) => {
    const judged = judge(input, await placePosts(call, tx, await withFiles(tx, call, checked)));
    for (const { row, plan } of judged.toStore) await insertPost(tx, row, plan);
    return { results: judged.results };
  });
  call.ctx.wakePublisher();
  return answer;
}

/** The posts whose files are there still. All are locked before the first is looked up: see `lockFiles`. */
async function withFiles(tx: Tx, { caller }: CallContext, posts: readonly Checked[]): Promise<Checked[]> {
  const files = posts.flatMap((post) => ("error" in post ? [] : post.files));
  await lockFiles(
    tx,
    caller.ownerId,
    files.map(({ id }) => id),
  );
  const found: Checked[] = [];
  for (const post of posts) {
    const missing = "error" in post ? null : await requireFiles(tx, caller, post.files).catch(refuseInside);
    found.push(missing ?? post);
  }
  return found;
}

/** Puts a post into the slot that it gets, if it asked for one; `taken`: times that it must leave free. */
async function placePost(
  { ctx }: CallContext,
  tx: Tx,
  post: PreparedPost,
  taken: readonly number[] = [],
): Promise<PreparedPost> {
  const { row } = post;
  if (!post.isInSlot) return post;
  const after = ctx.clock.now() + row.scheduled_at - row.due_at;
  const slot = await takeSlot(tx, { owner_id: row.owner_id, id: row.account_id }, { after, taken });
  return { ...post, row: inSlot(row, slot) };
}

/** The same of dry runs, each in the slot that it would get beside the others. */
function tryPlaces(call: CallContext, posts: readonly Checked[]): Promise<readonly Checked[]> {
  const isAnyInSlot = posts.some((post) => "row" in post && post.isInSlot);
  return isAnyInSlot ? tryOut(call.ctx, (tx) => placePosts(call, tx, posts)) : Promise.resolve(posts);
}

/** Those that take up a time: what is stored, and where nothing is, what would be. */
function toPlace(posts: readonly Checked[]): PreparedPost[] {
  const right = posts.filter((post): post is PreparedPost => "row" in post);
  const stored = right.filter(({ preview }) => preview === undefined);
  return stored.length === 0 ? right : stored;
}

/** Each in a slot of its own. The accounts are locked in the order of their ids: see `takeSlot`. */
async function placePosts(call: CallContext, tx: Tx, posts: readonly Checked[]): Promise<Checked[]> {
  const stored = toPlace(posts);
  const isPlaced = new Set<Checked>(stored.filter(({ isInSlot }) => isInSlot));
  const inSlots = stored.filter(({ isInSlot }) => isInSlot).map(({ row }) => row.account_id);
  for (const id of [...new Set(inSlots)].sort()) await lockAccount(tx, { ownerId: call.caller.ownerId, id });
  const taken = stored.filter(({ isInSlot }) => !isInSlot).map(({ row }) => row);
  const placed: Checked[] = [];
  for (const post of posts) {
    if (!("row" in post) || !isPlaced.has(post)) {
      placed.push(post);
      continue;
    }
    const one = await placePost(call, tx, post, timesOn(taken, post.row.account_id)).catch(refuseInside);
    if ("row" in one) taken.push(one.row);
    placed.push(one);
  }
  return placed;
}

/** All of them, in slots where they asked for one. Throws `conflict` with every reason why one gets none. */
export async function placeTogether(
  call: CallContext,
  tx: Tx,
  posts: readonly PreparedPost[],
): Promise<readonly PreparedPost[]> {
  const placed = await placePosts(call, tx, posts);
  const errors = new Map(placed.flatMap((one) => ("error" in one ? [[String(one.error), one.error]] : [])));
  if (errors.size > 0) throw new AppError("conflict", [...errors.values()]);
  return placed.flatMap((one) => ("error" in one ? [] : [one]));
}

/** What is answered, and which of them are stored. */
function judge(
  input: Batch,
  posts: readonly Checked[],
): { results: SaidBatchResult[]; toStore: PreparedPost[] } {
  const failures = posts.filter((post) => "error" in post).length;
  const isRefused = input.atomic === true && failures > 0;
  const results = posts.map((post, index) => toBatchResult(post, { index, isRefused, failures }));
  const toStore = posts.filter(
    (post): post is PreparedPost => "row" in post && !isRefused && post.preview === undefined,
  );
  return { results: tellOnce(results), toStore };
}

/** Each warning once, with the first post that it is about. */
function tellOnce(results: readonly SaidBatchResult[]): SaidBatchResult[] {
  const all = results.flatMap(({ warnings }) => warnings.map(String));
  const told = new Set<string>();
  return results.map((result) => {
    const fresh = result.warnings.filter((warning) => !told.has(String(warning)));
    for (const warning of fresh) told.add(String(warning));
    const warnings = fresh.map((warning) => {
      const others = all.filter((other) => other === String(warning)).length - 1;
      return others === 0 ? warning : join(warning, `The same holds for ${others} more of these posts.`);
    });
    return { ...result, warnings };
  });
}

/** Only what the caller can mend becomes a result; a bug stays a bug. */
function refuse(error: unknown): { error: Said } {
  if (!(error instanceof Error) || error.name !== "AppError") throw error;
  return { error: saidOf(error) };
}

function toBatchResult(
  checked: Checked,
  at: { readonly index: number; readonly isRefused: boolean; readonly failures: number },
): SaidBatchResult {
  if ("error" in checked) return { index: at.index, post: null, warnings: [], error: checked.error };
  if (at.isRefused) {
    const error = `${REFUSED_WITH_OTHERS} ${at.failures} of the posts cannot be and atomic was asked for. Mend those and send all again.`;
    return { index: at.index, post: null, warnings: checked.warnings, error };
  }
  const { row, warnings, preview } = checked;
  if (preview !== undefined)
    return { index: at.index, post: asDryRun(row), warnings, error: null, dryRun: true, preview };
  return { index: at.index, post: toPost(row), warnings, error: null };
}

function refuseInside(error: unknown): { error: Said } {
  // The server's trouble ends the transaction.
  if (error instanceof AppError && error.kind === "unavailable") throw error;
  return refuse(error);
}

/** An id would look like that of a post that is there. */
function asDryRun(row: PostRow): SaidPost {
  return toPost({ ...row, id: "" });
}
