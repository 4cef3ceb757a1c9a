import type { Trigger } from "../domain/posts/post-states.ts";
import type { Resolution } from "../domain/posts/post-body.ts";
import { AppError } from "../domain/errors.ts";
import { type Caller, canReachAccount } from "../domain/permissions.ts";
import type { Attempt, Insights, Metrics, Post } from "../domain/posts/post.ts";
import { SECOND, toIso, toIsoOrNull } from "../domain/time.ts";
import type { PostRow } from "../store/engine/schema.ts";
import { findPost, postNotFound, toPost, transition, type TransitionSet } from "../store/queries/posts.ts";
import { readAttempts, readWarnings } from "../store/queries/posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { requireFiles, type FileUse } from "../files/media-addresses.ts";
import { commitOnce } from "../access/idempotency.ts";
import { isOnPlatform, takeDown } from "./take-down.ts";
import { deadline } from "../domain/deadline.ts";
import { plainText } from "../domain/plain-text.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import { findAccountRow } from "../store/queries/accounts.ts";
import { createPlatformIo } from "../connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../publishing/publish-io.ts";
import { findPlatform } from "../platform-io/ways.ts";

/** The caller's own post; throws `not_found` for every other. */
export async function findOwnPost(ctx: AppContext, caller: Caller, id: string): Promise<PostRow> {
  const row = await findPost(ctx.store, caller.ownerId, id);
  if (row === null || !canReachAccount(caller, row.account_id)) throw postNotFound(id);
  return row;
}

export async function getPost(
  { ctx, caller }: CallContext,
  input: {
    readonly id: string;
    readonly insights?: boolean | undefined;
    readonly history?: boolean | undefined;
  },
): Promise<{ post: Post; insights?: Insights; warnings?: string[]; history?: Attempt[] }> {
  const row = await findOwnPost(ctx, caller, input.id);
  return {
    post: toPost(row),
    ...readWarnings(row),
    ...(input.insights === true ? { insights: await readInsights(ctx, row) } : {}),
    ...(input.history === true ? { history: await readHistory(ctx, row) } : {}),
  };
}

/**
 * Cancels a waiting post; with `fromPlatform` also one that is uploaded or live, by deleting it on the platform.
 */
export async function cancelPost(
  call: CallContext,
  input: { readonly id: string; readonly fromPlatform?: boolean | undefined },
): Promise<{ post: Post }> {
  const { ctx, caller } = call;
  const row = await findOwnPost(ctx, caller, input.id);
  if (input.fromPlatform === true && isOnPlatform(row)) return takeDown(call, row);
  const answer = await movePost(call, row, "cancel", { next_at: null, error: null });
  await ctx.media.release(row.id);
  return answer;
}

/**
 * A person settles an unknown outcome, having looked at the channel, or puts any failed post away: it is never
 * sent again, and its error stays to be read.
 */
export async function resolvePost(call: CallContext, input: Resolution): Promise<{ post: Post }> {
  const { ctx, caller } = call;
  const row = await findOwnPost(ctx, caller, input.id);
  if (input.outcome === "dismissed") {
    const answer = await movePost(call, row, "dismiss", { next_at: null, in_doubt: 0 });
    await ctx.media.release(row.id);
    return answer;
  }
  if (row.status !== "failed" || row.in_doubt === 0) {
    throw new AppError(
      "conflict",
      `Nothing to settle: the outcome of this post is known (${row.status}). Read it with get_post.`,
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
): Promise<{ post: Post }> {
  return commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    const changes = { ...set, updated_at: call.ctx.clock.now() };
    return { post: toPost(await transition(tx, { ownerId, id }, trigger, changes)) };
  });
}

/** Each attempt with the steps of its run, oldest first. */
export async function readHistory(ctx: AppContext, row: PostRow): Promise<Attempt[]> {
  const { attempts, steps } = await readAttempts(ctx.store, row);
  return attempts.map((attempt) => ({
    id: attempt.id,
    number: attempt.number,
    startedAt: toIso(attempt.started_at),
    finishedAt: toIsoOrNull(attempt.finished_at),
    outcome: attempt.outcome,
    error: attempt.error,
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
    const platformIo = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
    const io = { ...platformIo, ...(await readStepResults(ctx, row)) };
    const { state, visibility, metrics } = await platform.insights(toPlatformPost(platform, row), io);
    return {
      available: true,
      reason: null,
      fetchedAt: toIso(ctx.clock.now()),
      state,
      visibility: visibility === null ? null : plainText(visibility, MAX_VISIBILITY_CHARS),
      metrics: metricsOf(metrics),
    };
  } catch (error) {
    ctx.log.warn({ postId: row.id, err: error }, "insights could not be read");
    const isTold = error instanceof PlatformFault || error instanceof AppError;
    return unavailable(isTold ? error.message : `${platform.title} could not be asked.`);
  }
}

/** Field by field: a platform may answer more than anybody asked for. */
function metricsOf(given: Partial<Metrics>): Metrics {
  return {
    views: given.views ?? null,
    impressions: given.impressions ?? null,
    reach: given.reach ?? null,
    likes: given.likes ?? null,
    comments: given.comments ?? null,
    shares: given.shares ?? null,
    saves: given.saves ?? null,
    clicks: given.clicks ?? null,
  };
}
