import { Cron } from "croner";
import { Gate } from "../domain/gate.ts";
import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import { RepeatedFailures } from "../services/health/repeated-failures.ts";
import type { ClaimedPost } from "../store/engine/claims.ts";
import { Fenced } from "../store/engine/ledger.ts";
import { ClockWatch } from "./clock-watch.ts";
import { LateCauses } from "./late-causes.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { Probation } from "./probation.ts";
import { publishOne } from "./publish-one.ts";
import { claimDue, claimSuspects, sweep } from "./tick.ts";
import { UnderWay, UnwrittenEnds } from "./under-way.ts";
import {
  announceEnd,
  beat,
  dismissWorker,
  enlistWorker,
  freeDeadWorkers,
  HEARTBEAT_EVERY_MS,
  type WorkerIdentity,
} from "./workers.ts";

export interface Publisher {
  /** Looks for due posts now. */
  wake(): void;
  /** True while ticks succeed; after one that did not, once something was written again. */
  isHealthy(): boolean;
  /** Takes nothing new, lets what runs finish for `graceMs`, then stops it; the ledger says how to go on. */
  close(graceMs?: number): Promise<void>;
}

export interface PublisherOptions {
  readonly identity: WorkerIdentity;
  /** Called once it has stopped because it may be taken for dead; what it held is for others. Default: not. */
  readonly onLost?: (reason: Error) => void;
  /** Notes how far the database has come: an older copy is noticed by that. Never throws. Default: not. */
  readonly mark?: () => Promise<void>;
}

/** Steps on their way to a platform at a time, each with a connection and its buffers. */
const MAX_SENDING = 1_024;

/** Posts claimed in one transaction: the first of them waits for the last, and each costs an fsync. */
const FIRST_BATCH = 50;
const LARGEST_BATCH = 400;

/** A tick older than this means that the publisher hangs, or cannot write: a write waits for ten seconds. */
const HEALTHY_WITHIN_MS = 10 * SECOND;

/**
 * Publishes what is due: a tick each second, and a timer for the moment in between at which the next post is
 * due. Any number of processes on one database may run it.
 */
export async function startPublisher(ctx: AppContext, options: PublisherOptions): Promise<Publisher> {
  const { identity, onLost, mark = async () => {} } = options;
  const loop = new Loop(ctx, mark);
  let isLost = false;
  const hold = await enlistWorker(ctx, identity, (reason) => {
    isLost = true;
    loop.lose();
    onLost?.(reason);
  });
  // At once, not at the next second: what a dead process left is taken up before anything else.
  await loop.tick().catch((error: unknown) => loop.noteFailure(error));
  // The callback's rejection must not end the process: a full disk or a lock passes.
  const job = new Cron("* * * * * *", { protect: true, catch: (error) => loop.noteFailure(error) }, () =>
    loop.tick(),
  );
  return {
    wake: () => loop.wake(),
    isHealthy: () => loop.isHealthy(),
    async close(graceMs = 8 * SECOND) {
      job.stop();
      await loop.close(graceMs);
      if (!isLost) await dismissWorker(ctx).then(mark);
      await hold.release();
    },
  };
}

class Loop {
  readonly #ctx: AppContext;
  readonly #mark: () => Promise<void>;
  readonly #lateCauses = new LateCauses();
  readonly #clock: ClockWatch;
  readonly #sending = new Gate(MAX_SENDING);
  readonly #stop = new AbortController();
  readonly #underWay = new UnderWay();
  readonly #probation: Probation;
  #ticking: Promise<void> = Promise.resolve();
  readonly #passes = new OneAtATime(() => this.#pass());
  /** Posts that missed their time are looked for once a tick: it goes through everything that is due. */
  #isSweepDue = true;
  readonly #unwritten = new UnwrittenEnds();
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
    this.#probation = new Probation(this.#lastGoodTick);
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

