import { Cron } from "croner";
import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import type { PublishRun } from "../services/publishing/publish-io.ts";
import { abandonLease, type ClaimedPost } from "../store/publishing/claims.ts";
import { readNextAfter } from "../store/publishing/due-posts.ts";
import { checkpoint } from "../store/engine/db.ts";
import type { Lease } from "../store/publishing/ledger.ts";
import type { WorkerLocks } from "../store/engine/worker-lock.ts";
import { ClockWatch } from "./clock-watch.ts";
import { publishOne, runOptions } from "./publish-one.ts";
import { READ_AHEAD_MS, ReadAhead } from "./read-ahead.ts";
import { claimDue } from "./tick.ts";
import { Turn } from "./turn.ts";
import {
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
  /** True while ticks succeed. */
  isHealthy(): boolean;
  /** Takes nothing new, lets what runs finish for `graceMs`, then stops it; the next process goes on from the ledger. */
  close(graceMs?: number): Promise<void>;
}

export interface PublisherOptions {
  readonly identity: WorkerIdentity;
  readonly locks: WorkerLocks;
  /** Notes beside the database how far it has come, so that an older copy of it is noticed. Default: nothing is noted. */
  readonly mark?: () => Promise<void>;
}

/** Posts one process works on at a time: each waits in memory, some ten kilobytes of it, for its turn to be sent. */
const MAX_RUNNING = 10_240;

/** Those of them that may bring media, which hold files and pictures besides. */
const MAX_RUNNING_WITH_MEDIA = 512;

/** Posts claimed in one transaction: few at first, so that the first goes out at once, then more, because each costs an fsync. */
const FIRST_BATCH = 100;
const LARGEST_BATCH = 1_600;

/** A tick older than this means that the publisher hangs. */
const HEALTHY_WITHIN_MS = 15 * SECOND;

/**
 * Publishes what is due: a tick each second, and a timer for the moment in between at which the next post is due.
 * Any number of processes on one data folder may run it.
 */
export async function startPublisher(ctx: AppContext, options: PublisherOptions): Promise<Publisher> {
  const lock = options.locks.hold(ctx.workerId);
  await enlistWorker(ctx, options.identity);
  const mark = async (): Promise<void> => {
    await options
      .mark?.()
      .catch((error: unknown) =>
        ctx.log.warn({ err: error }, "how far the database has come could not be noted"),
      );
  };
  const loop = new Loop(ctx, options.locks, mark);
  // The callback's rejection must not end the process: a full disk or a lock passes.
  const job = new Cron("* * * * * *", { protect: true, catch: (error) => loop.noteFailure(error) }, () =>
    loop.tick(),
  );
  // At once, not at the next second: what a dead process left is taken up before anything else.
  await loop.tick().catch((error: unknown) => loop.noteFailure(error));
  return {
    wake: () => loop.wake(),
    isHealthy: () => loop.isHealthy(),
    async close(graceMs = 8 * SECOND) {
      job.stop();
      await loop.close(graceMs);
      await dismissWorker(ctx);
      await mark();
      lock.release();
    },
  };
}

class Loop {
  readonly #ctx: AppContext;
  readonly #locks: WorkerLocks;
  readonly #mark: () => Promise<void>;
  readonly #clock: ClockWatch;
  #running = 0;
  /** Called when nothing runs any more. */
  #onIdle: (() => void) | null = null;
  readonly #readAhead: ReadAhead;
  readonly #turn = new Turn();
  readonly #stop = new AbortController();
  #pass: Promise<void> | null = null;
  #runningWithMedia = 0;
  #unwritten: Lease[] = [];
  #isPassWanted = false;
  /** Posts that missed their time are looked for once a tick: it goes through everything that is due. */
  #isSweepDue = true;
  #timer: NodeJS.Timeout | null = null;
  #wakeUp: NodeJS.Immediate | null = null;
  #isClosing = false;
  #lastGoodTick: number;
  #lastBeat: number;

  constructor(ctx: AppContext, locks: WorkerLocks, mark: () => Promise<void>) {
    this.#ctx = ctx;
    this.#locks = locks;
    this.#mark = mark;
    this.#clock = new ClockWatch(ctx);
    this.#readAhead = new ReadAhead(ctx, runOptions(this.#stop.signal, this.#turn));
    this.#lastGoodTick = ctx.clock.monotonic();
    this.#lastBeat = -Infinity;
  }

  isHealthy(): boolean {
    return this.#ctx.clock.monotonic() - this.#lastGoodTick < HEALTHY_WITHIN_MS;
  }

  noteFailure(error: unknown): void {
    this.#ctx.log.error({ err: error }, "a tick of the publisher failed; the next one tries again");
  }

