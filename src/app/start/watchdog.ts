import { MINUTE, SECOND } from "../../domain/time.ts";
import type { StartThread } from "../threads.ts";

/*
 * A process whose event loop stands still hears no signal, notes no end of its input, and can be ended by
 * SIGKILL alone. A thread beside it does that. Nothing is lost by it: the next process goes on from the
 * ledger.
 */

const TURN_MS = SECOND;
/** Standing still for so long, a process ends that was asked to. Whoever closes something works in turns. */
const ASKED_LIMIT_MS = 15 * SECOND;
/** Nothing that is done in one turn takes so long: neither a checkpoint nor a disk that begins to turn. */
const LIMIT_MS = 3 * MINUTE;
/** Beyond it a line that nobody reads is given up. */
const LAST_LINE_MS = SECOND / 4;

/** Places in the memory that both threads see. */
const BEATS = 0;
const IS_ASKED = 1;

/** What the thread is started with. */
export interface WatchdogData {
  readonly cells: SharedArrayBuffer;
  /** The end of the process that started this one means that it is to end as well. */
  readonly isChild: boolean;
}

interface WatchdogOptions {
  readonly isChild: boolean;
  /** Aborted when the process is asked to end. */
  readonly stopSignal?: AbortSignal | undefined;
}

/** Watches over the event loop of this thread, and keeps nothing alive. */
export function startWatchdog(
  startThread: StartThread,
  { isChild, stopSignal }: WatchdogOptions,
): { askToEnd(): void } {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  startThread({ cells: cells.buffer, isChild } satisfies WatchdogData).unref();
  setInterval(() => Atomics.add(cells, BEATS, 1), TURN_MS).unref();
  const askToEnd = (): void => void Atomics.store(cells, IS_ASKED, 1);
  if (stopSignal?.aborted === true) askToEnd();
  stopSignal?.addEventListener("abort", askToEnd, { once: true });
  return { askToEnd };
}

/** The process as the thread reaches it, past the event loop that stands still. */
export interface WatchedProcess {
  readParentId(): number;
  /** Writes a line for people, without waiting for whoever reads it. */
  tell(line: string): void;
  /** Ends all threads at once. */
  kill(): void;
}

/**
 * Counts its own turns, not the time: while the machine sleeps or the process is stopped there are none, on
 * either side.
 */
export function runWatchdog({ cells, isChild }: WatchdogData, watched: WatchedProcess): void {
  const shared = new Int32Array(cells);
  const parentId = watched.readParentId();
  let seen = Atomics.load(shared, BEATS);
  let silent = 0;
  let silentSinceAsked = 0;
  const timer = setInterval(() => {
    const beats = Atomics.load(shared, BEATS);
    const isAsked = Atomics.load(shared, IS_ASKED) === 1 || (isChild && watched.readParentId() !== parentId);
    silent = beats === seen ? silent + 1 : 0;
    silentSinceAsked = isAsked && beats === seen ? silentSinceAsked + 1 : 0;
    seen = beats;
    if (silent * TURN_MS < LIMIT_MS && silentSinceAsked * TURN_MS < ASKED_LIMIT_MS) return;
    clearInterval(timer);
    watched.tell(
      `Posthorn has stood still for ${silent} s${isAsked ? " although it was asked to end" : ""} and is ended. What was under way goes on at the next start.\n`,
    );
    setTimeout(() => watched.kill(), LAST_LINE_MS);
  }, TURN_MS);
}
