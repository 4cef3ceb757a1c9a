import { withWaits } from "./waits.ts";
import { fromStoredOrNull, join, type Said, say } from "../domain/sentences.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import {
  conflictSentence,
  isPutAway,
  isTakenDown,
  PUT_AWAY,
  type Trigger,
  TRANSITIONS,
} from "../domain/posts/post-states.ts";
import type { Resolution } from "../domain/posts/post-body.ts";
import { AppError } from "../domain/errors.ts";
import { type Caller, canReachAccount } from "../domain/permissions.ts";
import type { SaidAttempt, Insights, Metrics, SaidPost, Preparing } from "../domain/posts/post.ts";
import { deadline, SECOND, tellTime, toIso, toIsoOrNull, MINUTE } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import {
  findPost,
  postNotFound,
  toPost,
  transition,
  type TransitionSet,
  readAttempts,
  readMetadata,
  readWarnings,
} from "../store/queries/posts.ts";
import { findPlan, labelsOf, type PlanRow } from "../store/queries/plans.ts";
import type { AppContext, CallContext } from "../context.ts";
import { filmsOf, howFar } from "../files/films.ts";
import { type FileUse, placesOf, requireFiles } from "../files/media-places.ts";
import { commitOnce } from "../access/idempotency.ts";
import { plainText, withFullStop } from "../domain/plain-text.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import { findAccountRow, type AccountRow } from "../store/queries/accounts.ts";
import { createPlatformIo } from "../connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../publishing/publish-io.ts";
import { capabilitiesFor } from "../platform-io/connect-io.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import type { AnyPlatform, PostInsights } from "../ports/platform.ts";
import { beginTakeDown, holdPost, letGo, type HeldPost } from "../store/queries/publishing/held-posts.ts";
import { findAccount } from "../accounts/accounts.ts";
import { openSteps } from "../publishing/follow-ups.ts";
import { holdOrRefuse, isWorkedOn } from "../publishing/reconcile.ts";
import { assertUsable } from "./post-checks.ts";

/** The caller's own post; throws `not_found` for every other. */
export async function findOwnPost(ctx: AppContext, caller: Caller, id: string): Promise<PostRow> {
  const row = await findPost(ctx.store, caller.ownerId, id);
  if (row === null || !canReachAccount(caller, row.account_id)) throw postNotFound(id);
  return row;
}

/** What a plan says of a post. */
interface PostPlan {
  readonly draftId: string | null;
  readonly labels: string[];
  readonly note: string | null;
}

/** Only of a post that a plan says something of. */
export function showPlan(plan: PlanRow | undefined): Partial<PostPlan> {
  return plan === undefined ? {} : { draftId: plan.draft_id, labels: labelsOf(plan), note: plan.note };
}

export async function getPost(
  { ctx, caller }: CallContext,
  input: {
    readonly id: string;
    readonly insights?: boolean | undefined;
    readonly history?: boolean | undefined;
  },
): Promise<
  {
    post: SaidPost;
    preparing?: Preparing;
    insights?: Insights;
    warnings?: Said[];
    history?: SaidAttempt[];
  } & Partial<PostPlan>
> {
  const row = await findOwnPost(ctx, caller, input.id);
  const plan = await findPlan(ctx.store, row.id);
  const [shown = row] = await withWaits(ctx, [row]);
  return {
    post: toPost(shown),
    ...showPlan(plan ?? undefined),
    ...(await showPreparing(ctx, row)),
    ...(isTakenDown(row) ? { warnings: [tellTakenDown(ctx, row)] } : readWarnings(row)),
    ...(isPutAway(row) ? { warnings: [say(PUT_AWAY, { next: [{ do: "schedule" }] })] } : {}),
    ...(input.insights === true ? { insights: await readInsights(ctx, row) } : {}),
    ...(input.history === true ? { history: await readHistory(ctx, row) } : {}),
  };
}

function tellTakenDown({ platforms, settings }: AppContext, row: PostRow): string {
  const title = platforms.get(row.provider)?.title ?? row.provider;
  return `It was live, and was taken down on ${title} at ${tellTime(row.updated_at, settings.timezone)}.`;
}

/** Of a post whose films are made what its platform takes. */
async function showPreparing(ctx: AppContext, row: PostRow): Promise<{ preparing?: Preparing }> {
  if (row.next_at === null && row.lease_worker === null) return {};
  const account = await findAccountRow(ctx.store, row.owner_id, row.account_id);
  if (row.is_light === 1 || account === undefined) return {};
  const platform = findPlatform(ctx, row.provider);
  const post = toPlatformPost(platform, row);
  const { accepts } = capabilitiesFor(ctx, account, post).media;
  const urls = placesOf(platform, { mediaUrl: row.media_url, metadata: readMetadata(row) }).filter(
    ({ isShown }) => isShown,
  );
  const films = await filmsOf(ctx, row.owner_id, { urls: urls.map(({ url }) => url), accepts });
  const preparing = await howFar(ctx, { postId: row.id, films });
  return preparing === null ? {} : { preparing };
}

/**
 * Cancels a waiting post; with `fromPlatform` also one that is uploaded or live, by deleting it on the platform.
 */
