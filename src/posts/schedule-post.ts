import type { PostBody } from "../domain/posts/post-body.ts";
import { newId } from "../domain/ids.ts";
import { DAY, MINUTE, tellTime } from "../domain/time.ts";
import { AppError, sentenceOf } from "../domain/errors.ts";
import type { BatchResult, Post } from "../domain/posts/post.ts";
import type { Tx } from "../store/engine/store.ts";
import type { PostRow } from "../store/engine/schema.ts";
import { lockFiles } from "../store/queries/files.ts";
import { findLiveText, findWaitingTwin } from "../store/queries/channel-posts.ts";
import { freshRow, insertPost, toPost } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { isServerRunning } from "../health/status.ts";
import { findAccount } from "../accounts/accounts.ts";
import {
  assertTakesPosts,
  checkAddresses,
  checkContent,
  foldThumbnail,
  readScheduledAt,
  withUtmOf,
} from "./post-draft.ts";
import { checkForm, mergeMetadata } from "./post-form.ts";
import { requireFiles, type FileUse } from "../files/media-places.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import { capabilitiesFor } from "../platform-io/connect-io.ts";
import { lockAccount } from "../store/queries/slots.ts";
import { findSlot, inSlot, noSlot, takeSlot } from "./slots.ts";

/** How the error of a post begins that is right, but goes only together with others that are not. */
export const REFUSED_WITH_OTHERS = "Not scheduled, because";

interface Draft {
  readonly row: PostRow;
  /** Its time is that of the slot it would get; which one it gets is told when it is stored. */
  readonly isInSlot: boolean;
  readonly isDryRun?: boolean;
  readonly warnings: string[];
  readonly files: readonly FileUse[];
}

/** A post of a batch that may be stored, or why it may not. */
type Drafted = Draft | { readonly error: string };

/**
 * Schedules a post, or with `dryRun` only shows it as it would be. Throws `invalid`, `not_found` (account,
 * file) and `conflict` (the channel must be reconnected).
 */
export async function schedulePost(
  call: CallContext,
  input: PostBody,
): Promise<{ post: Post; warnings: string[]; dryRun?: true }> {
  const draft = await draftPost(call, input);
  const { warnings, files } = draft;
  if (input.dryRun === true) return { post: asDryRun(draft.row), warnings, dryRun: true };
  const answer = await commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    const { row } = await place(call, tx, draft);
    await insertPost(tx, row);
    return { post: toPost(row), warnings };
  });
  call.ctx.wakePublisher();
  return answer;
}

/**
 * Schedules several: each for itself, or with `atomic` all or none. The results stand in the order of the
 * posts.
 */
export async function schedulePosts(
  call: CallContext,
  input: { readonly posts: readonly PostBody[]; readonly atomic?: boolean | undefined },
): Promise<{ results: BatchResult[] }> {
  const drafts: Drafted[] = [];
  for (const [index, post] of input.posts.entries()) {
    call.signal.throwIfAborted();
    const before = drafts.flatMap((draft) => ("error" in draft ? [] : [draft.row]));
    const drafted = await draftPost(call, post, before).catch((error: unknown) => refuse(error));
    drafts.push("error" in drafted ? drafted : { ...drafted, isDryRun: post.dryRun === true });
    call.progress(index + 1, input.posts.length, `Checked ${index + 1} of ${input.posts.length} posts.`);
  }
  // Taken back in time, nothing of it is scheduled.
  call.signal.throwIfAborted();
  const { results, toStore } = judge(input, drafts);
  if (toStore.length === 0) return { results };
  const answer = await commitOnce(call, async (tx) => {
    const judged = judge(input, await placeAll(call, tx, await withFiles(tx, call, drafts)));
    for (const { row } of judged.toStore) await insertPost(tx, row);
    return { results: judged.results };
  });
  call.ctx.wakePublisher();
  return answer;
}

