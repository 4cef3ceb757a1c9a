import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { createRandom } from "../support/random.ts";

/*
 * A world in which one number decides everything. Time, timers and randomness of the whole process are the world's:
 * the code that runs in it is the product's own, and libraries (croner, p-limit, luxon) live in it too. Nothing else
 * may wait for anything outside: a promise goes on because of an event of the world, or at once.
 */

/** The process's own, from before the world took its place. */
const REAL = {
  Date,
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval,
  clearImmediate,
  random: Math.random,
  performanceNow: performance.now.bind(performance),
};

/** Past any answer to the question of what else is to be done at once: microtasks and ticks have run. */
const settled = (): Promise<void> => new Promise((resolve) => REAL.setImmediate(resolve));

/** Whoever's memory is lost together: what it awaits, nobody goes on with once it is dead. */
export interface Realm {
  readonly name: string;
  /** Added to the world's wall clock, in ms. */
  skewMs: number;
  /** The furthest that its clock has shown before it was set back: what was due then may go on. */
  shown: number;
  isDead: boolean;
  /** Stopped by the system: nothing of it runs until then. */
  frozenUntil: number;
}

interface Event {
  readonly at: number;
  readonly seq: number;
  readonly realm: Realm;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Of whatever is nobody's memory: the network, the platforms, the judge. */
export const OUTSIDE: Realm = { name: "world", skewMs: 0, shown: -Infinity, isDead: false, frozenUntil: 0 };

const realms = new AsyncLocalStorage<Realm>();
let current: World | null = null;

export class World {
  readonly random: () => number;
  /**
   * What the product throws dice with. Of ids and nonces it is another, as how many it takes depends on what the
   * process did before.
   */
  readonly dice: () => number;
  readonly nonces: () => number;
  /** Lines of what happened, the same for the same seed. */
  readonly trace: string[] = [];
  /** Ids in their order: what they are depends on the ids that the process made before. */
  readonly #ids = new Map<string, string>();
  readonly seed: number;
  /** Names of what does not happen here, though it is chosen: so the rest of the history stays nearly the same. */
  readonly #without: ReadonlySet<string>;
  readonly #events: Event[] = [];
  /** Called once all that follows from an event has been done in its realm. */
  onStep: (realm: Realm) => void = () => {};
  #now: number;
  #elapsed = 0;
  #seq = 0;

  constructor(seed: number, startsAt: number, without: readonly string[] = []) {
    this.seed = seed;
    this.#without = new Set(without);
    this.random = createRandom(seed);
    this.dice = createRandom(seed ^ 0x5eed);
    this.nonces = createRandom(seed ^ 0x1d5);
    this.#now = startsAt;
  }

  /** The true time, in ms since 1970. */
  get now(): number {
    return this.#now;
  }

