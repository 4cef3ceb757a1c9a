import type { Client } from "pg";
import { SECOND } from "../../../domain/time.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Milliseconds. A worker stops before the server takes it for gone, by whichever clock of the two. */
export interface TieTimes {
  readonly beatEveryMs: number;
  /** Without an answer for so long the tie counts as lost. */
  readonly answerWithinMs: number;
  /** Without a word for so long the server gives up the connection, and the locks with it. */
  readonly silentMs: number;
}

export const TIMES: TieTimes = {
  beatEveryMs: 5 * SECOND,
  answerWithinMs: 10 * SECOND,
  silentMs: 20 * SECOND,
};

export interface TieOptions {
  /** To the server itself: locks and LISTEN do not live behind a pooler. */
  readonly connect: () => Promise<Client>;
  readonly clock: Clock;
  readonly times: TieTimes;
  /** Hears the database's clock with each beat. */
  readonly onTime: (databaseNow: number) => void;
  readonly onNotice: () => void;
}

/** On which whoever has something to do for others calls them. */
export const CHANNEL = "posthorn";

const BEAT = `WITH beaten AS (
    UPDATE workers SET heartbeat_at = floor(extract(epoch FROM clock_timestamp()) * 1000) WHERE id = ANY($1))
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;
const LOCK = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_held";
const UNLOCK = "SELECT pg_advisory_unlock(hashtextextended($1, 0))";

/** What closes a connection in order gets, before it is cut. */
const END_WITHIN_MS = SECOND;

/**
 * The one connection by which others see that the workers of this process live: the server holds their locks
 * for as long as it lasts. Whatever befalls it, those workers are told in the same turn of the event loop.
 */
export class Tie {
  readonly #options: TieOptions;
  readonly #client: Client;
  readonly #holds = new Map<string, (reason: Error) => void>();
  /** When what the server answered last was asked, by both clocks: a machine that sleeps stops one of them. */
  #confirmed: { readonly monotonic: number; readonly wall: number };
  #isOver = false;
  #cancelBeat: () => void = () => {};
  #cancelWatch: () => void = () => {};

  private constructor(client: Client, options: TieOptions) {
    const { clock } = options;
    this.#options = options;
    this.#confirmed = { monotonic: clock.monotonic(), wall: clock.now() };
    this.#client = client;
    client.on("error", (error) => this.#lose(error));
    client.on("end", () => this.#lose(new Error("PostgreSQL ended the connection.")));
    client.on("notification", () => options.onNotice());
  }

  /** Throws what `connect` throws, or the driver's error. */
  static async open(options: TieOptions): Promise<Tie> {
    const client = await options.connect();
    const tie = new Tie(client, options);
    tie.#watch();
    try {
      await client.query(`SET idle_session_timeout = ${options.times.silentMs}; LISTEN ${CHANNEL}`);
      await tie.#beat();
    } catch (error) {
      tie.#lose(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    return tie;
  }

  /** Lost or ended: another one is needed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** False where another connection has the lock: this process's last one, say, which the server still keeps. */
  async hold(workerId: string, onLost: (reason: Error) => void): Promise<boolean> {
    const { rows } = await this.#client.query<{ is_held: boolean }>(LOCK, [workerId]);
    if (rows[0]?.is_held !== true) return false;
    this.#holds.set(workerId, onLost);
    return true;
  }

  async release(workerId: string): Promise<void> {
    if (!this.#holds.delete(workerId) || this.#isOver) return;
    if (this.#holds.size === 0) return this.end();
    await this.#client.query(UNLOCK, [workerId]);
  }

  /** Loses the tie now where it is due: a process that stood still sends nothing before it knows. */
  check(): void {
    const { clock, times } = this.#options;
    const silentMs = Math.max(
      clock.monotonic() - this.#confirmed.monotonic,
      clock.now() - this.#confirmed.wall,
    );
    if (silentMs > times.answerWithinMs)
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
    this.#cancelWatch();
    return true;
  }

  #lose(reason: Error): void {
    if (!this.#stop()) return;
    for (const onLost of this.#holds.values()) onLost(reason);
    // Not before: from now on the server may give the locks to others.
    this.#cut();
  }

  #cut(): void {
    this.#client.connection.stream.destroy();
  }

  async #beat(): Promise<void> {
    const { clock, times, onTime } = this.#options;
    const asked = { monotonic: clock.monotonic(), wall: clock.now() };
    const { rows } = await this.#client.query<{ now: number }>(BEAT, [[...this.#holds.keys()]]);
    if (this.#isOver) return;
    this.#confirmed = asked;
    const databaseNow = rows[0]?.now;
    if (databaseNow !== undefined) onTime(databaseNow);
    this.#watch();
    this.#cancelBeat = clock.after(times.beatEveryMs, () => {
      this.#beat().catch((error: Error) => this.#lose(error));
    });
  }

  #watch(): void {
    const { clock, times } = this.#options;
    this.#cancelWatch();
    const leftMs = this.#confirmed.monotonic + times.answerWithinMs - clock.monotonic();
    this.#cancelWatch = clock.after(Math.max(0, leftMs) + 1, () => {
      this.check();
      // Timers may fire early; without a next look a silent tie would never be lost.
      if (!this.#isOver) this.#watch();
    });
  }
}
