import type { ReconcileClass } from "../domain/accounts/account.ts";
import { AppError, assert } from "../domain/errors.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { MediaUnavailable } from "../ports/media.ts";
import { PlatformFault, type Json } from "../ports/platform-io.ts";
import type { EffectSpec, LiveAt, Reconciled } from "../ports/publish-io.ts";
import { type EffectRow, LIVE_STEP, RESTORED_STEP } from "../store/engine/ledger.ts";
import {
  AskAgain,
  contextOf,
  type EffectsOptions,
  finish,
  intend,
  NothingSent,
  OutcomeUnknown,
  type Running,
  type StepState,
  TooLate,
  writeDone,
} from "./effect-steps.ts";
import {
  isNote,
  liveStateOf,
  markLive,
  noteLive,
  runFollowUp,
  type LiveState,
  type PendingFollowUp,
} from "./follow-ups.ts";

export interface Effects {
  effect<R extends Json>(spec: EffectSpec<R>): Promise<R>;
  once<R>(name: string, make: () => R | Promise<R>): Promise<R>;
  /** True while a step's outcome is open. */
  isOpen(): boolean;
  /** True once a step that changes something on the platform is done or may be. */
  hasTouchedPlatform(): boolean;
  live(place: LiveAt): Promise<void>;
  followUp(name: string, work: () => Promise<void>): Promise<void>;
  /** Null while the post is not live. */
  liveState(): LiveState | null;
  /** What a step gave; null where it is not done. */
  resultOf(step: string): Json;
}

/** Why the outcome of a post is in doubt whose ledger comes from a copy. */
const MAY_BE_OUT =
  "The database was restored from a copy that is older than this post's time, and it may have gone out since.";

/** These platforms tell by the post itself what became of it. Others need handles that a copy may not have. */
const TELLS_WITHOUT_LEDGER: ReadonlySet<ReconcileClass> = new Set(["server_key", "client_key", "list"]);

/** The publishing protocol of one post: an intent is durable before each step, its result after it. */
export function createEffects(options: EffectsOptions): Effects {
  const steps = new Map<string, StepState>(
    options.rows.filter((row) => row.step !== RESTORED_STEP).map((row) => [row.step, row]),
  );
  const inDoubtSince = options.rows.find((row) => row.step === RESTORED_STEP)?.started_at ?? null;
  const at = { ...options, steps, inDoubtSince };
  const pending: PendingFollowUp[] = [];
  return {
    effect: (spec) => runEffect(at, spec),
    once: (name, make) => runOnceStep(at, name, make),
    isOpen: () => inDoubtSince !== null || outward(steps).some(isOpenStep),
    hasTouchedPlatform: () => inDoubtSince !== null || hasTouched(steps),
    live: (place) => markLive(at, place),
    followUp: async (name, work) => {
      const waits = await runFollowUp(at, name, work);
      if (waits !== null) pending.push(waits);
    },
    liveState: () => liveStateOf(at, pending),
    resultOf: (step) => {
      const known = steps.get(step);
      return known?.state === "done" ? (JSON.parse(known.result ?? "null") as Json) : null;
    },
  };
}

function outward(steps: ReadonlyMap<string, StepState>): StepState[] {
  return [...steps.entries()].filter(([step]) => !isOnce(step) && !isNote(step)).map(([, state]) => state);
}

function hasTouched(steps: ReadonlyMap<string, StepState>): boolean {
  return outward(steps).some((step) => step.state !== "not_sent" && step.state !== "rejected");
}

function isOpenStep(step: StepState): boolean {
  return step.state === "intent" || step.state === "unknown";
}

