import type { PostBody } from "../domain/posts/post-body.ts";
import { newId } from "../domain/ids.ts";
import { DAY, tellTime } from "../domain/time.ts";
import { AppError, sentenceOf } from "../domain/errors.ts";
import type { BatchResult, Post } from "../domain/posts/post.ts";
import type { Tx } from "../store/engine/store.ts";
import type { PostRow } from "../store/engine/schema.ts";
import { lockFiles } from "../store/queries/files.ts";
import { findLiveText, findWaitingTwin } from "../store/queries/channel-posts.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
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
} from "./post-draft.ts";
import { checkForm, mergeMetadata } from "./post-form.ts";
import { requireFiles, type FileUse } from "../files/media-places.ts";
import { findPlatform } from "../platform-io/set-up.ts";

/** How the error of a post begins that is right, but goes only together with others that are not. */
export const REFUSED_WITH_OTHERS = "Not scheduled, because";

interface Draft {
  readonly row: PostRow;
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
  const { row, warnings, files } = await draftPost(call, input);
  if (input.dryRun === true) return { post: asDryRun(row), warnings, dryRun: true };
  const answer = { post: toPost(row), warnings };
  await commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    await insertPost(tx, row);
    return answer;
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
    const drafted = await draftPost(call, post).catch((error: unknown) => refuse(error));
    drafts.push("error" in drafted ? drafted : { ...drafted, isDryRun: post.dryRun === true });
    call.progress(index + 1, input.posts.length, `Checked ${index + 1} of ${input.posts.length} posts.`);
  }
  // Taken back in time, nothing of it is scheduled.
  call.signal.throwIfAborted();
  const { results, toStore } = judge(input, drafts);
  if (toStore.length === 0) return { results };
  const answer = await commitOnce(call, async (tx) => {
    const judged = judge(input, await withFiles(tx, call, drafts));
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
  const refuseInside = (error: unknown): { error: string } => {
    // The server's trouble ends the transaction.
    if (error instanceof AppError && error.kind === "unavailable") throw error;
    return refuse(error);
  };
  const checked: Drafted[] = [];
  for (const draft of drafts) {
    const missing = "error" in draft ? null : await requireFiles(tx, caller, draft.files).catch(refuseInside);
    checked.push(missing ?? draft);
  }
  return checked;
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

/** An id would look like that of a post that is there. */
function asDryRun(row: PostRow): Post {
  return toPost({ ...row, id: "" });
}

/**
 * Checks a post and makes its row, which is not stored yet. `found`: its account, where that was looked up already.
 * Throws as `schedulePost`.
 */
export async function draftPost(call: CallContext, input: PostBody, found?: AccountRow): Promise<Draft> {
  const { ctx, caller } = call;
  const time = readScheduledAt(ctx, input.scheduledAt);
  const metadata = foldThumbnail(input) ?? null;
  checkAddresses(ctx, { ...input, metadata });
  const account = found ?? (await findAccount(ctx, caller, input.accountId));
  const platform = findPlatform(ctx, account.provider);
  const content = {
    scheduledAt: time.ms,
    mediaUrl: input.mediaUrl ?? "",
    caption: input.caption ?? null,
    metadata: mergeMetadata(platform, null, metadata),
    leadMinutes: input.leadMinutes ?? null,
  };
  const form = await checkForm(ctx, account, content);
  assertTakesPosts(account);
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
  return { row, warnings, files: checked.files };
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
