import type { Client } from "pg";
import { SECOND } from "../../domain/time.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import type { Clock } from "../../ports/clock.ts";

/** Milliseconds. A worker stops before the server may give its locks to others, by either's clock. */
export interface HeartbeatTimes {
  readonly beatEveryMs: number;
  /** The connection counts as lost after so long without an answer. */
  readonly answerWithinMs: number;
  /** After so long without a heartbeat the server closes the connection, which frees its locks. */
  readonly silentMs: number;
}

export const TIMES: HeartbeatTimes = {
  beatEveryMs: TIME_LIMITS.beatEvery,
  answerWithinMs: TIME_LIMITS.stopsByItself,
  silentMs: TIME_LIMITS.locksFreed,
};

interface HeartbeatOptions {
  /** Connects to the server itself: a pooler keeps no locks and no LISTEN. */
  readonly connect: () => Promise<Client>;
  readonly clock: Clock;
  readonly times: HeartbeatTimes;
  /** Gets the database's time with each heartbeat. */
  readonly onTime: (databaseNow: number) => void;
  readonly onNotice: () => void;
}

/** The channel of NOTIFY by which processes wake each other. */
export const CHANNEL = "posthorn";

const BEAT = `WITH beaten AS (
    UPDATE workers SET heartbeat_at = floor(extract(epoch FROM clock_timestamp()) * 1000),
      server = pg_postmaster_start_time() WHERE id = ANY($1))
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;
const LOCK = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_held";
const UNLOCK = "SELECT pg_advisory_unlock(hashtextextended($1, 0))";

/** How long an orderly end may take before the connection is cut. */
const END_WITHIN_MS = SECOND;

/**
 * The heartbeat connection. The server holds an advisory lock for each worker of this process while the
 * connection lasts, which shows others that they live. When it is lost, the workers are told in the same turn
 * of the event loop.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #client: Client;
  readonly #workers = new Map<string, (reason: Error) => void>();
  /** When the last answered heartbeat was sent. By two clocks: one of them stops while the machine sleeps. */
  #confirmed: { readonly monotonic: number; readonly wall: number };
  #isOver = false;
  #cancelBeat: () => void = () => {};

  private constructor(client: Client, options: HeartbeatOptions) {
    this.#options = options;
    this.#confirmed = this.#readClocks();
    this.#client = client;
    client.on("error", (error) => this.#lose(error));
    client.on("end", () => this.#lose(new Error("PostgreSQL ended the connection.")));
    client.on("notification", () => options.onNotice());
  }

  /** Throws what `connect` throws, or the driver's error. */
  static async open(options: HeartbeatOptions): Promise<Heartbeat> {
    const heartbeat = new Heartbeat(await options.connect(), options);
    try {
      await heartbeat.#ask(`SET idle_session_timeout = ${options.times.silentMs}; LISTEN ${CHANNEL}`);
      await heartbeat.#beat();
    } catch (error) {
      heartbeat.#lose(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    return heartbeat;
  }

  /** Lost or ended: another one is needed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** False where another connection has the lock, for example the last one of this process. */
  async hold(workerId: string, onLost: (reason: Error) => void): Promise<boolean> {
    const [row] = await this.#ask<{ is_held: boolean }>(LOCK, [workerId]);
    if (row?.is_held !== true) return false;
    this.#workers.set(workerId, onLost);
    return true;
  }

  async release(workerId: string): Promise<void> {
    if (!this.#workers.delete(workerId) || this.#isOver) return;
    if (this.#workers.size === 0) return this.end();
    await this.#ask(UNLOCK, [workerId]);
  }

  /** Gives the connection up now where it is due: a process that stood still must notice before it sends. */
  check(): void {
    const now = this.#readClocks();
    const silentMs = Math.max(now.monotonic - this.#confirmed.monotonic, now.wall - this.#confirmed.wall);
    if (silentMs > this.#options.times.answerWithinMs)
      this.#lose(new Error(`PostgreSQL has not answered for ${Math.round(silentMs / SECOND)} seconds.`));
  }

  async end(): Promise<void> {
    if (!this.#stop()) return;
    const cancel = this.#options.clock.after(END_WITHIN_MS, () => this.#cut());
    await this.#client.end().catch(() => {});
    cancel();
  }

  /** False where it is over already. */
  #stop(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelBeat();
    return true;
  }

  #lose(reason: Error): void {
    if (!this.#stop()) return;
    for (const onLost of this.#workers.values()) onLost(reason);
    // Only now: from here on the server may give the locks to others.
    this.#cut();
  }

  #cut(): void {
    this.#client.connection.stream.destroy();
  }

  async #beat(): Promise<void> {
    const { clock, times, onTime } = this.#options;
    const sent = this.#readClocks();
    const [row] = await this.#ask<{ now: number }>(BEAT, [[...this.#workers.keys()]]);
    if (this.#isOver) return;
    this.#confirmed = sent;
    if (row !== undefined) onTime(row.now);
    this.#cancelBeat = clock.after(times.beatEveryMs, () => {
      this.#beat().catch((cause: unknown) =>
        this.#lose(new Error("PostgreSQL has not answered the heartbeat.", { cause })),
      );
    });
  }

  /** The limit counts from the heartbeat before: together they are `answerWithinMs`. */
  async #ask<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    const { answerWithinMs, beatEveryMs } = this.#options.times;
    const limited = { text, values, query_timeout: answerWithinMs - beatEveryMs };
    return (await this.#client.query<T>(limited)).rows;
  }

  #readClocks(): { readonly monotonic: number; readonly wall: number } {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }
}
