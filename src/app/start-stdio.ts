import type { Readable, Writable } from "node:stream";
import { localCaller } from "../access/api-keys.ts";
import { closersOf, type Closers, createContext, createTools } from "./compose.ts";
import type { Permission } from "../domain/permissions.ts";
import { SECOND } from "../domain/time.ts";
import { WHILE_OPEN } from "../mcp/instructions.ts";
import { serveStdio, untilOrphaned } from "../mcp/transports/stdio.ts";
import { offerSets } from "../mcp/server.ts";
import { within } from "../mcp/calls/open-calls.ts";
import type { Publisher } from "../publishing/loop.ts";
import { register, type ThisProcess } from "../publishing/running-publisher.ts";
import { isServerRunning } from "../publishing/at-work.ts";
import { ensureFirstAccount } from "../channels/connecting/connections.ts";
import { startPublishing } from "./publisher.ts";
import type { Setup } from "./setup.ts";
import { systemClock } from "./system-clock.ts";
import { VERSION } from "../domain/version.ts";
import { openListenerWhenAsked } from "./start-session.ts";

/**
 * A client waits for little at its end; the publisher's work is taken up again from the ledger by the next
 * process.
 */
const PUBLISHER_GRACE_MS = 500;

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
  readonly setup: Setup;
  readonly self: ThisProcess;
  readonly permissions: readonly Permission[];
  readonly streams: StdioStreams;
  /** Aborted when the process is asked to end. */
  readonly stopSignal: AbortSignal;
}

/** MCP over the standard streams, with a publisher; resolves when the client has gone. */
export async function runStdio({
  setup,
  self,
  permissions,
  streams: { stdin, stdout, readParentId },
  stopSignal,
}: StdioStart): Promise<void> {
  const ctx = await createContext(setup);
  const closers = closersOf(ctx);
  try {
    const toolbox = createTools(ctx, setup);
    await ensureFirstAccount(ctx);
    const note = (await isServerRunning(ctx)) ? "" : WHILE_OPEN;
    let publisher: Publisher | null = null;
    openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => publisher?.isHealthy() ?? false });
    closers.add(await register(ctx, self));
    const running = await startPublishing(ctx, setup.folder.epoch, { ...self, role: "stdio" });
    closers.add(() => running.close(PUBLISHER_GRACE_MS));
    publisher = running;
    await serveStdio({
      toolbox: offerSets(toolbox, setup.config.toolSets),
      ctx,
      version: VERSION,
      note,
      caller: localCaller({ permissions }),
      stdin,
      stdout,
      onEnd: () => ctx.links.end(),
      stopSignal: AbortSignal.any([
        stopSignal,
        ctx.store.lost,
        watchParent(ctx.clock, readParentId, closers),
      ]),
    });
    ctx.store.lost.throwIfAborted();
  } finally {
    await within(systemClock, CLOSE_WITHIN_MS, closers[Symbol.asyncDispose]());
  }
}

/** Aborted when the client's process is gone, whatever became of its end of the pipe. */
function watchParent(
  clock: Parameters<typeof untilOrphaned>[1],
  readParentId: StdioStreams["readParentId"],
  closers: Closers,
): AbortSignal {
  const orphaned = new AbortController();
  const done = new AbortController();
  closers.add(() => done.abort());
  untilOrphaned(readParentId, clock, done.signal).then(
    () => orphaned.abort(new Error("The parent process ended.")),
    () => {},
  );
  return orphaned.signal;
}