export async function cancelPost(
  call: CallContext,
  input: { readonly id: string; readonly fromPlatform?: boolean | undefined },
): Promise<{ post: SaidPost }> {
  const { ctx, caller } = call;
  const row = await findOwnPost(ctx, caller, input.id);
  if (input.fromPlatform === true && isOnPlatform(row)) return takeDown(call, row);
  if (input.fromPlatform === true && row.status === "publishing") throw notOutYet(row);
  const answer = await movePost(call, row, "cancel", { next_at: null, error: null });
  await ctx.media.release(row.id);
  return answer;
}

/** There is nothing to take down yet, and nothing to cancel any more. */
function notOutYet(row: PostRow): AppError {
  const once = say("Once it is out, it can be taken down.", { next: [{ do: "take_down", postId: row.id }] });
  return new AppError("conflict", join(conflictSentence("take_down", row), once));
}

/**
 * A person reconciles an unknown outcome, having looked at the channel, or dismisses any failed post: it is never
 * sent again, and its error stays to be read.
 */
export async function resolvePost(call: CallContext, input: Resolution): Promise<{ post: SaidPost }> {
  const { ctx, caller } = call;
  const row = await findOwnPost(ctx, caller, input.id);
  if (input.outcome === "dismissed") {
    const answer = await movePost(call, row, "dismiss", { next_at: null, in_doubt: 0 });
    await ctx.media.release(row.id);
    return answer;
  }
  if (row.status === "publishing") throw new AppError("conflict", conflictSentence("confirm", row));
  if (row.status !== "failed" || row.in_doubt === 0) {
    throw new AppError(
      "conflict",
      say(`Nothing to settle: the outcome of this post is known (${row.status}).`, {
        next: [{ do: "read", postId: row.id }],
      }),
    );
  }
  if (input.outcome === "published") {
    return movePost(call, row, "confirm", {
      error: null,
      in_doubt: 0,
      published_at: ctx.clock.now(),
      platform_post_id: input.platformPostId ?? row.platform_post_id,
      platform_url: input.platformUrl ?? row.platform_url,
    });
  }
  const error = "A person did not find it on the platform. Send it again.";
  return movePost(call, row, "deny", { error, in_doubt: 0, run: row.run + 1 });
}

/** Moves a post along and answers with it. `files`: what it uses from now on (`requireFiles`). */
export function movePost(
  call: CallContext,
  { owner_id: ownerId, id }: PostRow,
  trigger: Trigger,
  { files = [], ...set }: Omit<TransitionSet, "updated_at"> & { readonly files?: readonly FileUse[] },
): Promise<{ post: SaidPost }> {
  return commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    const changes = { ...set, updated_at: call.ctx.clock.now() };
    return { post: toPost(await transition(tx, { ownerId, id }, trigger, changes)) };
  });
}

/** Each attempt with the steps of its run, oldest first. */
export async function readHistory(ctx: AppContext, row: PostRow): Promise<SaidAttempt[]> {
  const { attempts, steps } = await readAttempts(ctx.store, row);
  return attempts.map((attempt) => ({
    id: attempt.id,
    number: attempt.number,
    startedAt: toIso(attempt.started_at),
    finishedAt: toIsoOrNull(attempt.finished_at),
    outcome: attempt.outcome,
    error: fromStoredOrNull(attempt.error),
    latenessMs: attempt.lateness_ms,
    lateCause: attempt.late_cause,
    steps: steps
      .filter((step) => step.run === attempt.run && step.started_at >= attempt.started_at)
      .filter((step) => attempt.finished_at === null || step.started_at <= attempt.finished_at)
      .map((step) => ({
        step: step.step,
        state: step.state,
        startedAt: toIso(step.started_at),
        finishedAt: toIsoOrNull(step.finished_at),
      })),
  }));
}

const ASK_TIMEOUT_MS = 15 * SECOND;

/** A word of the platform's. */
const MAX_VISIBILITY_CHARS = 60;

/**
 * A post's live status on its platform. A platform out of reach is an answer too: `available: false` and the
 * reason.
 */
export async function readInsights(ctx: AppContext, row: PostRow): Promise<Insights> {
  const unavailable = (reason: string): Insights => ({
    available: false,
    reason,
    fetchedAt: toIso(ctx.clock.now()),
    state: "unknown",
    visibility: null,
    metrics: metricsOf({}),
  });
  if (row.platform_post_id === null) return unavailable(`The post is not on the platform (${row.status}).`);
  const platform = findPlatform(ctx, row.provider);
  if (platform.insights === undefined) return unavailable(`${platform.title} offers no insights.`);
  const account = await findAccountRow(ctx.store, row.owner_id, row.account_id);
  if (account === undefined) return unavailable("Its channel is not there any more.");
  try {
    const { state, visibility, metrics } = await askInsights(ctx, platform, { row, account });
    return {
      available: true,
      reason: null,
      fetchedAt: toIso(ctx.clock.now()),
      state,
      visibility: visibility === null ? null : plainText(visibility, MAX_VISIBILITY_CHARS),
      metrics,
    };
  } catch (error) {
    ctx.log.warn({ postId: row.id, err: error }, "insights could not be read");
    const isTold = error instanceof PlatformFault || error instanceof AppError;
    return unavailable(isTold ? error.message : `${platform.title} could not be asked.`);
  }
}