/** The drafts whose files are there still. All are locked before the first is looked up: see `lockFiles`. */
async function withFiles(tx: Tx, { caller }: CallContext, drafts: readonly Drafted[]): Promise<Drafted[]> {
  const files = drafts.flatMap((draft) => ("error" in draft ? [] : draft.files));
  await lockFiles(
    tx,
    caller.ownerId,
    files.map(({ id }) => id),
  );
  const checked: Drafted[] = [];
  for (const draft of drafts) {
    const missing = "error" in draft ? null : await requireFiles(tx, caller, draft.files).catch(refuseInside);
    checked.push(missing ?? draft);
  }
  return checked;
}

/** Puts a draft into the slot that it gets, if it asked for one; `taken`: times that it must leave free. */
async function place<T extends Draft>(
  { ctx }: CallContext,
  tx: Tx,
  draft: T,
  taken: readonly number[] = [],
): Promise<T> {
  const { row } = draft;
  if (!draft.isInSlot) return draft;
  const after = ctx.clock.now() + row.scheduled_at - row.due_at;
  const slot = await takeSlot(tx, { owner_id: row.owner_id, id: row.account_id }, { after, taken });
  return { ...draft, row: inSlot(row, slot) };
}

/** Each in a slot of its own. The accounts are locked in the order of their ids: see `takeSlot`. */
async function placeAll(call: CallContext, tx: Tx, drafts: readonly Drafted[]): Promise<Drafted[]> {
  const toPlace = drafts.flatMap((draft) =>
    "row" in draft && draft.isInSlot && draft.isDryRun !== true ? [draft.row.account_id] : [],
  );
  for (const id of [...new Set(toPlace)].sort()) await lockAccount(tx, { ownerId: call.caller.ownerId, id });
  const stored = drafts.filter((draft): draft is Draft => "row" in draft && draft.isDryRun !== true);
  const taken = stored.filter(({ isInSlot }) => !isInSlot).map(({ row }) => row);
  const placed: Drafted[] = [];
  for (const draft of drafts) {
    if (!("row" in draft) || !draft.isInSlot || draft.isDryRun === true) {
      placed.push(draft);
      continue;
    }
    const one = await place(call, tx, draft, timesOn(taken, draft.row.account_id)).catch(refuseInside);
    if ("row" in one) taken.push(one.row);
    placed.push(one);
  }
  return placed;
}

function timesOn(rows: readonly PostRow[], accountId: string): number[] {
  return rows.filter((row) => row.account_id === accountId).map((row) => row.scheduled_at);
}

/** What is answered, and which of them are stored. */
function judge(
  input: { readonly posts: readonly PostBody[]; readonly atomic?: boolean | undefined },
  drafts: readonly Drafted[],
): { results: BatchResult[]; toStore: Draft[] } {
  const failures = drafts.filter((draft) => "error" in draft).length;
  const isRefused = input.atomic === true && failures > 0;
  const results = drafts.map((draft, index) => toBatchResult(draft, { index, isRefused, failures }));
  const toStore = drafts.filter(
    (draft): draft is Draft => "row" in draft && !isRefused && draft.isDryRun !== true,
  );
  return { results, toStore };
}

/** Only what the caller can mend becomes a result; a bug stays a bug. */
function refuse(error: unknown): { error: string } {
  if (!(error instanceof Error) || error.name !== "AppError") throw error;
  return { error: sentenceOf(error) };
}

function toBatchResult(
  draft: Drafted,
  at: { readonly index: number; readonly isRefused: boolean; readonly failures: number },
): BatchResult {
  if ("error" in draft) return { index: at.index, post: null, warnings: [], error: draft.error };
  if (at.isRefused) {
    const error = `${REFUSED_WITH_OTHERS} ${at.failures} of the posts cannot be and atomic was asked for. Mend those and send all again.`;
    return { index: at.index, post: null, warnings: draft.warnings, error };
  }
  const { row, warnings } = draft;
  if (draft.isDryRun === true)
    return { index: at.index, post: asDryRun(row), warnings, error: null, dryRun: true };
  return { index: at.index, post: toPost(row), warnings, error: null };
}

function refuseInside(error: unknown): { error: string } {
  // The server's trouble ends the transaction.
  if (error instanceof AppError && error.kind === "unavailable") throw error;
  return refuse(error);
}

