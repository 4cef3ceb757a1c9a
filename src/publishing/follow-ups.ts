import { AppError, assert, INTERNAL_ERROR_SENTENCE } from "../domain/errors.ts";
import { MediaUnavailable } from "../ports/media.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { LiveAt } from "../ports/publish-io.ts";
import { Fenced, LIVE_STEP, type EffectRow } from "../store/engine/ledger.ts";
import { AskAgain, noted, NothingSent, OutcomeUnknown, type Running, writeDone } from "./effect-steps.ts";

/** A follow-up that passing trouble kept from going out. */
export interface PendingFollowUp {
  readonly name: string;
  readonly why: string;
  /** How soon it is worth another try; null: not known. */
  readonly afterMs: number | null;
  /** The platform asks to be left alone until then, also by the channel's other posts. */
  readonly isLimit: boolean;
}

/** What is known of a post that is live. */
export interface LiveState {
  readonly at: LiveAt;
  /** Since when, in milliseconds since 1970. */
  readonly since: number;
  /** What was refused of it. */
  readonly warnings: readonly string[];
  readonly pending: readonly PendingFollowUp[];
}

const FOLLOW_UP_PREFIX = "extra:";

/** Kept in the ledger beside the steps: notes of ours, nothing that was sent. */
export function isNote(step: string): boolean {
  return step === LIVE_STEP || step.startsWith(FOLLOW_UP_PREFIX);
}

/** The steps of a ledger whose outcome is not known. */
export function openSteps(effects: readonly Pick<EffectRow, "step" | "state">[]): string[] {
  const open = effects.filter(({ state }) => state === "intent" || state === "unknown");
  return open.map(({ step }) => step).filter((step) => !isNote(step));
}

/** Null while it is not live. */
export function liveStateOf(
  at: Pick<Running, "steps">,
  pending: readonly PendingFollowUp[],
): LiveState | null {
  const live = at.steps.get(LIVE_STEP);
  if (live === undefined || live.result === null) return null;
  const notes = [...at.steps.entries()].filter(([step]) => step.startsWith(FOLLOW_UP_PREFIX));
  const warnings = notes.flatMap(([, { result }]) => {
    const warning: unknown = JSON.parse(result ?? "null");
    return typeof warning === "string" ? [warning] : [];
  });
  return { at: JSON.parse(live.result) as LiveAt, since: live.started_at, warnings, pending };
}

/** Notes that the post is live; the first time counts. */
export async function markLive(at: Running, place: LiveAt): Promise<void> {
  if (at.steps.has(LIVE_STEP)) return;
  const now = at.ctx.clock.now();
  await at.ctx.store.ledger.live(at.lease, { run: at.run, at: now, ...place });
  noteLive(at, place, now);
}

/** As it stands in the ledger already. */
export function noteLive(at: Running, { platformPostId, platformUrl }: LiveAt, now: number): void {
  if (at.steps.has(LIVE_STEP)) return;
  at.steps.set(LIVE_STEP, noted(JSON.stringify({ platformPostId, platformUrl }), now));
}

/** Runs what follows a live post. Null where it is done or was refused; else what it waits for. */
export async function runFollowUp(
  at: Running,
  name: string,
  work: () => Promise<void>,
): Promise<PendingFollowUp | null> {
  assert("follow_up_live", at.steps.has(LIVE_STEP), at.lease.postId);
  const step = `${FOLLOW_UP_PREFIX}${name}`;
  if (at.steps.has(step)) return null;
  try {
    await work();
    await writeDone(at, step, null);
  } catch (error) {
    if (error instanceof Fenced || error instanceof NothingSent || at.signal.aborted) throw error;
    const pending = passing(name, error);
    if (pending !== null) return pending;
    at.ctx.log.warn({ postId: at.lease.postId, followUp: name, err: error }, "a follow-up was refused");
    await writeDone(at, step, warningOf(name, reasonOf(error)));
  }
  return null;
}

/** What may work with another try; null for what never will. */
export function passing(name: string, error: unknown): PendingFollowUp | null {
  if (error instanceof AskAgain) return { name, why: error.message, afterMs: error.afterMs, isLimit: false };
  if (error instanceof PlatformFault) {
    const isLimit = error.kind === "rate";
    return error.kind === "rejected"
      ? null
      : { name, why: error.message, afterMs: error.retryAfterMs, isLimit };
  }
  const isPassing =
    error instanceof MediaUnavailable || (error instanceof AppError && error.kind === "unavailable");
  return isPassing ? { name, why: error.message, afterMs: null, isLimit: false } : null;
}

export function warningOf(name: string, why: string): string {
  return `${name} did not go through: ${why}`;
}

/** A sentence for a person; what is no word of ours or the platform's stays in the log. */
export function reasonOf(error: unknown): string {
  const kinds = [AppError, PlatformFault, MediaUnavailable, OutcomeUnknown];
  const isTold = error instanceof Error && kinds.some((kind) => error instanceof kind);
  return isTold ? error.message : INTERNAL_ERROR_SENTENCE;
}
