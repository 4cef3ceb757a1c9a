import type { Readable, Writable } from "node:stream";
import { readListings } from "../catalog.ts";
import { localCaller } from "../../cli/local-caller.ts";
import { Closers } from "../closers.ts";
import type { Permission } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import { createLateLogger } from "../late-log.ts";
import { untilOrphaned } from "../../mcp/transports/parent.ts";
import { serveStdio } from "../../mcp/transports/stdio.ts";
import { within } from "../../mcp/calls/within.ts";
import type { Machine } from "../publishing/running-publisher.ts";
import type { Settings } from "../setup.ts";
import type { Base } from "./stdio-service.ts";
import { createCipher } from "../../store/engine/cipher.ts";
import { openDb } from "../../store/engine/db.ts";
import { systemClock } from "../system-clock.ts";
import { createLateToolbox, type ToolAccess } from "../../toolkit/late-toolbox.ts";
import { VERSION } from "../version.ts";

/** A client that asks for nothing is no reason to publish late. */
const OPEN_WITHIN_MS = SECOND / 2;

/** A client's process waits for ours: what has not closed by then is left to the next process, which finds it in the ledger. */
const CLOSE_WITHIN_MS = 2 * SECOND;

export interface StdioStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** The process that started this one, as the system tells it now. */
  readParentId(): number;
}

interface StdioStart {
  readonly settings: Settings;
  readonly machine: Machine;
  readonly permissions: readonly Permission[];
  readonly streams: StdioStreams;
  readonly stopSignal: AbortSignal;
}

/** MCP over the standard streams, with a publisher; resolves when the client has gone. */
export async function runStdio(start: StdioStart): Promise<void> {
  const { settings, streams } = start;
  const log = createLateLogger(async () =>
    (await import("../log.ts")).createLogger(settings.config.logLevel),
  );
  const closers = new Closers((error) => log.error({ err: error }, "something did not close"));
  try {
    const db = await openDb({ file: settings.folder.database });
    closers.add(() => db[Symbol.asyncDispose]());
    const base = { db, log, clock: systemClock, cipher: createCipher(settings.masterKey) };
    const service = new LateService(start, base, closers);
    await serveStdio({
      toolbox: await service.toolbox(),
      ctx: base,
      version: VERSION,
      caller: localCaller(start.permissions),
      stdin: streams.stdin,
      stdout: streams.stdout,
      stopSignal: AbortSignal.any([start.stopSignal, service.failed, watchParent(base, streams, closers)]),
    });
    await service.settled();
  } finally {
    await within(systemClock, CLOSE_WITHIN_MS, closers[Symbol.asyncDispose]());
  }
}

/**
 * Everything behind the tools. An agent waits for the list of tools, and nobody for the rest, so that is loaded and opened when
 * the list has been answered, with the first call, or after a moment.
 */
class LateService {
  readonly #start: StdioStart;
  readonly #base: Base;
  readonly #closers: Closers;
  readonly #failed = new AbortController();
  #opened: Promise<ToolAccess> | null = null;

  constructor(start: StdioStart, base: Base, closers: Closers) {
    this.#start = start;
    this.#base = base;
    this.#closers = closers;
  }

  /** Aborted when it cannot be opened. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  async toolbox(): Promise<ToolAccess> {
    // With other settings the lists are others.
    const listings = this.#start.settings.config.confirm === "always" ? null : await readListings();
    if (listings === null) return this.#open();
    this.#openSoon();
    return createLateToolbox(listings, () => this.#open());
  }

  /** Resolves when nothing is being opened any more. Throws why it could not be. */
  async settled(): Promise<void> {
    await this.#opened;
  }

  #openSoon(): void {
    this.#closers.add(this.#base.clock.after(OPEN_WITHIN_MS, () => void this.#open().catch(() => {})));
  }

  #open(): Promise<ToolAccess> {
    this.#opened ??= this.#openNow().catch((error: unknown) => {
      this.#failed.abort(error);
      throw error;
    });
    return this.#opened;
  }

  async #openNow(): Promise<ToolAccess> {
    const { openStdioService } = await import("./stdio-service.ts");
    const { settings, machine } = this.#start;
    return openStdioService({ settings, machine, base: this.#base, closers: this.#closers });
  }
}

/** Aborted when the client's process is gone, whatever became of its end of the pipe. */
function watchParent({ clock }: Base, streams: StdioStreams, closers: Closers): AbortSignal {
  const orphaned = new AbortController();
  const done = new AbortController();
  closers.add(() => done.abort());
  untilOrphaned(() => streams.readParentId(), clock, done.signal).then(
    () => orphaned.abort(new Error("The parent process ended.")),
    () => {},
  );
  return orphaned.signal;
}
