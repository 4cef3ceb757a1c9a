import type { SaidBatchResult, SaidPost } from "../domain/posts/post.ts";
import type { PostBody } from "../domain/posts/post-body.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { join, type Said } from "../domain/sentences.ts";
import { SECOND } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { insertPosts, toPost } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import { describeNamesakes } from "../channels/accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { onceSent } from "./outcomes.ts";
import { type PreparedPost, preparePost } from "./prepare.ts";
import { AT_ONCE } from "./warnings.ts";
import { type BatchPost, reserveSlots, refuse, storePosts, withFiles, tryOut } from "./store-posts.ts";

/** How the error of a post begins that is right, but goes only together with others that are not. */
export const REFUSED_WITH_OTHERS = "Not scheduled, because";

/**
 * Schedules a post, or with `dryRun` only shows it as it would be. Throws `invalid`, `not_found` (account,
 * file) and `conflict` (the channel must be reconnected).
 */
export async function schedulePost(
  call: CallContext,
  input: PostBody,
): Promise<{ post: SaidPost; warnings: Said[]; dryRun?: true; preview?: Preview }> {
  const prepared = await prepareNamed(call, input, { isDone: true });
  const { preview, warnings } = prepared;
  if (preview !== undefined) return { post: asDryRun(prepared.row), warnings, dryRun: true, preview };
  const answer = await commitOnce(call, async (tx) => {
    const [{ row } = prepared] = await storePosts(call, tx, [prepared]);
    return { post: toPost(row), warnings };
  });
  call.ctx.wakePublisher();
  return answer;
}

/** The answer tells which channel was taken, where its name alone means another one, too. */
async function prepareNamed(...args: Parameters<typeof preparePost>): Promise<PreparedPost> {
  const prepared = await preparePost(...args);
  const { row, warnings } = prepared;
  return { ...prepared, warnings: [...warnings, ...(await describeNamesakes(args[0], [row.account_id]))] };
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
  const checked: BatchPost[] = [];
  const begunAt = call.ctx.clock.monotonic();
  for (const [index, post] of input.posts.entries()) {
    call.signal.throwIfAborted();
    const before = checked.flatMap((one) => ("error" in one ? [] : [one.row]));
    const readsLinks = call.ctx.clock.monotonic() - begunAt < READING_MS;
    const known = { before, readsLinks, isDone: true, isOneOfSeveral: true };
    const body = input.dryRun === true ? { ...post, dryRun: true } : post;
    checked.push(await prepareNamed(call, body, known).catch((error: unknown) => refuse(error)));
    call.progress(index + 1, input.posts.length, `Checked ${index + 1} of ${input.posts.length} posts.`);
  }
  // Taken back in time, nothing of it is scheduled.
  call.signal.throwIfAborted();
  const { results, toStore } = judge(input, checked);
  if (checked.every((post) => "error" in post || post.preview !== undefined))
    return { results: judge({ posts: input.posts }, await tryPlaces(call, checked)).results };
  if (toStore.length === 0) return { results };
  const answer = await commitOnce(call, async (tx) => {
    const judged = judge(input, await reserveSlots(call, tx, await withFiles(call, tx, checked)));
    await insertPosts(tx, judged.toStore);
    return { results: judged.results };
  });
  call.ctx.wakePublisher();
  return answer;
}

/** The same of dry runs, each in the slot that it would get beside the others. */
function tryPlaces(call: CallContext, posts: readonly BatchPost[]): Promise<readonly BatchPost[]> {
  const isAnyInSlot = posts.some((post) => "row" in post && post.isInSlot);
  return isAnyInSlot ? tryOut(call.ctx, (tx) => reserveSlots(call, tx, posts)) : Promise.resolve(posts);
}

/** What is answered, and which of them are stored. */
function judge(
  input: Batch,
  posts: readonly BatchPost[],
): { results: SaidBatchResult[]; toStore: PreparedPost[] } {
  const failures = posts.filter((post) => "error" in post).length;
  const isRefused = input.atomic === true && failures > 0;
  const results = posts.map((post, index) => toBatchResult(post, { index, isRefused, failures }));
  const toStore = posts.filter(
    (post): post is PreparedPost => "row" in post && !isRefused && post.preview === undefined,
  );
  return { results: describeOnce(results), toStore };
}

/** Each warning once, with the first post that it is about. That one goes out at once, each post has of its own. */
function describeOnce(results: readonly SaidBatchResult[]): SaidBatchResult[] {
  const isOwn = (warning: Said): boolean => String(warning).startsWith(AT_ONCE);
  const all = results.flatMap(({ warnings }) => warnings.filter((one) => !isOwn(one)).map(String));
  const told = new Set<string>();
  return results.map((result) => {
    const fresh = result.warnings.filter((warning) => isOwn(warning) || !told.has(String(warning)));
    for (const warning of fresh) told.add(String(warning));
    const warnings = fresh.map((warning) => {
      const others = all.filter((other) => other === String(warning)).length - 1;
      return others < 1 ? warning : join(warning, `The same holds for ${others} more of these posts.`);
    });
    return { ...result, warnings };
  });
}

function toBatchResult(
  checked: BatchPost,
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
  return { index: at.index, post: toPost(row), warnings: warnings.map(onceSent), error: null };
}

/** An id would look like that of a post that is there. */
function asDryRun(row: PostRow): SaidPost {
  return toPost({ ...row, id: "" });
}