/** An id would look like that of a post that is there. */
function asDryRun(row: PostRow): Post {
  return toPost({ ...row, id: "" });
}

/** `before`: posts of the same call, whose slots it does not get. */
async function draftPost(
  call: CallContext,
  input: PostBody,
  before: readonly PostRow[] = [],
): Promise<Draft> {
  const { ctx, caller } = call;
  if (input.slot !== undefined && input.scheduledAt !== undefined)
    throw new AppError("invalid", "slot, scheduledAt: give one of the two. A slot has its own time.");
  const time = readScheduledAt(ctx, input.scheduledAt);
  const metadata = foldThumbnail(input) ?? null;
  checkAddresses(ctx, { ...input, metadata });
  const account = await findAccount(ctx, caller, input.accountId);
  const platform = findPlatform(ctx, account.provider);
  const lead = input.leadMinutes ?? capabilitiesFor(ctx, account, null).leadMinutes.default;
  const after = ctx.clock.now() + lead * MINUTE;
  const isInSlot = input.slot !== undefined;
  const taken = timesOn(before, account.id);
  const slot = isInSlot ? await findSlot(ctx.store, account, { after, taken }) : null;
  const texts = withUtmOf(account, { caption: input.caption, metadata });
  const content = {
    // What is wrong with the form is told first, also where there is no slot.
    scheduledAt: isInSlot ? (slot ?? after + DAY) : time.ms,
    mediaUrl: input.mediaUrl ?? "",
    caption: texts.caption ?? null,
    metadata: mergeMetadata(platform, null, texts.metadata),
    leadMinutes: input.leadMinutes ?? null,
  };
  const form = await checkForm(ctx, account, content);
  assertTakesPosts(account);
  if (isInSlot && slot === null) throw noSlot(account);
  const checked = await checkContent(ctx, account, form, { caller, signal: call.signal });
  const now = ctx.clock.now();
  const row = freshRow({
    ...checked.row,
    id: newId("post"),
    owner_id: caller.ownerId,
    account_id: account.id,
    provider: account.provider,
    created_at: now,
  });
  const warnings = [
    ...time.warnings,
    ...checked.warnings,
    ...(await warnOfTwin(ctx, row)),
    ...(await warnOfRepetition(ctx, row)),
    ...(await warnOfSilence(ctx, call, row)),
  ];
  return { row, isInSlot, warnings, files: checked.files };
}

async function warnOfTwin(ctx: AppContext, row: PostRow): Promise<string[]> {
  const twin = await findWaitingTwin(ctx.store, row);
  if (twin === null) return [];
  return [
    `The post ${twin} with the same account, media, caption and time is waiting already. Cancel one of them if that was not meant.`,
  ];
}

/** For so long a text on a channel is one that people have just read there. */
const REPETITION_MS = 30 * DAY;

async function warnOfRepetition(ctx: AppContext, row: PostRow): Promise<string[]> {
  const since = ctx.clock.now() - REPETITION_MS;
  const live = await findLiveText(ctx.store, row, since);
  if (live === null) return [];
  return [
    `The same text is live on this channel since ${tellTime(live.publishedAt, ctx.settings.timezone)} (post ${live.id}). Leave this one out if that was not meant.`,
  ];
}

const OVER_STDIO = "while this client is open";
const AT_SHELL = "if one, or an agent's client with Posthorn, is open";

/** Over stdio the publisher lives as long as the client: a post for later needs a server that stays. */
async function warnOfSilence(ctx: AppContext, call: CallContext, row: PostRow): Promise<string[]> {
  if (!call.caller.isLocal || row.scheduled_at <= ctx.clock.now() || (await isServerRunning(ctx))) return [];
  const when = call.caller.isAtShell === true ? AT_SHELL : OVER_STDIO;
  return [
    `No Posthorn server is running on this data folder, so this post goes out only ${when} at that time. \`posthorn service install\` keeps one running, \`posthorn serve\` does until it is stopped.`,
  ];
}
