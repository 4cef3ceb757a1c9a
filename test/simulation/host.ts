import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPublishing } from "../../src/app/publisher.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import type { Context } from "../../src/app/compose.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Publisher } from "../../src/publishing/loop.ts";
import { noticeRestore } from "../../src/publishing/restored.ts";
import { ON_SERVER } from "../../src/store/engine/capabilities.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { Engine, Liveness } from "../../src/store/engine/engine.ts";
import type { Store, Tx } from "../../src/store/engine/store.ts";
import { explained } from "../../src/store/local/sentences.ts";
import { createStore } from "../../src/store/open-store.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Fenced } from "../../src/store/engine/ledger.ts";
import { isWorkerListed, listWorkersBeside } from "../../src/store/queries/workers.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { type CallResult, createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { rawOf } from "../support/handles.ts";
import { Server, type ServerConnection } from "./server.ts";
import type { Glitch } from "./history.ts";
import { endConnections, type Network } from "./network.ts";
import { PLATFORMS } from "./thread-platform.ts";
import type { Realm, World } from "./world.ts";

/** What the disk does, and how often. */
const DISK_FAULTS = { full: 0.004, slow: 0.02, broken: 0.003 } as const;

/** One data folder, its clock, and the processes that work on it. */
export class Machine {
  readonly world: World;
  readonly network: Network;
  readonly folder: string;
  readonly tools: readonly AnyTool[];
  readonly hosts: Host[] = [];
  /** When its clock was set, in true time. */
  readonly jumps: number[] = [];
  readonly glitches: Glitch[] = [];
  /** Of all its processes, which have one wall clock. */
  skewMs = 0;
  /** Until then nothing more can be written. */
  fullUntil = -1;
  /** Null: the database is a file in the folder. */
  readonly server: Server | null;
  #isCalm = false;
  #shown = -Infinity;
  #copies = 0;
  readonly #masterKey: Buffer;

  constructor(options: {
    readonly world: World;
    readonly network: Network;
    readonly folder: string;
    readonly tools: readonly AnyTool[];
    /** An empty database. */
    readonly database: Buffer;
    /** Whether the database is on a server, and each host a machine of its own. */
    readonly hasServer: boolean;
  }) {
    this.server = options.hasServer ? new Server(options.world) : null;
    this.world = options.world;
    this.network = options.network;
    this.folder = options.folder;
    this.tools = options.tools;
    this.#masterKey = Buffer.alloc(32, 7);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(this.file, options.database);
  }

  get isCalm(): boolean {
    return this.#isCalm;
  }

  set isCalm(isCalm: boolean) {
    this.#isCalm = isCalm;
    if (this.server !== null) this.server.isCalm = isCalm;
  }

  get file(): string {
    return join(this.folder, "posthorn.db");
  }

  get living(): readonly Host[] {
    return this.hosts.filter(({ realm }) => !realm.isDead);
  }

  /** Those that take calls. Where nothing fails, none that is about to end does. */
  get open(): readonly Host[] {
    return this.#isCalm ? this.living.filter(({ isDismissed }) => !isDismissed) : this.living;
  }

