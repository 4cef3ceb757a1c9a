import { Cron } from "croner";
import pLimit from "p-limit";
import { SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import type { AppContext } from "../context.ts";
import {
  RepeatedFailures,
  announceEnd,
  beat,
  HEARTBEAT_EVERY_MS,
  registerWorker,
  takeOverFromDead,
  unregisterWorker,
  type WorkerIdentity,
} from "./workers.ts";
import { Fenced, type Lease } from "../store/engine/ledger.ts";
import { claimDue, sweep, LateCauses, type PostAtWork } from "./claim.ts";
import { ClockWatch } from "./clock-watch.ts";
import { runPost } from "./run.ts";

export interface Publisher {
  /** Looks for due posts now. */
  wake(): void;
  /** True while ticks succeed; after one that did not, once something was written again. */
  isHealthy(): boolean;
  /** Takes nothing new, lets what runs finish for `graceMs`, then stops it; the ledger says how to go on. */
  close(graceMs?: number): Promise<void>;
}

interface PublisherOptions {
  readonly identity: WorkerIdentity;
  /** Called once it has stopped because it may be taken for dead; what it held is for others. Default: not. */
  readonly onLost?: (reason: Error) => void;
  /** Notes how far the database has come: an older copy is noticed by that. Never throws. Default: not. */
  readonly mark?: () => Promise<void>;
}

/** Posts that one process works on at a time. */
const MAX_RUNNING = 1_024;
/** Of these, posts with media that are sent at a time: they hold files and pictures besides. */
const MAX_SENDING_MEDIA = 256;

/** Posts claimed in one transaction: larger means fewer fsyncs, but delays the first post. */
const FIRST_BATCH = 50;
const LARGEST_BATCH = 400;

const STOPPING = new Error("The publisher is stopping.");

/** A tick older than this means that the publisher hangs, or cannot write: a write waits for ten seconds. */
const HEALTHY_WITHIN_MS = TIME_LIMITS.healthyWithin;

/**
 * Publishes what is due: a tick each second, and a timer for the moment in between at which the next post is
 * due. Any number of processes on one database may run it.
 */
export async function startPublisher(ctx: AppContext, options: PublisherOptions): Promise<Publisher> {
  const { identity, onLost, mark = async () => {} } = options;
  const loop = new Loop(ctx, mark);
  let isLost = false;
  const hold = await registerWorker(ctx, identity, (reason) => {
    isLost = true;
    loop.lose();
    onLost?.(reason);
  });
  // At once, not at the next second: what a dead process left is claimed before anything else.
  await loop.tick().catch((error: unknown) => loop.noteFailure(error));
  // The callback's rejection must not end the process: a full disk or a lock passes.
  const job = new Cron("* * * * * *", { protect: true, catch: (error) => loop.noteFailure(error) }, () =>
    loop.tick(),
  );
  return {
    wake: () => loop.wake(),
    isHealthy: () => loop.isHealthy(),
    async close(graceMs = TIME_LIMITS.postsDrain as number) {
      job.stop();
      await loop.close(graceMs);
      if (!isLost) await unregisterWorker(ctx).then(mark);
      await hold.release();
    },
  };
}

class Loop {
  readonly #ctx: AppContext;
  readonly #mark: () => Promise<void>;
  readonly #lateCauses = new LateCauses();
  readonly #clock: ClockWatch;
  readonly #media = pLimit(MAX_SENDING_MEDIA);
  readonly #running = new Set<Promise<void>>();
  /** A post in quarantine is being worked on. */
  #isQuarantineBusy = false;
  readonly #stop = new AbortController();
  /** Posts whose result could not be written (a full disk). They are released once writing works again. */
  #unwritten: readonly Lease[] = [];
  #ticking: Promise<void> = Promise.resolve();
  /** Single flight: a pass that is wanted while one runs is made after it, once for all who want it. */
  #passing: Promise<void> | null = null;
  #isPassWanted = false;
  /** Posts that missed their time are looked for once a tick: it goes through everything that is due. */
  #isSweepDue = true;
  #timer: NodeJS.Timeout | null = null;
  #isWakingUp = false;
  #isClosing = false;
  #lastGoodTick: number;
  readonly #failures = new RepeatedFailures();
  #lastBeat = -Infinity;

  constructor(ctx: AppContext, mark: () => Promise<void>) {
    this.#ctx = ctx;
    this.#mark = mark;
    this.#clock = new ClockWatch(ctx, this.#lateCauses);
    this.#lastGoodTick = ctx.clock.monotonic();
  }

  isHealthy(): boolean {
    return this.#ctx.clock.monotonic() - this.#lastGoodTick < HEALTHY_WITHIN_MS;
  }

  noteFailure(error: unknown): void {
    this.#lastGoodTick = this.#lastBeat = -Infinity;
    // The process ends with a sentence for it.
    if (!this.#ctx.store.isPresent()) return;
    this.#failures.note(this.#ctx.log, error, "a tick of the publisher failed, and the next one tries again");
  }

  tick(): Promise<void> {
    return (this.#ticking = this.#runTick());
  }

  async #runTick(): Promise<void> {
    if (this.#isClosing) return;
    const { clock, store } = this.#ctx;
    if (clock.monotonic() - this.#lastBeat >= HEARTBEAT_EVERY_MS || this.#clock.hasJumped()) {
      await beat(this.#ctx);
      await this.#clock.note();
      await this.#mark();
      // Within a commit it would make posts wait that are due at that moment.
      if (this.#running.size === 0) await store.tidy();
      this.#lastBeat = clock.monotonic();
    }
    await this.#releaseUnwritten();
    await takeOverFromDead(this.#ctx);
    this.#isSweepDue = true;
    await this.#pass();
    this.#lastGoodTick = clock.monotonic();
    this.#failures.end(this.#ctx.log, "the publisher works again");
  }

  wake(): void {
    this.#pass().catch((error: unknown) => this.noteFailure(error));
  }

  /** Breaks off what is in flight. Nothing more is written of it. */
  lose(): void {
    this.#isClosing = true;
    this.#stop.abort(new Fenced("all posts of this worker"));
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#stop.signal.aborted) return;
    // It may still write, and the store is closed after us.
    await this.#ticking.catch(() => {});
    await this.#passing?.catch(() => {});
    if (this.#running.size === 0) return;
    const announced = announceEnd(this.#ctx).catch((error: unknown) => this.noteFailure(error));
    const cutOff = setTimeout(() => this.#stop.abort(STOPPING), graceMs);
    await Promise.all(this.#running);
    clearTimeout(cutOff);
    await announced;
  }

  #pass(): Promise<void> {
    this.#isPassWanted = true;
    this.#passing ??= this.#passWhileWanted();
    return this.#passing;
  }

  /** Its end and the last look at the wish are one turn of the event loop, so that no wish is lost in between. */
  async #passWhileWanted(): Promise<void> {
    try {
      while (this.#isPassWanted && !this.#isClosing) {
        this.#isPassWanted = false;
        await this.#passOnce();
      }
    } finally {
      this.#passing = null;
    }
  }

  async #passOnce(): Promise<void> {
    const { clock, store } = this.#ctx;
    const now = clock.now();
    const next = await store.claims.nextAfter(0);
    const isDue = next !== null && next <= now;
    if (isDue && this.#clock.isHeld()) this.#lateCauses.note("clock", now, now);
    else if (isDue) await this.#claimAll();
    this.#armTimer(isDue ? await store.claims.nextAfter(clock.now()) : next);
  }

  async #claimAll(): Promise<void> {
    if (this.#isSweepDue) await sweep(this.#ctx);
    this.#isSweepDue = false;
    const { clock, store } = this.#ctx;
    let batch = FIRST_BATCH;
    for (let isMore = true; isMore && !this.#isClosing; batch = Math.min(batch * 2, LARGEST_BATCH)) {
      const limit = Math.min(batch, MAX_RUNNING - this.#running.size);
      if (limit <= 0) return this.#lateCauses.note("limit", clock.now(), clock.now());
      const { posts, isFull } = await claimDue(this.#ctx, { limit, lateCauses: this.#lateCauses });
      for (const post of posts) this.#start(post);
      isMore = isFull && posts.length > 0;
    }
    if (this.#isQuarantineBusy || this.#isClosing || !(await store.claims.hasQuarantined(clock.now())))
      return;
    await this.#claimQuarantined();
  }

  /** One at a time: should it end the process again, it takes no other such post with it. */
  async #claimQuarantined(): Promise<void> {
    const wish = { limit: 1, isQuarantined: true, lateCauses: this.#lateCauses };
    const [post] = (await claimDue(this.#ctx, wish)).posts;
    if (post === undefined) return;
    this.#isQuarantineBusy = true;
    this.#start(post, () => (this.#isQuarantineBusy = false));
  }

  #start(claimed: PostAtWork, onOver: () => void = () => {}): void {
    const { clock } = this.#ctx;
    const claimedAt = clock.monotonic();
    const run = (signal: AbortSignal): Promise<void> =>
      runPost(this.#ctx, claimed, { signal, queuedMs: clock.monotonic() - claimedAt });
    const stop = this.#stop.signal;
    // What still waits for its turn at the end is released as it is.
    const runInTurn = (): Promise<void> =>
      run(this.#isClosing && !stop.aborted ? AbortSignal.abort(STOPPING) : stop);
    const running = (claimed.post.is_light === 1 ? run(stop) : this.#media(runInTurn))
      .catch((error: unknown) => this.#noteUnwritten(claimed, error))
      .then(() => {
        this.#running.delete(running);
        onOver();
        this.#wakeSoon();
      });
    this.#running.add(running);
  }

  /** The account's next post may be claimed. Many end in the same turn of the event loop. */
  #wakeSoon(): void {
    if (this.#isWakingUp) return;
    this.#isWakingUp = true;
    setImmediate(() => {
      this.#isWakingUp = false;
      this.wake();
    });
  }

  #noteUnwritten({ post, lease }: PostAtWork, error: unknown): void {
    this.#ctx.log.error({ err: error, postId: post.id }, "what became of a post could not be written");
    this.#lastGoodTick = this.#lastBeat = -Infinity;
    this.#unwritten = [...this.#unwritten, lease];
  }

  async #releaseUnwritten(): Promise<void> {
    const leases = this.#unwritten;
    if (leases.length === 0) return;
    await this.#ctx.store.claims.abandon(leases, this.#ctx.clock.now());
    this.#unwritten = this.#unwritten.filter((lease) => !leases.includes(lease));
  }

  /** For a moment between two ticks. Timers may fire early, so the claim looks at the clock. */
  #armTimer(next: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const leftMs = (next ?? Infinity) - this.#ctx.clock.now();
    if (leftMs > SECOND || this.#isClosing) return;
    this.#timer = setTimeout(() => this.wake(), Math.ceil(Math.max(0, leftMs)));
  }
}
