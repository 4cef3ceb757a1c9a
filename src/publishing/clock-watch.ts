import { MINUTE, SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import type { AppContext } from "../context.ts";
import type { LateCauses } from "./claim.ts";

/** Daemons that keep the time slew what is less. */
const BACK_MS = SECOND;

/**
 * A machine that slept, or whose clock was set: what was due in between is late.
 */
const AHEAD_MS = MINUTE;

/** How long a clock that went back may hold things up; by then it is taken for right. */
const HOLD_BACK_MS = MINUTE;

/** A clock that was set wrong is often put right at once: nothing is missed by it before that. */
const HOLD_AHEAD_MS = 10 * SECOND;

/**
 * Publishers note the time every few seconds: where it was not noted for this long, or a machine slept for
 * it, none ran.
 */
const SILENT_MS = TIME_LIMITS.noPublisher;

/**
 * Compares the wall clock, by which posts are due, with the monotonic one, which cannot be set. While a jump
 * is fresh nothing is claimed and nothing is called missed.
 */
export class ClockWatch {
  readonly #ctx: AppContext;
  #wall: number;
  #monotonic: number;
  #hasJumped = false;
  #hold = { wall: -Infinity, monotonic: -Infinity };
  readonly #lateCauses: LateCauses;
  #isFirstNote = true;

  constructor(ctx: AppContext, lateCauses: LateCauses) {
    this.#ctx = ctx;
    this.#lateCauses = lateCauses;
    this.#wall = ctx.clock.now();
    this.#monotonic = ctx.clock.monotonic();
  }

  /** Cheap: asked before each look for due posts. */
  isHeld(): boolean {
    this.#compare();
    return this.#wall < this.#hold.wall && this.#monotonic < this.#hold.monotonic;
  }

  /** True from a jump until it is noted. */
  hasJumped(): boolean {
    this.#compare();
    return this.#hasJumped;
  }

  /**
   * Notes the time for those who come later, and learns from those who were here before: a clock may jump
   * while nothing runs.
   */
  async note(): Promise<void> {
    this.#compare();
    const now = this.#wall;
    const { last, backMs } = await this.#ctx.store.claims.noteTime(now, BACK_MS);
    const silentSince = last ?? 0;
    if (this.#isFirstNote && now - silentSince > SILENT_MS)
      this.#lateCauses.note("no_worker", silentSince, now);
    this.#isFirstNote = false;
    this.#hasJumped = false;
    // Long since noticed by `#compare` where this process was there.
    if (backMs > 0 && this.#wall >= this.#hold.wall) this.#goneBack(backMs);
  }

  #compare(): void {
    const { clock } = this.#ctx;
    const now = { wall: clock.now(), monotonic: clock.monotonic() };
    const driftMs = now.wall - this.#wall - (now.monotonic - this.#monotonic);
    this.#wall = now.wall;
    this.#monotonic = now.monotonic;
    this.#hasJumped ||= driftMs < -BACK_MS || driftMs > AHEAD_MS;
    if (driftMs < -BACK_MS) this.#goneBack(-driftMs);
    if (driftMs > SILENT_MS) this.#lateCauses.note("no_worker", this.#wall - driftMs, this.#wall);
    if (driftMs > AHEAD_MS) this.#goneAhead(driftMs);
  }

  #goneBack(byMs: number): void {
    this.#hold = { wall: this.#wall + byMs, monotonic: this.#monotonic + HOLD_BACK_MS };
    this.#ctx.log.warn(
      { byMs: Math.round(byMs) },
      "the clock went back, so posts wait until it has caught up, a minute at most",
    );
  }

  #goneAhead(byMs: number): void {
    this.#hold = { wall: Infinity, monotonic: this.#monotonic + HOLD_AHEAD_MS };
    this.#ctx.log.warn(
      { byMs: Math.round(byMs) },
      "the clock went ahead, and what was due in between is late",
    );
  }
}
