import type { PublishOutcome } from "../ports/platform.ts";
import { fromStored } from "../domain/sentences.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import { AppError, AssertionFailed } from "../domain/errors.ts";
import { assertAgrees, isPending, TRANSITIONS } from "../domain/posts/post-states.ts";
import { HOUR, toIso } from "../domain/time.ts";
import { askToReconnect } from "../channels/connecting/renew-tokens.ts";
import type { AppContext } from "../context.ts";
import { AskAgain, OutcomeUnknown, TooLate } from "./effect-steps.ts";
import type { Effects } from "./effects.ts";
import { liveStateOf, openSteps } from "./follow-ups.ts";
import { createPublishRun, EndsFirst, giveUpAt, type PublishRun } from "./publish-io.ts";
import { MediaUnavailable } from "../ports/media.ts";
import { Fenced, type AttemptResult } from "../store/engine/ledger.ts";
import { assertClaimed, isReadable, LATE_FROM_MS, type PostAtWork } from "./claim.ts";
import { resultOf, verdictOnError, verdictOnLive, verdictOnOutcome, type Situation } from "./verdict.ts";

export interface RunOptions {
  readonly signal: AbortSignal;
  /** How long the post waited for its turn after it was claimed. */
  readonly queuedMs: number;
}

/**
 * Brings one claimed post as far as it goes now and records where it stands. Never throws for what happens to
 * the post; a database that cannot be written leaves the lease in place, and the ledger as the truth.
 */
export async function runPost(
  ctx: AppContext,
  claimed: PostAtWork,
  { signal, queuedMs }: RunOptions,
): Promise<void> {
  const startedAt = ctx.clock.monotonic();
  let run: PublishRun | null = null;
  const fail = (error: unknown): Promise<AttemptResult | null> =>
    endOnError(ctx, claimed, { error, effects: run?.effects ?? readStanding(claimed), signal });
  let end: AttemptResult | null;
  try {
    signal.throwIfAborted();
    assertClaimed(claimed);
    run = await createPublishRun(ctx, claimed, { signal, isReconcileOnly: false });
    const outcome: PublishOutcome = await run.publish();
    end = await endOnOutcome(ctx, claimed, { outcome, effects: run.effects });
  } catch (error) {
    end = await fail(error);
  }
  try {
    if (end !== null) assertAgrees(rowAfter(claimed, end));
  } catch (error) {
    end = await fail(error);
  }
  if (end === null || signal.reason instanceof Fenced) return;
  const result = withLateCause(end, claimed, { queuedMs, mediaMs: run?.mediaMs() ?? 0 });
  await ctx.store.ledger.finishAttempt(claimed.lease, result);
  if (end.nextAt === null) await ctx.media.release(claimed.post.id);
  logEnd(ctx, claimed, { end, startedAt });
}

/** Where a post stands by its ledger. */
type LedgerStanding = Pick<Effects, "isOpen" | "hasTouchedPlatform" | "liveState">;

/** The same where no run could begin. Of a step whose result cannot be read nothing is known. */
function readStanding({ post, effects }: PostAtWork): LedgerStanding {
  const unread = { state: "unknown", result: null } as const;
  const rows = effects.map((row) => (isReadable(row) ? row : { ...row, ...unread }));
  const steps = new Map(rows.map((row) => [row.step, row]));
  return {
    isOpen: () => post.in_doubt === 1 || openSteps(rows).length > 0,
    hasTouchedPlatform: () => post.in_doubt === 1 || rows.length > 0,
    liveState: () => liveStateOf({ steps }, []),
  };
}

/** The columns that the end of an attempt writes. */
function rowAfter({ post }: PostAtWork, end: AttemptResult): Parameters<typeof assertAgrees>[0] {
  const before = post.status === "scheduled" ? TRANSITIONS.claim.to : post.status;
  return {
    id: post.id,
    status: end.trigger === null ? before : TRANSITIONS[end.trigger].to,
    published_at: end.publishedAt ?? post.published_at,
    next_at: end.nextAt,
    in_doubt: end.isInDoubt ? 1 : 0,
    error: end.error,
  };
}

/** A post went live late because it waited for its turn, or for its media. A cause that the claim noted stays. */
function withLateCause(
  end: AttemptResult,
  { post }: PostAtWork,
  { queuedMs, mediaMs }: { queuedMs: number; mediaMs: number },
): AttemptResult {
  const lateMs = end.at - post.scheduled_at;
  if (lateMs < LATE_FROM_MS || queuedMs + mediaMs < lateMs / 2) return end;
  return { ...end, attempt: { ...end.attempt, lateCause: queuedMs > mediaMs ? "limit" : "media" } };
}

