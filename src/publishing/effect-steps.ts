import { hash } from "node:crypto";
import type { ReconcileClass } from "../domain/accounts/account.ts";
import { assert } from "../domain/errors.ts";
import type { Json } from "../ports/platform-io.ts";
import type { EffectContext, EffectSpec, LiveAt } from "../ports/publish-io.ts";
import type { EffectRow, Lease } from "../store/engine/ledger.ts";
import { canonicalJson } from "../access/idempotency.ts";
import type { AppContext } from "../context.ts";

export interface EffectsOptions {
  readonly ctx: AppContext;
  readonly lease: Lease;
  readonly run: number;
  /** The rows of this run, read after the claim. */
  readonly rows: readonly EffectRow[];
  readonly signal: AbortSignal;
  /** Milliseconds since 1970: past it nothing new is sent. */
  readonly deadline: number;
  /** Whether the time has come for a step, and for the one after which everybody sees the post. */
  isTimeFor(isLive: boolean): boolean;
  /** Asks about open steps and sends nothing: throws NothingSent where it would. */
  readonly isReconcileOnly: boolean;
  /** Asked before the intent of what is sent is written: throws where it must not be sent now. */
  readonly guard?: (() => Promise<void>) | null;
  /** How many requests and conversations with the platform this run began so far. */
  requestsBegun(): number;
  /** How the platform reconciles a doubtful outcome. */
  readonly reconciles: ReconcileClass;
}

/** What is known of a step. */
export type StepState = Pick<
  EffectRow,
  "state" | "result" | "handle_enc" | "started_at" | "asked" | "sent" | "effect_key" | "http_status"
>;

/** A run of a post, with the steps as the ledger has them. */
export interface Running extends EffectsOptions {
  readonly steps: Map<string, StepState>;
  /**
   * Since then steps may have been sent that are not in this ledger, which comes from a copy; null: it is the
   * whole truth.
   */
  readonly inDoubtSince: number | null;
}

/** Writes down, durably, that the step is about to be sent, or may have been at `startedAt`. */
export async function intend<R extends Json>(
  at: Running,
  spec: EffectSpec<R>,
  startedAt: number,
): Promise<StepState> {
  const { ctx, lease, run } = at;
  const intent = {
    run,
    step: spec.step,
    effect_key: effectKey(at, spec.step),
    request_hash: hash("sha256", canonicalJson(spec.request)),
    started_at: startedAt,
  };
  await ctx.store.ledger.intent(lease, intent);
  const known = at.steps.get(spec.step) ?? { ...NEVER_SENT, effect_key: intent.effect_key };
  const open = {
    ...known,
    state: "intent" as const,
    result: null,
    started_at: startedAt,
    sent: known.sent + 1,
  };
  at.steps.set(spec.step, open);
  return open;
}

const NEVER_SENT = { handle_enc: null, asked: 0, sent: 0, effect_key: "", http_status: null };

/** Writes down how the step ended. */
export async function finish(
  at: Running,
  step: string,
  end: { state: EffectRow["state"]; result: Json; httpStatus: number | null; live?: LiveAt | null },
): Promise<void> {
  const result = end.state === "done" ? JSON.stringify(end.result) : null;
  const now = at.ctx.clock.now();
  const { state, httpStatus, live = null } = end;
  await at.ctx.store.ledger.end(at.lease, { run: at.run, step, state, result, httpStatus, at: now, live });
  const fresh = { ...NEVER_SENT, started_at: now, effect_key: effectKey(at, step) };
  const known = at.steps.get(step) ?? fresh;
  const sent = known.sent - (state === "not_sent" ? 1 : 0);
  at.steps.set(step, { ...known, state, result, http_status: httpStatus, sent });
}

/** Writes down a note of ours: nothing leaves this machine for it. */
export async function writeDone(at: Running, step: string, value: unknown): Promise<void> {
  const now = at.ctx.clock.now();
  const result = JSON.stringify(value);
  const { lease, run } = at;
  await at.ctx.store.ledger.once(
    lease,
    { run, step, effect_key: "", request_hash: "", started_at: now },
    { run, step, state: "done", result, httpStatus: null, at: now },
  );
  at.steps.set(step, noted(result, now));
}

/** A note of ours as the ledger has it. */
export function noted(result: string, at: number): StepState {
  return { state: "done", result, started_at: at, ...NEVER_SENT };
}

/** What a platform's file gets to reconcile the step, or, while it is under way, to send it. */
export function contextOf(at: Running, step: string, isUnderWay = false): EffectContext {
  if (isUnderWay) assert("send_noted", at.steps.get(step)?.state === "intent", at.lease.postId);
  const aad = stepAad({ post_id: at.lease.postId, run: at.run, step });
  const sealed = at.steps.get(step)?.handle_enc ?? null;
  return {
    key: effectKey(at, step),
    handle: sealed === null ? null : (JSON.parse(at.ctx.cipher.open(sealed, aad)) as Json),
    saveHandle: async (handle) => {
      const value = at.ctx.cipher.seal(JSON.stringify(handle), aad);
      await at.ctx.store.ledger.handle(at.lease, { run: at.run, step, sealed: value });
      const known = at.steps.get(step);
      if (known !== undefined) at.steps.set(step, { ...known, handle_enc: value });
    },
    signal: at.signal,
    timesSent: Math.max(0, (at.steps.get(step)?.sent ?? 0) - (isUnderWay ? 1 : 0)),
  };
}

/** What a step's handle is bound to. */
export function stepAad(effect: { post_id: string; run: number; step: string }): string {
  return `${effect.post_id}|effects|${effect.run}|${effect.step}`;
}

/**
 * Stable within a run, also when the secret key is replaced in the middle of it, and not to be guessed from
 * outside.
 */
function effectKey(at: Running, step: string): string {
  const known = at.steps.get(step)?.effect_key;
  if (known !== undefined) return known;
  return at.ctx.cipher.sign("effect key", `${at.lease.postId}|${at.run}|${step}`).slice(0, 32);
}

/** A step's outcome stays open and the platform cannot tell: a person has to look. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** The platform has not reconciled an open step yet. */
export class AskAgain extends Error {
  override readonly name = "AskAgain";
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("The platform has not settled it yet.");
    this.afterMs = afterMs;
  }
}

/** Its time passed before anything of it reached the platform. */
export class TooLate extends Error {
  override readonly name = "TooLate";
}

/** In a run that only reconciles: all before this step is reconciled, and this one was never sent or did not happen. */
export class NothingSent extends Error {
  override readonly name = "NothingSent";
}
