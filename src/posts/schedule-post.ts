import { eachOnce, type PlanFields } from "../domain/posts/plan.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import type { PostBody } from "../domain/posts/post-body.ts";
import { newId } from "../domain/ids.ts";
import { DAY, MINUTE, SECOND } from "../domain/time.ts";
import { AppError, saidOf } from "../domain/errors.ts";
import type { Preview } from "../domain/posts/preview.ts";
import type { SaidBatchResult, SaidPost } from "../domain/posts/post.ts";
import type { Tx } from "../store/engine/store.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { lockFiles } from "../store/queries/files.ts";
import type { NewPlan } from "../store/queries/plans.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { freshRow, insertPost, toPost } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { isServerRunning } from "../health/status.ts";
import { findAccount, tellNamesakes } from "../accounts/accounts.ts";
import {
  assertTakesPosts,
  checkAddresses,
  checkContent,
  foldThumbnail,
  readScheduledAt,
  withUtmOf,
} from "./post-checks.ts";
import { checkForm, contentOf, mergeMetadata } from "./post-form.ts";
import { type LinkCard, withLinkCard } from "./link-cards.ts";
import { DUE_NOW, NO_TIME_GIVEN, onceSent } from "./outcomes.ts";
import { tryOut } from "./change-posts.ts";
import { warnOfDoubles } from "./doubles.ts";
import { previewPost } from "./preview.ts";
import { requireFiles, type FileUse } from "../files/media-places.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import { capabilitiesFor } from "../platform-io/connect-io.ts";
import { lockAccount } from "../store/queries/slots.ts";
import { findSlot, inSlot, noSlot, takeSlot } from "./slots.ts";

/** How the error of a post begins that is right, but goes only together with others that are not. */
export const REFUSED_WITH_OTHERS = "Not scheduled, because";

/** What tells when a post goes out. */
const WHEN = ["scheduledAt", "slot"];

/** A post that was checked and may be stored. */
export interface PreparedPost {
  readonly row: PostRow;
  /** What a plan says of it. Null: nothing. */
  readonly plan: NewPlan | null;
  /** Its time is that of the slot it would get; which one it gets is told when it is stored. */
  readonly isInSlot: boolean;
  readonly warnings: Said[];
  readonly files: readonly FileUse[];
  /** What the page of its link told, where that is shown. */
  readonly card?: LinkCard | null;
  /** Only of a dry run. */
  readonly preview?: Preview;
}

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
  const { files, preview } = prepared;
  const warnings = [...prepared.warnings, ...(await tellNamesakes(call, [prepared.row.account_id]))];
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