  async tick(): Promise<void> {
    const { clock } = this.#ctx;
    if (clock.monotonic() - this.#lastBeat >= HEARTBEAT_EVERY_MS || this.#clock.hasJumped()) {
      await beat(this.#ctx);
      await this.#clock.note();
      await this.#mark();
      // In a commit it would make posts wait that are due at that moment.
      if (this.#running === 0) checkpoint(this.#ctx.db.raw);
      this.#lastBeat = clock.monotonic();
    }
    await this.#abandonUnwritten();
    await freeDeadWorkers(this.#ctx, this.#locks);
    this.#isSweepDue = true;
    await this.#runPass();
    this.#lastGoodTick = clock.monotonic();
  }

  wake(): void {
    this.#runPass().catch((error: unknown) => this.noteFailure(error));
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#pass?.catch(() => {});
    await this.#readAhead.close();
    if (this.#running === 0) return;
    const cutOff = setTimeout(() => this.#stop.abort(new Error("The publisher is stopping.")), graceMs);
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    clearTimeout(cutOff);
  }

  /** One pass at a time; a wish that comes during one is granted after it. */
  #runPass(): Promise<void> {
    if (this.#isClosing) return Promise.resolve();
    this.#isPassWanted = true;
    this.#pass ??= this.#passes().finally(() => {
      this.#pass = null;
    });
    return this.#pass;
  }

  async #passes(): Promise<void> {
    while (this.#isPassWanted && !this.#isClosing) {
      this.#isPassWanted = false;
      const next = readNextAfter(this.#ctx.db.raw, 0);
      if (next !== null && next <= this.#ctx.clock.now() && !this.#clock.isHeld()) await this.#claimAll();
    }
    this.#armTimer();
  }

  /** Nothing that can wait is written while there are more to claim: all of them are due already. */
  async #claimAll(): Promise<void> {
    let isMore = true;
    try {
      for (let batch = FIRST_BATCH; isMore; batch = Math.min(batch * 2, LARGEST_BATCH)) {
        const limit = Math.min(batch, MAX_RUNNING - this.#running);
        const { claimed, found } = await claimDue(this.#ctx, {
          limit,
          mediaLimit: MAX_RUNNING_WITH_MEDIA - this.#runningWithMedia,
          failsMissed: this.#isSweepDue,
          readAhead: this.#readAhead,
        });
        this.#isSweepDue = false;
        const works = claimed.map((one) => ({ one, ready: this.#readAhead.runOf(one) }));
        const isAhead = this.#readAhead.drop(found);
        isMore = found.length === limit && (isAhead || claimed.length > 0) && !this.#isClosing;
        if (isMore) this.#turn.take();
        for (const { one, ready } of works) this.#start(one, ready);
      }
    } finally {
      this.#turn.pass();
    }
  }

  #start(claimed: ClaimedPost, ready: PublishRun | undefined): void {
    this.#running += 1;
    if (!claimed.isLight) this.#runningWithMedia += 1;
    publishOne(this.#ctx, claimed, {
      signal: this.#stop.signal,
      turn: this.#turn,
      ready,
      onEnding: this.#onEnding,
    }).then(
      (isNextLookedFor) => this.#noteOver(claimed, isNextLookedFor),
      (error: unknown) => this.#recover(claimed, error),
    );
  }

  /** The account's next post is claimed along with the end of this one, where there is room for it beside this one. */
  readonly #onEnding = (): boolean => {
    const isRoom = this.#running < MAX_RUNNING && this.#runningWithMedia < MAX_RUNNING_WITH_MEDIA;
    if (isRoom) this.wake();
    return isRoom;
  };

  #noteOver(claimed: ClaimedPost, isNextLookedFor: boolean): void {
    this.#running -= 1;
    if (!claimed.isLight) this.#runningWithMedia -= 1;
    if (this.#running === 0) this.#onIdle?.();
    if (!isNextLookedFor) this.#wakeSoon();
  }

  /** Many end in the same turn of the event loop. */
  #wakeSoon(): void {
    if (this.#wakeUp !== null) return;
    this.#wakeUp = setImmediate(() => {
      this.#wakeUp = null;
      this.wake();
    });
  }

  /** Its end could not be written (a full disk): we still hold the lease, and give it back once writing works again. */
  #recover(claimed: ClaimedPost, error: unknown): void {
    this.#ctx.log.error(
      { err: error, postId: claimed.post.id },
      "what became of a post could not be written",
    );
    this.#unwritten.push(claimed.lease);
    this.#noteOver(claimed, false);
  }

  async #abandonUnwritten(): Promise<void> {
    if (this.#unwritten.length === 0) return;
    const leases = [...this.#unwritten];
    await this.#ctx.db.commit((raw) =>
      leases.forEach((lease) => abandonLease(raw, lease, this.#ctx.clock.now())),
    );
    this.#unwritten = this.#unwritten.filter((lease) => !leases.includes(lease));
  }

  /** Croner looks once a second; this is for the moment in between. Timers may fire early, so the claim looks at the clock. */
  #armTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isClosing) return;
    const now = this.#ctx.clock.now();
    const next = readNextAfter(this.#ctx.db.raw, now);
    const wait = next === null ? null : next - now;
    if (wait === null) return;
    if (wait <= READ_AHEAD_MS) this.#readAhead.start();
    if (wait <= SECOND) this.#timer = setTimeout(() => this.wake(), Math.ceil(wait));
  }
}