  /** One at a time: whoever calls waits for it, or looks after that, as Croner does. */
  tick(): Promise<void> {
    return (this.#ticking = this.#runTick());
  }

  async #runTick(): Promise<void> {
    if (this.#isClosing) return;
    const { clock } = this.#ctx;
    if (clock.monotonic() - this.#lastBeat >= HEARTBEAT_EVERY_MS || this.#clock.hasJumped()) {
      await beat(this.#ctx);
      await this.#clock.note();
      await this.#mark();
      // Within a commit it would make posts wait that are due at that moment.
      if (this.#underWay.count === 0) await this.#ctx.store.tidy();
      this.#lastBeat = clock.monotonic();
    }
    await this.#unwritten.abandon(this.#ctx);
    await freeDeadWorkers(this.#ctx);
    this.#isSweepDue = true;
    await this.#runPass();
    this.#lastGoodTick = clock.monotonic();
    this.#failures.end(this.#ctx.log, "the publisher works again");
  }

  wake(): void {
    this.#runPass().catch((error: unknown) => this.noteFailure(error));
  }

  /** Breaks off what is under way, of which nothing more is written. */
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
    await this.#passes.settle();
    if (this.#underWay.count === 0) return;
    const announced = announceEnd(this.#ctx).catch((error: unknown) => this.noteFailure(error));
    const cutOff = setTimeout(() => this.#stop.abort(new Error("The publisher is stopping.")), graceMs);
    await this.#underWay.idle();
    clearTimeout(cutOff);
    await announced;
  }

  async #runPass(): Promise<void> {
    if (!this.#isClosing) await this.#passes.run();
  }

  async #pass(): Promise<void> {
    if (this.#isClosing) return;
    const now = this.#ctx.clock.now();
    const next = await this.#ctx.store.claims.nextAfter(0);
    const isDue = next !== null && next <= now;
    if (isDue && this.#clock.isHeld()) this.#lateCauses.note("clock", now, now);
    else if (isDue) await this.#takeUp();
    await this.#armTimer();
  }

  async #takeUp(): Promise<void> {
    if (this.#isSweepDue) await sweep(this.#ctx);
    this.#isSweepDue = false;
    const around = { underWay: this.#underWay, lateCauses: this.#lateCauses };
    const suspects = await claimSuspects(this.#ctx, this.#probation, around);
    for (const post of suspects.posts) this.#start(post);
    if (!suspects.isOpen) return;
    let batch = FIRST_BATCH;
    for (let isMore = true; isMore && !this.#isClosing; batch = Math.min(batch * 2, LARGEST_BATCH)) {
      const room = this.#underWay.room();
      const limit = Math.min(batch, room.posts);
      const mediaLimit = room.withMedia;
      const now = this.#ctx.clock.now();
      const full = this.#underWay.fullOwners();
      if (limit <= 0 || mediaLimit <= 0 || full.posts.length + full.withMedia.length > 0) {
        this.#lateCauses.note("limit", now, now, { isMediaOnly: limit > 0 && full.posts.length === 0 });
      }
      if (limit <= 0) return;
      const { posts, isFull } = await claimDue(this.#ctx, { limit, mediaLimit, whom: "others", ...around });
      for (const post of posts) this.#start(post);
      isMore = isFull && posts.length > 0;
    }
  }

  #start(claimed: ClaimedPost): void {
    this.#underWay.begin(claimed);
    publishOne(this.#ctx, claimed, { signal: this.#stop.signal, sending: this.#sending }).then(
      () => this.#noteOver(claimed),
      (error: unknown) => this.#recover(claimed, error),
    );
  }

  /** The account's next post may be taken up. Many end in the same turn of the event loop. */
  #noteOver(claimed: ClaimedPost): void {
    this.#underWay.end(claimed);
    this.#probation.end(claimed.post.id);
    if (this.#isWakingUp) return;
    this.#isWakingUp = true;
    setImmediate(() => {
      this.#isWakingUp = false;
      this.wake();
    });
  }

  #recover(claimed: ClaimedPost, error: unknown): void {
    const fields = { err: error, postId: claimed.post.id };
    this.#ctx.log.error(fields, "what became of a post could not be written");
    this.#lastGoodTick = this.#lastBeat = -Infinity;
    this.#unwritten.add(claimed.lease);
    this.#noteOver(claimed);
  }

  /** For a moment between two ticks. Timers may fire early, so the claim looks at the clock. */
  async #armTimer(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const now = this.#ctx.clock.now();
    const next = await this.#ctx.store.claims.nextAfter(now);
    if (next === null || next - now > SECOND || this.#isClosing) return;
    this.#timer = setTimeout(() => this.wake(), Math.ceil(next - now));
  }
}