  setClock(byMs: number): void {
    this.jumps.push(this.world.now);
    this.#shown = Math.max(this.#shown, this.world.now + this.skewMs);
    this.skewMs += byMs;
    for (const { realm } of this.hosts) Object.assign(realm, { skewMs: this.skewMs, shown: this.#shown });
  }

  boot(timezone: string): Host {
    const realm = {
      name: `host${this.hosts.length + 1}`,
      skewMs: this.skewMs,
      shown: this.#shown,
      isDead: false,
      frozenUntil: 0,
    };
    const host = new Host(this, realm, createCipher(this.#masterKey), timezone);
    this.hosts.push(host);
    // Its start takes its time, and it may die in the middle.
    this.world.in(realm, () => void host.start().catch((error: unknown) => host.fail(error)));
    return host;
  }

  /** As `posthorn backup` takes it: the database at one moment. Not while nobody runs. */
  async copy(): Promise<string | null> {
    const [host] = this.living;
    if (host?.store === null || host === undefined) return null;
    const file = join(this.folder, `copy${(this.#copies += 1)}.db`);
    await host.store.file?.copyTo(file);
    return existsSync(file) ? file : null;
  }

  /** An older copy takes the place of the database, with nothing running. */
  putBack(copy: string): void {
    for (const end of ["-wal", "-shm"]) rmSync(this.file + end, { force: true });
    copyFileSync(copy, this.file);
  }
}

/** One process: real code on its own memory. */
export class Host {
  readonly machine: Machine;
  readonly realm: Realm;
  readonly ctx: Context;
  readonly toolbox: Toolbox;
  readonly pid: number;
  publisher: Publisher | null = null;
  /** Until then it does not reach the server of the database. */
  cutUntil = -1;
  /** It is about to be asked to end. */
  isDismissed = false;
  readonly #connection: ServerConnection | null;
  /** Which of the machines it runs on, where each is one of its own. */
  readonly #place: number;
  #engine: Engine | null = null;

  constructor(machine: Machine, realm: Realm, cipher: Context["cipher"], timezone: string) {
    this.machine = machine;
    this.realm = realm;
    this.pid = 1_000 + machine.hosts.length;
    const taken = machine.living.map((host) => host.#place);
    this.#place = [1, 2, 3].find((place) => !taken.includes(place)) ?? 1;
    this.#connection = machine.server?.connect(realm, () => machine.world.elapsed < this.cutUntil) ?? null;
    this.ctx = machine.world.in(realm, () => this.#createContext(cipher, timezone));
    this.toolbox = createToolbox(this.ctx, machine.tools);
  }

  /** How far this machine saw the database come. */
  get #epoch(): string {
    return join(this.machine.folder, this.#connection === null ? "generation" : `generation-${this.#place}`);
  }

  get store(): Store | null {
    return this.realm.isDead ? null : this.ctx.store;
  }

  async start(): Promise<void> {
    await noticeRestore(this.ctx, this.#epoch);
    this.publisher = await startPublishing(this.ctx, this.#epoch, {
      host: this.#connection === null ? "machine" : `machine${this.#place}`,
      pid: this.pid,
      role: "serve",
    });
    this.machine.world.note("started");
  }

  fail(error: unknown): void {
    this.machine.world.note(`did not start: ${String(error)}`);
    this.crash();
  }

  /** Calls a tool here. Never answers where the process dies meanwhile. */
  call(name: string, args: object, caller: Caller): Promise<CallResult> {
    return this.machine.world.in(this.realm, () => this.toolbox.call(name, args, caller, { waitMs: 0 }));
  }

  /** Its memory is gone, and so is every transaction that was not committed. */
  crash(): void {
    if (this.realm.isDead) return;
    this.machine.world.note(`${this.realm.name} crashes`);
    this.realm.isDead = true;
    // A machine without power says nothing, and what it had sent goes its way.
    if (this.#connection === null) endConnections(this.realm);
    this.#close();
  }

  /** It is asked to end, and ends, whatever fails meanwhile. */
  async stop(): Promise<void> {
    const { world } = this.machine;
    const closing = world.in(this.realm, () => this.publisher?.close(8_000));
    await Promise.race([closing, world.sleep(20_000)]).catch((error: unknown) =>
      world.note(`${this.realm.name} did not close well: ${String(error)}`),
    );
    if (this.realm.isDead) return;
    world.note(`${this.realm.name} has stopped`);
    this.realm.isDead = true;
    endConnections(this.realm);
    this.#close();
  }

  /** At once, as the kernel does it: the files may be another database's in a moment. */
  #close(): void {
    const engine = this.#engine;
    this.#engine = null;
    if (engine !== null) rawOf(engine).close();
  }

  #createContext(cipher: Context["cipher"], timezone: string): Context {
    const { network } = this.machine;
    const links: Context["links"] = {
      publicUrl: async () => "http://localhost:4747",
      wakePublisher: () => {},
      end: () => {},
    };
    const store = this.#openStore();
    return {
      settings: {
        timezone,
        maxLatenessMs: 60 * 60_000,
        uploadFolders: [],
        platformSettings: Object.fromEntries(
          Object.keys(PLATFORMS).map((name) => [
            `POSTHORN_${name.toUpperCase()}_BASE_URL`,
            `http://${name.replace("_", "-")}.example`,
          ]),
        ),
        confirm: "never",
      },
      store,
      clock: this.#connection?.clock ?? systemClock,
      log: this.#logger(),
      cipher,
      outbound: network.door(this.realm),
      sockets: absent("sockets"),
      mailer: null,
      files: absent("files"),
      media: { forPost: () => absent("media.forPost()"), release: async () => {} },
      publicMedia: absent("publicMedia"),
      probe: { ...absent<Context["probe"]>("probe"), skills: async () => ({ pictures: true, heic: false }) },
      films: null,
      feed: absent("feed"),
      platforms: new Map(Object.values(PLATFORMS).map((platform) => [platform.name, platform])),
      workerId: newId("wrk"),
      inWords: agentsWords,
      publicUrl: () => links.publicUrl(),
      wakePublisher: () => links.wakePublisher(),
      links,
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }

  #logger(): Logger {
    const { world } = this.machine;
    const at =
      (level: string) =>
      (fields: { readonly err?: unknown }, message: string): void => {
        const error = fields.err instanceof Error ? `: ${fields.err.message}` : "";
        world.note(`[${level}] ${message}${error}`);
      };
    return { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error") };
  }

  #openStore(): Store {
    const engine = openSqliteEngine({ file: this.machine.file });
    this.#engine = engine;
    const connection = this.#connection;
    if (connection === null)
      return createStore({
        ...engine,
        liveness: this.#liveness(),
        write: (work) => this.#write(engine, work),
      });
    const liveness = connection.liveness((besides) => listWorkersBeside(engine, besides));
    return createStore({
      ...engine,
      capabilities: ON_SERVER,
      queue: { ...engine.queue, death: connection.death, findDue: whereListed(engine.queue.findDue) },
      liveness,
      write: (work) => this.#writeAfar(engine, connection, work),
    });
  }

  /** Before and after a commit others get their turn, or the process dies. */
  async #write<T>(engine: Engine, work: (tx: Tx) => Promise<T>): Promise<T> {
    const { world, isCalm } = this.machine;
    const isSlow = !isCalm && world.chance(DISK_FAULTS.slow) && world.allows("slowDisk");
    await world.sleep(world.between(0, isSlow ? 4_000 : 2));
    if (!isCalm && world.chance(DISK_FAULTS.full) && world.allows("fullDisk"))
      this.machine.fullUntil = world.elapsed + world.between(1_000, 60_000);
    if (!isCalm && world.elapsed < this.machine.fullUntil) throw troubled("SQLITE_FULL");
    if (!isCalm && world.chance(DISK_FAULTS.broken) && world.allows("brokenDisk"))
      throw troubled("SQLITE_IOERR_FSYNC");
    const result = await engine.write(work);
    await world.sleep(world.between(0, 2));
    return result;
  }

  async #writeAfar<T>(
    engine: Engine,
    connection: ServerConnection,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    const { world, isCalm } = this.machine;
    await world.sleep(world.between(0, !isCalm && world.chance(DISK_FAULTS.slow) ? 4_000 : 5));
    const result = await connection.write(engine, work);
    await world.sleep(world.between(0, 5));
    return result;
  }

  /** On one machine the kernel knows who lives. */
  #liveness(): Liveness {
    const { machine } = this;
    const isAlive = (id: string): boolean => machine.living.some((host) => host.workers.has(id));
    return {
      clock: null,
      hold: async (workerId) => {
        this.workers.add(workerId);
        return { release: async () => void this.workers.delete(workerId) };
      },
      check: () => {},
      hasEnded: ({ id }) => !isAlive(id),
      listDead: async (besides) => {
        const ids = await listWorkersBeside(this.ctx.store, besides);
        return ids.filter((id) => !isAlive(id));
      },
    };
  }

  /** The workers of this process that are held. */
  readonly workers = new Set<string>();
}

/** Who was taken for dead claims nothing more: the server looks at its list of workers. */
function whereListed(findDue: Engine["queue"]["findDue"]): Engine["queue"]["findDue"] {
  return async (tx, wish, now) => {
    if (!(await isWorkerListed(tx, wish.workerId))) throw new Fenced("all posts of this worker");
    return findDue(tx, wish, now);
  };
}

function troubled(code: string): unknown {
  return explained(Object.assign(new Error("The disk failed."), { code }));
}

/** A part that no story here needs. */
function absent<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get(_target, property) {
      throw new Error(`A story used ctx.${name}.${String(property)}.`);
    },
  });
}
