import { AppError } from "../../src/domain/errors.ts";
import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Death, Engine, Liveness, Tx } from "../../src/store/engine/engine.ts";
import { CommitUnanswered } from "../../src/store/engine/unanswered.ts";
import type { Realm, World } from "./world.ts";

/*
 * What is different where the database is on a server that several machines reach, played at the engine's interface:
 * who lives is known by heartbeats and locks, a COMMIT may go unanswered, and a transaction may run twice.
 */

const COMMIT_FAULTS = { unanswered: 0.01, unansweredAndUndone: 0.005, again: 0.03 } as const;

interface Held {
  readonly realm: Realm;
  /** The last heartbeat, in true time. */
  at: number;
  /** Its connection has ended: the lock is free from then on. */
  freeFrom: number;
}

export class Server {
  readonly #world: World;
  readonly #held = new Map<string, Held>();
  /** No faults once this is set. */
  isCalm = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Of one machine. `isCut`: it does not reach the server. */
  connect(realm: Realm, isCut: () => boolean): ServerConnection {
    return new ServerConnection(this.#world, { realm, isCut, held: this.#held, server: this });
  }
}

interface Link {
  readonly realm: Realm;
  readonly isCut: () => boolean;
  readonly held: Map<string, Held>;
  readonly server: Server;
}

export class ServerConnection {
  readonly #world: World;
  readonly #link: Link;
  readonly #workers = new Map<string, (reason: Error) => void>();
  #confirmed = 0;
  #isBeating = false;

  constructor(world: World, link: Link) {
    this.#world = world;
    this.#link = link;
  }

  /** The database's, which all machines go by. */
  get clock(): Clock {
    return { ...systemClock, now: () => Math.floor(this.#world.now) };
  }

  liveness(listWorkers: (besides: string) => Promise<readonly string[]>): Liveness {
    const { held, realm, isCut } = this.#link;
    return {
      clock: this.clock,
      hold: async (workerId, onLost) => {
        if (isCut()) throw unreachable();
        held.set(workerId, { realm, at: this.#world.now, freeFrom: Infinity });
        this.#workers.set(workerId, onLost);
        this.#confirmed = systemClock.monotonic();
        this.#beatSoon();
        return { release: async () => void (this.#workers.delete(workerId), held.delete(workerId)) };
      },
      check: () => this.#check(),
      hasEnded: () => false,
      listDead: async (besides) =>
        (await listWorkers(besides)).filter((id) => this.#silentMs(id) > TIME_LIMITS.takeOver),
    };
  }

  death = async (_tx: Tx, workerId: string): Promise<Death | null> => {
    const one = this.#link.held.get(workerId);
    const { now } = this.#world;
    if (one === undefined) return { arrivedAt: Math.floor(now) + TIME_LIMITS.arrives };
    const isFree = now >= one.freeFrom || one.realm.isDead || now - one.at > TIME_LIMITS.locksFreed;
    if (!isFree || now - one.at <= TIME_LIMITS.takeOver) return null;
    return { arrivedAt: Math.floor(one.at) + TIME_LIMITS.stopsByItself + TIME_LIMITS.arrives };
  };

  /** A write as it goes over a network. */
  async write<T>(engine: Engine, work: (tx: Tx) => Promise<T>): Promise<T> {
    const world = this.#world;
    if (this.#link.isCut()) {
      await world.sleep(world.between(10, 5_000));
      throw unreachable();
    }
    const isCalm = this.#link.server.isCalm || !world.allows("commit");
    const luck = isCalm ? 0.5 : world.random();
    const { unanswered, unansweredAndUndone, again } = COMMIT_FAULTS;
    if (luck < unansweredAndUndone) throw new CommitUnanswered(new Error("The connection was lost."));
    if (luck < unansweredAndUndone + again) await undone(engine, work);
    const result = await engine.write(work);
    if (luck > 1 - unanswered) throw new CommitUnanswered(new Error("The connection was lost."));
    return result;
  }

  #silentMs(workerId: string): number {
    return this.#world.now - (this.#link.held.get(workerId)?.at ?? -Infinity);
  }

  #beatSoon(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    systemClock.after(TIME_LIMITS.beatEvery, () => {
      this.#isBeating = false;
      if (this.#workers.size === 0) return;
      if (this.#link.isCut()) return this.#lose("The heartbeat was not answered.");
      this.#check();
      for (const id of this.#workers.keys()) {
        const one = this.#link.held.get(id);
        if (one !== undefined) one.at = this.#world.now;
      }
      this.#confirmed = systemClock.monotonic();
      this.#beatSoon();
    });
  }

  #check(): void {
    const silentMs = systemClock.monotonic() - this.#confirmed;
    if (this.#workers.size > 0 && silentMs > TIME_LIMITS.stopsByItself)
      this.#lose(`The server has not answered for ${Math.round(silentMs)} ms.`);
  }

  #lose(why: string): void {
    const losing = [...this.#workers];
    this.#workers.clear();
    for (const [, onLost] of losing) onLost(new Error(why));
    // Only now: from here on the server may give the locks to others.
    for (const [id] of losing) {
      const one = this.#link.held.get(id);
      if (one !== undefined) one.freeFrom = this.#world.now;
    }
  }
}

/** What a transaction did is taken back, and it runs again. */
async function undone<T>(engine: Engine, work: (tx: Tx) => Promise<T>): Promise<void> {
  const stop = new Error("could not serialize access");
  await engine
    .write(async (tx) => {
      await work(tx);
      throw stop;
    })
    .catch((error: unknown) => {
      if (error !== stop) throw error;
    });
}

function unreachable(): AppError {
  return new AppError("unavailable", "The database cannot be reached.");
}