async function runEffect<R extends Json>(at: Running, spec: EffectSpec<R>): Promise<R> {
  const known = at.steps.get(spec.step);
  if (known?.state === "done") {
    const result = JSON.parse(known.result ?? "null") as R;
    const live = spec.live?.(result);
    if (live !== undefined) await markLive(at, live);
    if (!(await isGone(at, spec, result))) return result;
    await startOver(at, known);
  }
  let open = known !== undefined && isOpenStep(known) ? known : null;
  if (open === null) {
    if (at.inDoubtSince === null) return send(at, spec, false);
    // A step that a restored ledger does not know of counts as one that was sent and not answered.
    if (!TELLS_WITHOUT_LEDGER.has(at.reconciles)) throw new OutcomeUnknown(MAY_BE_OUT);
    open = await intend(at, spec, at.inDoubtSince);
  }
  const found = await reconcile(at, spec, open);
  if (found.outcome === "done") return found.result;
  if (at.inDoubtSince !== null) await assertMaySend(at, spec.step);
  return send(at, spec, found.isStillInDoubt ?? false);
}

/** After its deadline, or where the copy lost the handle that the platform goes by, “not found” proves nothing. */
async function assertMaySend(at: Running, step: string): Promise<void> {
  if (TELLS_WITHOUT_LEDGER.has(at.reconciles) && at.ctx.clock.now() <= at.deadline) return;
  await finish(at, step, { state: "unknown", result: null, httpStatus: null });
  throw new OutcomeUnknown(MAY_BE_OUT);
}

/**
 * Never once it is live, nor while a later step is in doubt: what that one did, if it did, it did with this
 * one's result.
 */
async function isGone<R extends Json>(at: Running, spec: EffectSpec<R>, result: R): Promise<boolean> {
  if (spec.isGone === undefined || at.isReconcileOnly || at.steps.has(LIVE_STEP)) return false;
  return !outward(at.steps).some(isOpenStep) && spec.isGone(result);
}

/** Forgets this step and every later one, so that they are made anew. */
async function startOver(at: Running, from: StepState): Promise<void> {
  const later = [...at.steps.entries()].filter(
    ([step, { started_at: startedAt }]) => startedAt >= from.started_at && !isOnce(step),
  );
  const steps = later.map(([step]) => step);
  await at.ctx.store.ledger.forget(at.lease, { run: at.run, steps });
  for (const step of steps) at.steps.delete(step);
}

async function reconcile<R extends Json>(
  at: Running,
  spec: EffectSpec<R>,
  known: StepState,
): Promise<Extract<Reconciled<R>, { outcome: "done" | "send_again" }>> {
  const { ctx, lease, run } = at;
  await ctx.store.ledger.countAsked(lease, { run, step: spec.step });
  const httpStatus = known.http_status ?? 0;
  const begun = at.requestsBegun();
  const found = await spec.reconcile({
    ...contextOf(at, spec.step),
    intentAt: known.started_at,
    timesAsked: known.asked,
    // An answer that the platform gave when it had acted.
    wasTaken: known.state === "unknown" && httpStatus >= 200 && httpStatus < 300,
  });
  // It may have saved another handle, which is what a sending right after it goes by.
  at.steps.set(spec.step, { ...(at.steps.get(spec.step) ?? known), asked: known.asked + 1 });
  switch (found.outcome) {
    case "done":
      await finishDone(at, spec, found.result);
      return found;
    case "send_again":
      // The platform was not asked, and what was sent before may be public.
      return { isStillInDoubt: spec.live !== undefined && at.requestsBegun() === begun, ...found };
    case "ask_again":
      throw new AskAgain(found.afterMs);
    case "unknown":
      await finish(at, spec.step, { state: "unknown", result: null, httpStatus: null });
      throw new OutcomeUnknown(found.reason);
  }
}