/** How long a platform may be at work on a post, where its file does not say. */
const PROCESSING_FOR_MS = 2 * HOUR;

async function endOnOutcome(
  ctx: AppContext,
  claimed: PostAtWork,
  { outcome, effects }: { outcome: PublishOutcome; effects: PublishRun["effects"] },
): Promise<AttemptResult> {
  const live = effects.liveState();
  if (live !== null) return verdictOnLive(live, { outcome }, situationOf(ctx, claimed, effects));
  if (outcome.state === "processing") {
    const now = ctx.clock.now();
    const phase = now < claimed.post.scheduled_at ? "processing" : "processing, due";
    const since = await effects.once(phase, () => now);
    if (now > (outcome.until ?? since + PROCESSING_FOR_MS))
      throw new OutcomeUnknown("The platform has been at work on it for too long.");
  }
  return verdictOnOutcome(outcome, situationOf(ctx, claimed, effects));
}

const EXPECTED = [PlatformFault, AppError, MediaUnavailable, OutcomeUnknown, AskAgain, TooLate] as const;

/** Null where another worker has the post now. */
async function endOnError(
  ctx: AppContext,
  claimed: PostAtWork,
  { error, effects, signal }: { error: unknown; effects: LedgerStanding; signal: AbortSignal },
): Promise<AttemptResult | null> {
  if (error instanceof Fenced) return null;
  const situation = situationOf(ctx, claimed, effects);
  if (signal.aborted || error instanceof EndsFirst) return release(situation);
  const isExpected = EXPECTED.some((kind) => error instanceof kind);
  ctx.log[isExpected ? "warn" : "error"](
    { postId: claimed.post.id, provider: claimed.post.provider, err: error },
    isExpected ? "a try did not succeed" : "a bug while publishing",
  );
  if (error instanceof PlatformFault && error.kind === "auth") {
    const { owner_id: ownerId, id, secrets_version: version } = claimed.account;
    await askToReconnect(ctx, { ownerId, id, version }, error);
  }
  const live = effects.liveState();
  if (live === null && error instanceof AssertionFailed && !isPending(claimed.post.status))
    return rest(situation, error);
  return live === null ? verdictOnError(error, situation) : verdictOnLive(live, { error }, situation);
}

/** A post that is over, and was taken up all the same, is not looked at again. */
function rest(at: Situation, { message: error }: Error): AttemptResult {
  return resultOf(at, "failed", { trigger: null, nextAt: null, error, isInDoubt: at.isOpen });
}

/** We are stopping: the next process goes on from the ledger, at once. */
function release(at: Situation): AttemptResult {
  return resultOf(at, "interrupted", {
    trigger: at.isUploaded || at.isPublished || at.hasTouchedPlatform ? null : "release",
    nextAt: at.now,
    isInDoubt: at.isOpen,
    attempt: { outcome: "interrupted", error: "The publisher was stopped." },
  });
}

function situationOf(ctx: AppContext, claimed: PostAtWork, effects: LedgerStanding): Situation {
  const { post, account } = claimed;
  const isOpen = effects.isOpen();
  return {
    now: ctx.clock.now(),
    scheduledAt: post.scheduled_at,
    isUploaded: post.status === "uploaded",
    showsItself:
      post.status === "uploaded" && ctx.platforms.get(post.provider)?.capabilities.scheduling === "platform",
    isPublished: post.status === "published",
    isOpen,
    hasTouchedPlatform: effects.hasTouchedPlatform(),
    tries: post.tries,
    giveUpAt: giveUpAt(ctx, post, isOpen),
    account: {
      name: account.name,
      provider: account.provider,
      handle: account.handle,
      id: account.id,
      profileUrl: account.profile_url,
    },
    random: Math.random(),
  };
}

/** One line an attempt: ids, numbers and our own sentences. */
function logEnd(
  ctx: AppContext,
  { post, lease, attempt }: PostAtWork,
  { end, startedAt }: { end: AttemptResult; startedAt: number },
): void {
  const fields = {
    postId: post.id,
    accountId: post.account_id,
    provider: post.provider,
    attempt,
    run: post.run,
    fence: lease.fence,
    outcome: end.attempt.outcome,
    durationMs: Math.round(ctx.clock.monotonic() - startedAt),
    latenessMs: end.publishedAt === null ? undefined : end.publishedAt - post.scheduled_at,
    nextAt: end.nextAt === null ? null : toIso(end.nextAt),
    reason: end.attempt.error === null ? undefined : String(fromStored(end.attempt.error)),
  };
  ctx.log[end.trigger === "fail" ? "warn" : "info"](fields, "attempt ended");
}