  /** Since the world began, in ms. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** Whether this happens, once it is chosen. */
  allows(what: string): boolean {
    return !this.#without.has(what);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  }

  note(line: string): void {
    const seconds = (this.#elapsed / 1_000).toFixed(3);
    const numbered = line.replaceAll(/\b([a-z]+_)[0-9a-hjkmnp-tv-z]{26}\b/g, (id, kind: string) => {
      if (!this.#ids.has(id)) this.#ids.set(id, `${kind}${this.#ids.size + 1}`);
      return this.#ids.get(id) ?? id;
    });
    this.trace.push(`${seconds.padStart(10)} ${realms.getStore()?.name ?? OUTSIDE.name}: ${numbered}`);
  }

  /** Runs in the realm, which everything that follows from it belongs to. */
  in<T>(realm: Realm, work: () => T): T {
    return realms.run(realm, work);
  }

  after(ms: number, run: () => void, realm: Realm = realms.getStore() ?? OUTSIDE): Event {
    const event = { at: this.#elapsed + Math.max(0, ms), seq: this.#seq++, realm, run, isCancelled: false };
    this.#events.push(event);
    return event;
  }

  /** Resolves after so long, in the realm that waits; never where that is dead by then. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Lets this much time pass. All that is due by then has been done, each after its own consequences. */
  async run(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (let realm = OUTSIDE; ;) {
      await settled();
      this.onStep(realm);
      const next = this.#next(end);
      if (next === null) break;
      ({ realm } = next);
      this.#step(next.at);
      if (!next.realm.isDead) realms.run(next.realm, next.run);
    }
    this.#step(end);
  }

  /** Nobody notices, and everyone's clock shows it. For what no host lives through. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** Among what is due first one realm is chosen, whose events keep their order. */
  #next(end: number): Event | null {
    let at = Infinity;
    let kept = 0;
    const firstOf = new Map<Realm, Event>();
    for (const event of this.#events) {
      const { realm } = event;
      if (event.isCancelled || realm.isDead) continue;
      this.#events[kept++] = event;
      const dueAt = Math.max(event.at, realm.frozenUntil, this.#elapsed);
      if (dueAt > at) continue;
      if (dueAt < at) firstOf.clear();
      at = dueAt;
      const other = firstOf.get(realm);
      if (other === undefined || event.at < other.at || (event.at === other.at && event.seq < other.seq))
        firstOf.set(realm, event);
    }
    this.#events.length = kept;
    if (at > end) return null;
    const chosen = this.pick([...firstOf.values()]);
    this.#events.splice(this.#events.indexOf(chosen), 1);
    return { ...chosen, at };
  }

  #step(to: number): void {
    this.#now += to - this.#elapsed;
    this.#elapsed = to;
  }
}

/** Makes this the world that the process lives in, until it is disposed of. */
export function enter(world: World): Disposable {
  if (current === null) takeOver();
  current = world;
  return { [Symbol.dispose]: () => void (current = null) };
}

/** What timers return: it can be cancelled, and be kept or not. */
class Timer {
  readonly #arm: () => Event;
  #event: Event;

  constructor(world: World, ms: number, work: () => void, isRepeated: boolean) {
    this.#arm = () =>
      world.after(ms, () => {
        if (isRepeated) this.#event = this.#arm();
        work();
      });
    this.#event = this.#arm();
  }

  cancel(): void {
    this.#event.isCancelled = true;
  }
  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  refresh(): this {
    this.cancel();
    this.#event = this.#arm();
    return this;
  }
  close(): this {
    this.cancel();
    return this;
  }
  [Symbol.dispose](): void {
    this.cancel();
  }
}

type Work = (...args: unknown[]) => void;

function timer(isRepeated: boolean, real: typeof setTimeout): typeof setTimeout {
  const make = (work: Work, ms = 0, ...args: unknown[]): unknown => {
    if (current === null) return real(work, ms, ...args);
    return new Timer(current, Math.max(1, ms), () => work(...args), isRepeated);
  };
  return make as unknown as typeof setTimeout;
}

function clear(real: (timer: never) => void): (timer: unknown) => void {
  return (timer) => (timer instanceof Timer ? timer.cancel() : real(timer as never));
}

const wallNow = (): number =>
  current === null ? REAL.Date.now() : Math.floor(current.now + (realms.getStore() ?? OUTSIDE).skewMs);

/** Once for the process. Outside of a world everything is as it was. */
function takeOver(): void {
  const require = createRequire(import.meta.url);
  class WorldDate extends REAL.Date {
    constructor(...args: []) {
      if (args.length === 0) super(wallNow());
      else super(...args);
    }
    static override now = wallNow;
  }
  const immediate = (work: Work, ...args: unknown[]): unknown =>
    current === null ? REAL.setImmediate(work, ...args) : new Timer(current, 0, () => work(...args), false);
  Object.assign(globalThis, {
    Date: WorldDate,
    setTimeout: timer(false, REAL.setTimeout),
    setInterval: timer(true, REAL.setInterval as unknown as typeof setTimeout),
    setImmediate: immediate,
    clearTimeout: clear(REAL.clearTimeout),
    clearInterval: clear(REAL.clearInterval),
    clearImmediate: clear(REAL.clearImmediate),
  });
  Math.random = () => (current === null ? REAL.random() : current.dice());
  performance.now = () => (current === null ? REAL.performanceNow() : current.elapsed);
  const timers = require("node:timers/promises") as Record<string, unknown>;
  timers["setTimeout"] = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new DOMException("It was aborted.", "AbortError"));
      const waiting = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve(value);
      }, ms);
      const onAbort = (): void => {
        clearTimeout(waiting);
        reject(new DOMException("It was aborted.", "AbortError"));
      };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  timers["setImmediate"] = (value?: unknown) => new Promise((resolve) => setImmediate(() => resolve(value)));
  takeOverCrypto(require("node:crypto") as Record<string, unknown>);
  syncBuiltinESMExports();
}

function takeOverCrypto(crypto: Record<string, unknown>): void {
  const real = { ...crypto };
  const next = (): number => current?.nonces() ?? 0;
  const fill = <T extends Uint8Array>(bytes: T): T => {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(next() * 256);
    return bytes;
  };
  const own = {
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomInt: (min: number, max?: number) =>
      max === undefined ? Math.floor(next() * min) : min + Math.floor(next() * (max - min)),
    randomUUID: () =>
      fill(Buffer.alloc(16))
        .toString("hex")
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5"),
    randomFillSync: fill,
  };
  for (const [name, work] of Object.entries(own))
    crypto[name] = (...args: never[]) =>
      current === null
        ? (real[name] as (...args: never[]) => unknown)(...args)
        : (work as (...args: never[]) => unknown)(...args);
}
