import type { Readable, Writable } from "node:stream";
import { readListings } from "../catalog.ts";
import { localCaller } from "../../cli/local-caller.ts";
import { Closers } from "../closers.ts";
import { isAllowed, type Permission } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import { createLogger, tellingLog } from "../log.ts";
import { WHILE_OPEN } from "../../mcp/instructions.ts";
import { untilOrphaned } from "../../mcp/transports/parent.ts";
import { serveStdio } from "../../mcp/transports/stdio.ts";
import { offerSets } from "../../mcp/tool-sets.ts";
import { within } from "../../mcp/calls/within.ts";
import { openDatabase } from "../file-store.ts";
import type { Machine } from "../publishing/running-publisher.ts";
import { isServerRunning } from "../../services/health/running-server.ts";
import type { Settings } from "../setup.ts";
import type { Base } from "./stdio-service.ts";
import { createCipher } from "../../store/engine/cipher.ts";
import { systemClock } from "../system-clock.ts";
import type { ToolAccess } from "../../toolkit/toolbox.ts";
import { VERSION } from "../version.ts";

/** By then most clients have their list; one that asks for nothing is no reason to publish late. */
const OPEN_AFTER_MS = SECOND / 2;

/**
 * A client's process waits for ours: what has not closed by then is left to the next process, which finds it
 * in the ledger.
 */
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
  const log = createLogger(settings.config);
  const closers = new Closers((error) => log.error({ err: error }, "something did not close"));
  try {
    const store = await openDatabase(settings, tellingLog(log));
    closers.add(() => store[Symbol.asyncDispose]());
    const base = {
      store,
      log,
      clock: store.liveness.clock ?? systemClock,
      cipher: createCipher(settings.masterKey),
    };
    const service = openLate(start, base, closers);
    await serveStdio({
      toolbox: offerSets(await createLateToolbox(settings, service.open), settings.config.toolSets),
      ctx: { ...base, settings: settings.config },
      version: VERSION,
      note: (await isServerRunning(base)) ? "" : WHILE_OPEN,
      caller: localCaller({ permissions: start.permissions }),
      stdin: streams.stdin,
      stdout: streams.stdout,
      stopSignal: AbortSignal.any([
        start.stopSignal,
        service.failed,
        store.lost,
        watchParent(base, streams, closers),
      ]),
    });
    store.lost.throwIfAborted();
    await service.settled();
  } finally {
    await within(systemClock, CLOSE_WITHIN_MS, closers[Symbol.asyncDispose]());
  }
}

interface LateService {
  /** Loads the tools and starts publishing, once, however often it is called. */
  readonly open: () => Promise<ToolAccess>;
  /** Aborted when it cannot be opened. */
  readonly failed: AbortSignal;
  /** Resolves when nothing is being opened any more. Throws why it could not be. */
  settled(): Promise<void>;
}

/**
 * Lazy loading: an agent waits for the list of tools, and nobody for the rest, which is opened after a moment
 * or with the first call.
 */
function openLate({ settings, machine }: StdioStart, base: Base, closers: Closers): LateService {
  const failed = new AbortController();
  let opened: Promise<ToolAccess> | null = null;
  const openNow = async (): Promise<ToolAccess> => {
    try {
      const { openStdioService } = await import("./stdio-service.ts");
      return await openStdioService({ settings, machine, base, closers });
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const open = (): Promise<ToolAccess> => (opened ??= openNow());
  closers.add(base.clock.after(OPEN_AFTER_MS, () => void open().catch(() => {})));
  return { open, failed: failed.signal, settled: async () => void (await opened) };
}

/**
 * Lists what the build wrote down, and calls what is loaded by then. With other settings, and in a checkout,
 * the lists are others.
 */
async function createLateToolbox({ config }: Settings, open: () => Promise<ToolAccess>): Promise<ToolAccess> {
  const listings = config.confirm === "always" ? null : await readListings();
  if (listings === null) return open();
  return {
    list: (caller) => listings.filter(({ permission }) => isAllowed(caller, permission)),
    call: async (...call) => (await open()).call(...call),
  };
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