/** `isInDoubt`: what was sent before may have come through, whatever becomes of this sending. */
async function send<R extends Json>(at: Running, spec: EffectSpec<R>, isInDoubt: boolean): Promise<R> {
  // A new run has another key, which the platform would not know.
  if (at.isReconcileOnly && isInDoubt) throw new OutcomeUnknown("The platform has not settled it yet.");
  if (at.isReconcileOnly) throw new NothingSent("The next step was not sent.");
  if (at.ctx.clock.now() > at.deadline) await assertInTime(at, spec, isInDoubt);
  assert("send_due", at.isTimeFor(spec.live !== undefined), at.lease.postId);
  // What follows a live post is no post of its own.
  if (!at.steps.has(LIVE_STEP)) await at.guard?.();
  at.signal.throwIfAborted();
  await intend(at, spec, at.ctx.clock.now());
  at.ctx.store.liveness.check();
  at.signal.throwIfAborted();
  const context = contextOf(at, spec.step, true);
  const asked = at.requestsBegun();
  let result: R;
  try {
    result = await spec.send(context);
  } catch (error) {
    const state = stateAfter(error, { isInDoubt, hasAsked: at.requestsBegun() > asked });
    if (state !== "intent") {
      const httpStatus = error instanceof PlatformFault ? error.httpStatus : null;
      await finish(at, spec.step, { state, result: null, httpStatus });
    }
    // What is refused now may have been taken before; asking for ever would not tell.
    if (state === "rejected" && at.inDoubtSince !== null) throw new OutcomeUnknown(MAY_BE_OUT);
    throw error;
  }
  // Where this cannot be written, the step stays open: it was sent.
  await finishDone(at, spec, result);
  return result;
}

/**
 * Once its time is over, a post that cannot be seen yet is not shown any more. One that may be out is sent again
 * for as long as a doubt is settled. What is begun is finished.
 */
async function assertInTime<R extends Json>(
  at: Running,
  { step, live }: EffectSpec<R>,
  isInDoubt: boolean,
): Promise<void> {
  if (at.steps.has(LIVE_STEP)) return;
  if (isInDoubt && at.ctx.clock.now() > at.deadline + TIME_LIMITS.doubtAfterLateness)
    throw new OutcomeUnknown("Its time passed before its platform told what became of it.");
  const others = new Map([...at.steps].filter(([name]) => name !== step));
  if (isInDoubt || (live === undefined && hasTouched(others))) return;
  if (at.steps.has(step)) await finish(at, step, { state: "not_sent", result: null, httpStatus: null });
  throw new TooLate("Its time passed before it could be sent.");
}

/** Its result and, where it is the one after which everybody sees the post, that they do: in one write. */
async function finishDone<R extends Json>(at: Running, spec: EffectSpec<R>, result: R): Promise<void> {
  const live = spec.live?.(result) ?? null;
  await finish(at, spec.step, { state: "done", result, httpStatus: null, live });
  if (live !== null) noteLive(at, live, at.ctx.clock.now());
}

/**
 * What an error says about the step. A refused or a lost answer may have come after the deed: it stays open.
 */
function stateAfter(
  error: unknown,
  { isInDoubt, hasAsked }: { readonly isInDoubt: boolean; readonly hasAsked: boolean },
): EffectRow["state"] {
  if (isInDoubt) return "intent";
  if (error instanceof PlatformFault) {
    if (error.kind === "ambiguous" && error.wasTaken) return "unknown";
    if (error.kind === "rejected") return "rejected";
    return error.isNotDone ? "not_sent" : "intent";
  }
  // A picture that turned out bad, a source that did not answer, before anything of the step had left.
  const isOfMedia = error instanceof AppError || error instanceof MediaUnavailable;
  return isOfMedia && !hasAsked ? "not_sent" : "intent";
}

const ONCE_PREFIX = "once:";

function isOnce(step: string): boolean {
  return step.startsWith(ONCE_PREFIX);
}

async function runOnceStep<R>(at: Running, name: string, make: () => R | Promise<R>): Promise<R> {
  const step = `${ONCE_PREFIX}${name}`;
  const known = at.steps.get(step);
  if (known?.state === "done") return JSON.parse(known.result ?? "null") as R;
  // The key that it went out under, if it did, is lost; a new one would find nothing.
  if (at.inDoubtSince !== null && at.reconciles === "client_key") throw new OutcomeUnknown(MAY_BE_OUT);
  const value = await make();
  await writeDone(at, step, value);
  return value;
}