function timesOn(rows: readonly PostRow[], accountId: string): number[] {
  return rows.filter((row) => row.account_id === accountId).map((row) => row.scheduled_at);
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
  return { index: at.index, post: toPost(row), warnings: warnings.map(onceSent), error: null };
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

/** What is known of a post before it is prepared. */
interface Known {
  /** Its account, where that was looked up already. */
  readonly account?: AccountRow;
  /** Posts of the same call, whose slots it does not get. */
  readonly before?: readonly PostRow[];
  /** This very call schedules it, unless it is a dry run. Default: it is only looked at. */
  readonly isDone?: boolean;
  /** It stands in a list, in which a time is easily forgotten. */
  readonly isOneOfSeveral?: boolean;
  /** False: pages of links are not read. Default: they are. */
  readonly readsLinks?: boolean;
  /** What the page of its link told when the post was looked at: it is not read again. */
  readonly card?: LinkCard | null;
  /** The addresses that it has already, which any caller that may schedule it may leave there. */
  readonly kept?: ReadonlySet<string>;
}

/** Checks a post and makes its row, and stores nothing. Throws as `schedulePost` does. */
export async function preparePost(
  call: CallContext,
  input: PostBody,
  { account: known, before = [], readsLinks = true, card, kept, ...of }: Known = {},
): Promise<PreparedPost> {
  const { ctx, caller } = call;
  if (input.slot !== undefined && input.scheduledAt !== undefined)
    throw new AppError("invalid", "slot, scheduledAt: give one of the two. A slot has its own time.");
  const time = readScheduledAt(call, input.scheduledAt);
  const metadata = foldThumbnail(input) ?? null;
  checkAddresses(ctx, { ...input, metadata });
  const account = known ?? (await findAccount(ctx, caller, input.accountId));
  const platform = findPlatform(ctx, account.provider);
  const lead = input.leadMinutes ?? capabilitiesFor(ctx, account, null).leadMinutes.default;
  const after = ctx.clock.now() + lead * MINUTE;
  const isInSlot = input.slot !== undefined;
  const taken = timesOn(before, account.id);
  const slot = isInSlot ? await findSlot(ctx.store, account, { after, taken }) : null;
  const texts = withUtmOf(account, { caption: input.caption, metadata }, input.labels?.[0]);
  const merged = mergeMetadata(platform, null, texts.metadata);
  const carded = readsLinks
    ? await withLinkCard(ctx, platform, merged, card)
    : { metadata: merged, warnings: [] };
  const content = {
    // What is wrong with the form is told first, also where there is no slot.
    scheduledAt: isInSlot ? (slot ?? after + DAY) : time.ms,
    mediaUrl: input.mediaUrl ?? "",
    caption: texts.caption ?? null,
    metadata: carded.metadata,
    leadMinutes: input.leadMinutes ?? null,
  };
  const form = await checkForm(ctx, account, content);
  assertTakesPosts(account, input.dryRun === true);
  if (isInSlot && slot === null) throw noSlot(account);
  const checked = await checkContent(ctx, account, form, { caller, signal: call.signal, kept });
  const now = ctx.clock.now();
  const row = freshRow({
    ...checked.row,
    id: newId("post"),
    owner_id: caller.ownerId,
    account_id: account.id,
    provider: account.provider,
    created_at: now,
  });
  const isDone = of.isDone === true && input.dryRun !== true;
  const isTold = input.dryRun === true || of.isOneOfSeveral === true;
  const isNow = input.scheduledAt === undefined && !isInSlot;
  const warnings = [
    ...(isTold && isNow && account.paused === 0 ? [NO_TIME_GIVEN] : []),
    ...(isTold && isDone && !isNow && row.scheduled_at <= now && account.paused === 0 ? [DUE_NOW] : []),
    ...(isDone && !isTold && isNow && account.paused === 0 ? tellEmptyTime(call) : []),
    ...time.warnings,
    ...carded.warnings,
    ...checked.warnings,
    ...(await warnOfDoubles(ctx, row, { beside: before, isDone })),
    ...(await warnOfSilence(ctx, call, row)),
  ];
  const preview = input.dryRun === true ? await previewPost(ctx, account, contentOf(row)) : undefined;
  return {
    row,
    plan: planOf(input),
    isInSlot,
    warnings,
    files: checked.files,
    ...(carded.card === undefined ? {} : { card: carded.card }),
    ...(preview === undefined ? {} : { preview }),
  };
}

/** What its caller says of it beside its content. Null: nothing. */
function planOf({ labels = [], note }: PlanFields): NewPlan | null {
  if (labels.length === 0 && note === undefined) return null;
  return { draftId: null, occurrence: 0, labels: eachOnce(labels), note: note ?? null };
}

/** Where a time was thought of, and came empty, what goes out may have been meant for later. */
function tellEmptyTime({ leftEmpty = [] }: CallContext): Said[] {
  const empty = WHEN.filter((field) => leftEmpty.includes(field)).join(", ");
  if (empty === "") return [];
  return [
    say(`It goes out at once, because no time was given: ${empty} came empty.`, {
      next: [{ do: "stop_if_not_meant" }],
    }),
  ];
}

const OVER_STDIO = "while this client is open";
const AT_SHELL = "if one, or an agent's client with Posthorn, is open";

/** Over stdio the publisher lives as long as the client: a post for later needs a server that stays. */
async function warnOfSilence(ctx: AppContext, call: CallContext, row: PostRow): Promise<Said[]> {
  if (!call.caller.isLocal || row.scheduled_at <= ctx.clock.now() || (await isServerRunning(ctx))) return [];
  const when = call.caller.isAtShell === true ? AT_SHELL : OVER_STDIO;
  return [
    say(
      `No Posthorn server is running on this data folder, so this post goes out only ${when} at that time.`,
      {
        next: [{ do: "run", command: "serve", of: null }],
      },
    ),
  ];
}
