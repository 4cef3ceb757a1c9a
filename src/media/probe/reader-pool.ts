import type { ChildProcess } from "node:child_process";
import { SECOND } from "../../domain/time.ts";
import type { ProbeCall } from "../../ports/media-probe.ts";
import { FairQueue } from "./fair-queue.ts";
import { MediaReader, notRead, type Errand, type ReaderLimits } from "./media-reader.ts";
import type { ReaderAnswer } from "./run-media-reader.ts";

export interface ReaderPoolOptions {
  /** Starts a process that runs `runMediaReader`. */
  start(): ChildProcess;
  readonly limits?: ReaderLimits;
  /** A process that has nothing to do is kept so long. Default 10 s. */
  readonly keepMs?: number;
  /** How long a file may keep others from the fast lane. Default 1 s. */
  readonly quickMs?: number;
}

const KEEP_MS = 10 * SECOND;
const QUICK_MS = SECOND;

interface Job extends Errand {
  readonly ownerId: string;
  resolve(answer: ReaderAnswer): void;
  reject(reason: unknown): void;
}

interface Running {
  readonly job: Job;
  readonly stop: AbortController;
  spentMs: number;
}

interface Lane {
  readonly isFast: boolean;
  reader: MediaReader | null;
  running: Running | null;
  rest: NodeJS.Timeout | null;
}

/** Why a file is taken from its process: it goes on, from its beginning, in the slow lane. */
const STEP_ASIDE = new Error("Others wait.");

/**
 * Two processes that read media, started when there is something to read. One of them is a fast lane: a file
 * that is not done within a second, be it hard or its source slow, leaves it as soon as others wait. So a
 * hostile film holds up nobody's pictures, and files that are done quickly wait for none that are not. In
 * each lane owners take turns.
 */
export class ReaderPool {
  readonly #options: ReaderPoolOptions;
  readonly #fresh = new FairQueue<Job>();
  readonly #slow = new FairQueue<Job>();
  /** In this order they are filled: a process that is warm already comes first. */
  readonly #lanes: readonly Lane[] = [false, true].map((isFast) => ({
    isFast,
    reader: null,
    running: null,
    rest: null,
  }));

  constructor(options: ReaderPoolOptions) {
    this.#options = options;
  }

  run(errand: Errand, { ownerId, signal }: ProbeCall): Promise<ReaderAnswer> {
    return new Promise<ReaderAnswer>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = (): void => this.#drop(job, signal.reason);
      const settled = (): void => signal.removeEventListener("abort", onAbort);
      const job: Job = {
        ...errand,
        ownerId,
        resolve: (answer) => (settled(), resolve(answer)),
        reject: (reason) => (settled(), reject(reason)),
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#fresh.add(ownerId, job);
      this.#fill();
    });
  }

  /** Whoever still waits is refused. */
  close(): void {
    const closed = notRead("The pool was closed.");
    for (const job of [...this.#fresh.clear(), ...this.#slow.clear()]) job.reject(closed);
    for (const lane of this.#lanes) {
      lane.running?.stop.abort(closed);
      this.#part(lane);
    }
  }

  #drop(job: Job, reason: unknown): void {
    this.#fresh.remove(job.ownerId, job);
    this.#slow.remove(job.ownerId, job);
    this.#lanes.find(({ running }) => running?.job === job)?.running?.stop.abort(reason);
    job.reject(reason);
  }

  #fill(): void {
    for (const lane of this.#lanes) {
      if (lane.running !== null) continue;
      const job = (lane.isFast ? null : this.#slow.take()) ?? this.#fresh.take();
      if (job !== null) void this.#serve(lane, job);
    }
  }

  async #serve(lane: Lane, job: Job): Promise<void> {
    const running: Running = { job, stop: new AbortController(), spentMs: 0 };
    lane.running = running;
    try {
      const reader = this.#take(lane);
      const onSpent = (ms: number): void => {
        running.spentMs += ms;
        this.#stepAside(lane, running);
      };
      job.resolve(await reader.read({ ...job, signal: running.stop.signal, onSpent }));
      this.#rest(lane, reader);
    } catch (error) {
      this.#part(lane);
      if (error === STEP_ASIDE) this.#slow.add(job.ownerId, job);
      else job.reject(error);
    }
    lane.running = null;
    this.#fill();
  }

  #stepAside({ isFast }: Lane, { spentMs, stop }: Running): void {
    const quickMs = this.#options.quickMs ?? QUICK_MS;
    if (isFast && spentMs >= quickMs && this.#fresh.size > 0) stop.abort(STEP_ASIDE);
  }

  #take(lane: Lane): MediaReader {
    if (lane.rest !== null) clearTimeout(lane.rest);
    lane.rest = null;
    if (lane.reader?.isAlive !== true)
      lane.reader = new MediaReader(this.#options.start(), this.#options.limits);
    lane.reader.hold(true);
    return lane.reader;
  }

  #rest(lane: Lane, reader: MediaReader): void {
    reader.hold(false);
    lane.rest = setTimeout(() => this.#part(lane), this.#options.keepMs ?? KEEP_MS).unref();
  }

  #part(lane: Lane): void {
    if (lane.rest !== null) clearTimeout(lane.rest);
    lane.rest = null;
    lane.reader?.end();
    lane.reader = null;
  }
}