/** What the platform tells of a live post now. Throws what the platform's file throws. */
export async function askInsights(
  ctx: AppContext,
  platform: AnyPlatform,
  { row, account }: { readonly row: PostRow; readonly account: AccountRow },
): Promise<Omit<PostInsights, "metrics"> & { readonly metrics: Metrics }> {
  const platformIo = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
  const io = { ...platformIo, ...(await readStepResults(ctx, row)) };
  const told = await platform.insights?.(toPlatformPost(platform, row), io);
  return { state: "unknown", visibility: null, ...told, metrics: metricsOf(told?.metrics ?? {}) };
}

/** Field by field: a platform may answer more than was asked for. */
function metricsOf(given: Partial<Metrics>): Metrics {
  const { views = null, impressions = null, reach = null, likes = null } = given;
  const { comments = null, shares = null, saves = null, clicks = null } = given;
  return { views, impressions, reach, likes, comments, shares, saves, clicks };
}

/** A thread is deleted part by part. */
const REMOVE_TIMEOUT_MS = MINUTE;

/** What a process that ends in the middle leaves on the post; both an answer and a refusal replace it. */
const BEGUN = "It was to be taken down, and the process ended before that was done. Take it down again.";

/** Whether there is something to delete on its platform. */
export function isOnPlatform({ status }: Pick<PostRow, "status">): boolean {
  return TRANSITIONS.take_down.from.some((from) => from === status);
}

/** Whether live posts of the account can be deleted on its platform. */
export function canRemove(ctx: AppContext, account: AccountRow): boolean {
  const canFile = findPlatform(ctx, account.provider).remove !== undefined;
  return canFile && capabilitiesFor(ctx, account, null).removes !== false;
}

/**
 * Deletes an uploaded or a live post on its platform and cancels it. Once that is begun nothing that follows a
 * live post (a first comment, the rest of a thread) goes out any more. Throws `conflict` where the platform
 * cannot or does not; the post keeps the reason, and the same call may be made again.
 */
export async function takeDown(call: CallContext, row: PostRow): Promise<{ post: SaidPost }> {
  const { ctx, caller } = call;
  const platform = findPlatform(ctx, row.provider);
  const account = await findAccount(ctx, caller, row.account_id);
  if (!canRemove(ctx, account)) {
    const whose = platform.remove === undefined ? "" : " of a channel that is connected in this way";
    throw new AppError(
      "conflict",
      `${platform.title} lets no app delete a post${whose}. ${deleteByHand({ row, account })}`,
    );
  }
  assertUsable(account);
  const held = await holdOrRefuse(ctx, row, (tx) =>
    row.status === "published"
      ? beginTakeDown(tx, row, { workerId: ctx.workerId, error: BEGUN, now: ctx.clock.now() })
      : holdPost(tx, row, ctx.workerId),
  );
  let answer: { post: SaidPost };
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

function deleteByHand({ row, account }: { row: PostRow; account: AccountRow }): string {
  const where = row.platform_url ?? account.profile_url;
  return where === null
    ? `A person deletes it on ${channelInFull(account)}.`
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
  if (isUploaded && (await platform.insights?.(post, io))?.state === "live")
    throw new AppError(
      "conflict",
      `It went live on ${platform.title} a moment ago, so it was not deleted. Once it is shown as published, take it down again.`,
    );
  const left = (await platform.remove?.(post, io))?.left ?? null;
  const lost = openSteps(held.effects);
  const where = row.platform_url ?? account.profile_url ?? channelInFull(account);
  const doubt =
    lost.length === 0
      ? []
      : [`Whether a further part of it (${lost.join(", ")}) went out is not known. Look at ${where}.`];
  const told = [...(left === null ? [] : [left]), ...doubt];
  return told.length === 0 ? null : `It was taken down. ${told.join(" ")}`;
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
  const said = `${notDeleted(at, isUnknown)} ${withFullStop(why)}`;
  return new AppError("conflict", `${said}${stopped} ${nextOf(at, isUnknown)}`, { cause: error });
}

/** Only what has several parts can be gone in part. */
function notDeleted({ platform, row }: { platform: AnyPlatform; row: PostRow }, isUnknown: boolean): string {
  const parts = readMetadata(row)?.["thread"];
  const isThread = Array.isArray(parts) && parts.length > 0;
  if (isUnknown) return `It is not known whether ${isThread ? "all of it" : "it"} was deleted:`;
  return isThread
    ? `${platform.title} did not delete all of it, and what is left is there still:`
    : `${platform.title} did not delete it, and it is there still:`;
}

function nextOf(at: { row: PostRow; account: AccountRow }, isUnknown: boolean): string {
  if (!isUnknown) return `Take it down again. ${deleteByHand(at)}`;
  const where = at.row.platform_url ?? at.account.profile_url ?? channelInFull(at.account);
  return `Look at ${where}. Where it is there still, take it down again.`;
}
