import { SECOND } from "../domain/time.ts";
import type { SuspectsDue } from "../store/engine/claims.ts";

/**
 * How long the first suspect has the process for itself; twice as long with every end that it had a part in.
 */
const FIRST_ALONE_MS = 5 * SECOND;
const LONGEST_ALONE_MS = 60 * SECOND;

/** A process that lives so long is not being ended by something else again and again. */
const STEADY_AFTER_MS = 5 * SECOND;

export interface Turn {
  /** So many suspects may be taken up now. */
  readonly suspects: number;
  /** Above 0: what is taken up has the process for itself, for so many milliseconds. */
  readonly aloneMs: number;
  /** Other posts may be taken up. */
  readonly isOpen: boolean;
}

const OPEN: Turn = { suspects: 0, aloneMs: 0, isOpen: true };
const CLOSED: Turn = { suspects: 0, aloneMs: 0, isOpen: false };

/**
 * Posts that were under way when a process ended, one of which may have ended it, are taken up by slow start:
 * one alone, then twice as many each time that all goes well. So whatever ends the process again does it in
 * less and less company, and in the end alone; and the others, nearly always all of them, wait for seconds.
 */
export class Probation {
  readonly #startedAt: number;
  /** Suspects under way, and since when. */
  readonly #since = new Map<string, number>();
  /** Suspects that came to an end here. */
  #cleared = 0;
  #aloneUntil = -Infinity;
  #waitsSince: number | null = null;

  /** `now`, here and below: of the clock that never jumps. */
  constructor(now: number) {
    this.#startedAt = now;
  }

  isSteady(now: number): boolean {
    return now - this.#startedAt >= STEADY_AFTER_MS;
  }

  /** `underWay`: posts that this process works on. */
  turn({ count, ends }: SuspectsDue, underWay: number, now: number): Turn {
    if (now < this.#aloneUntil) return CLOSED;
    if (count === 0) {
      if (this.#since.size === 0) this.#cleared = 0;
      this.#waitsSince = null;
      return OPEN;
    }
    if (this.#since.size === 0 && this.#cleared === 0) return this.#first(aloneMs(ends), underWay, now);
    // What has run for long without harm holds up nobody: an upload may take an hour.
    const proven = [...this.#since.values()].filter((since) => now - since >= FIRST_ALONE_MS).length;
    const width = 1 + this.#cleared + proven;
    return { ...OPEN, suspects: Math.max(0, width - (this.#since.size - proven)) };
  }

  /** A suspect is taken up. */
  begin(postId: string, { aloneMs: forMs }: Turn, now: number): void {
    this.#since.set(postId, now);
    this.#aloneUntil = forMs > 0 ? now + forMs : -Infinity;
    this.#waitsSince = null;
  }

  /** For every post whose work is over, suspect or not. */
  end(postId: string): void {
    if (!this.#since.delete(postId)) return;
    this.#cleared += 1;
    this.#aloneUntil = -Infinity;
  }

  /** What is under way may take long: nobody waits for it longer than for the suspect itself. */
  #first(forMs: number, underWay: number, now: number): Turn {
    if (underWay === 0) return { suspects: 1, aloneMs: forMs, isOpen: false };
    this.#waitsSince ??= now;
    return now - this.#waitsSince < forMs ? CLOSED : { ...OPEN, suspects: 1 };
  }
}

function aloneMs(ends: number): number {
  return Math.min(LONGEST_ALONE_MS, FIRST_ALONE_MS * 2 ** (ends - 1));
}
