import type { Readable, Writable } from "node:stream";
import { localCaller } from "./cli/local-caller.ts";
import { Closers } from "./closers.ts";
import { createContext, createTools, defaultPublicUrl, type Context } from "./compose.ts";
import { AppError } from "./domain/errors.ts";
import type { Permission } from "./domain/permissions.ts";
import { untilOrphaned } from "./mcp/parent.ts";
import { serveStdio } from "./mcp/stdio.ts";
import type { Publisher } from "./publisher/loop.ts";
import { runPublisher, type Machine } from "./running-publisher.ts";
import { ensureFirstAccount } from "./services/first-start.ts";
import { isServerRunning } from "./services/running-server.ts";
import type { Setup } from "./setup.ts";
import type { Toolbox } from "./toolkit/toolbox.ts";
import { VERSION } from "./version.ts";

/** A client waits for little at its end; the publisher's work is taken up again from the ledger by the next process. */
const PUBLISHER_GRACE_MS = 500;

export interface StdioStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** The process that started this one, as the system tells it now. */
  readParentId(): number;
}

export interface StdioStart {
  readonly setup: Setup;
  readonly machine: Machine;
  readonly permissions: readonly Permission[];
  readonly streams: StdioStreams;
  readonly stopSignal: AbortSignal;
}

/** MCP over the standard streams, with a publisher; resolves when the client has gone. */
export async function runStdio(start: StdioStart): Promise<void> {
  const { setup, streams } = start;
  const ctx = await createContext(setup);
  const closers = new Closers((error) => ctx.log.error({ err: error }, "something did not close"));
  closers.add(() => ctx[Symbol.asyncDispose]());
  try {
    const toolbox = createTools(ctx, setup);
    let publisher: Publisher | null = null;
    await ensureFirstAccount(ctx);
    openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => publisher?.isHealthy() ?? false });
    publisher = await runPublisher(ctx, setup.folder, { ...start.machine, role: "stdio" });
    const running = publisher;
    closers.add(() => running.close(PUBLISHER_GRACE_MS));
    await serveStdio({
      toolbox,
      ctx,
      version: VERSION,
      caller: localCaller(start.permissions),
      stdin: streams.stdin,
      stdout: streams.stdout,
      stopSignal: AbortSignal.any([start.stopSignal, watchParent(ctx, streams, closers)]),
    });
  } finally {
    await closers[Symbol.asyncDispose]();
  }
}

/** Aborted when the client's process is gone, whatever became of its end of the pipe. */
function watchParent(ctx: Context, streams: StdioStreams, closers: Closers): AbortSignal {
  const orphaned = new AbortController();
  const done = new AbortController();
  closers.add(() => done.abort());
  untilOrphaned(() => streams.readParentId(), ctx.clock, done.signal).then(
    () => orphaned.abort(new Error("The parent process ended.")),
    () => {},
  );
  return orphaned.signal;
}

interface Listening {
  readonly setup: Setup;
  readonly ctx: Context;
  readonly toolbox: Toolbox;
  readonly closers: Closers;
  readonly isReady: () => boolean;
}

/** Addresses in answers must lead somewhere: on loopback a listener of this process, opened with the first of them. */
function openListenerWhenAsked(parts: Listening): void {
  const { setup, ctx, closers } = parts;
  if (setup.config.publicUrl !== null) return;
  let opened: Promise<string> | null = null;
  ctx.links.publicUrl = () => {
    opened ??= openListener(parts).then((http) => {
      if (http === null) return defaultPublicUrl(setup.config);
      closers.add(() => http.close());
      return defaultPublicUrl(setup.config, http.port);
    });
    return opened;
  };
}

/** Null where a server on this data folder has the port: its addresses stay when this process is gone. */
async function openListener(parts: Listening): Promise<{ port: number; close(): Promise<void> } | null> {
  // Most sessions never need a server; they start faster without it.
  const [{ createHttpApp }, { startHttpServer }, { httpDeps }] = await Promise.all([
    import("./http/app.ts"),
    import("./http/server.ts"),
    import("./start-server.ts"),
  ]);
  const app = createHttpApp(httpDeps(parts));
  const { host, port } = parts.setup.config;
  try {
    return await startHttpServer(app, { host, port });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (await isServerRunning(parts.ctx)) return null;
    return startHttpServer(app, { host, port: 0 });
  }
}
