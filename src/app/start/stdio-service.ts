import { loadCatalog } from "../catalog.ts";
import type { Closers } from "../closers.ts";
import { createContext, createTools, defaultPublicUrl, type Context } from "../compose.ts";
import { AppError } from "../../domain/errors.ts";
import type { HttpServer } from "../../http/server.ts";
import type { Publisher } from "../../publisher/loop.ts";
import { runPublisher, type Machine } from "../publishing/running-publisher.ts";
import type { AppContext } from "../../services/context.ts";
import { ensureFirstAccount } from "../../services/upkeep/first-start.ts";
import { isServerRunning } from "../../services/health/running-server.ts";
import type { Settings, Setup } from "../setup.ts";
import { startWatchdog } from "./watchdog.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { maxConnections } from "./max-connections.ts";

/**
 * A client waits for little at its end; the publisher's work is taken up again from the ledger by the next
 * process.
 */
const PUBLISHER_GRACE_MS = 500;

/** Whoever uploads to a process that ends can go on with the next one. */
const LISTENER_GRACE_MS = 300;

/** What is there before the service is. */
export type Base = Pick<AppContext, "clock" | "log" | "cipher" | "store">;

interface StdioServiceParts {
  readonly settings: Settings;
  readonly machine: Machine;
  readonly base: Base;
  readonly closers: Closers;
  /** Aborted when the process is asked to end. */
  readonly stopSignal: AbortSignal;
}

/** Loads the tools, and starts publishing. */
export async function openStdioService({
  settings,
  machine,
  base,
  closers,
  stopSignal,
}: StdioServiceParts): Promise<Toolbox> {
  const setup = { ...settings, catalog: await loadCatalog() };
  const ctx = await createContext(setup, base);
  closers.add(() => ctx[Symbol.asyncDispose]());
  const toolbox = createTools(ctx, setup);
  let publisher: Publisher | null = null;
  await ensureFirstAccount(ctx);
  openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => publisher?.isHealthy() ?? false });
  publisher = await runPublisher(ctx, setup.folder, { ...machine, role: "stdio" });
  const running = publisher;
  closers.add(() => running.close(PUBLISHER_GRACE_MS));
  if (setup.threads?.startWatchdog) {
    const watchdog = startWatchdog(setup.threads.startWatchdog, { isChild: true, stopSignal });
    closers.add(() => watchdog.askToEnd());
  }
  return toolbox;
}

interface Listening {
  readonly setup: Setup;
  readonly ctx: Context;
  readonly toolbox: Toolbox;
  readonly closers: Closers;
  readonly isReady: () => boolean;
}

/**
 * Addresses in answers must lead somewhere: on loopback a listener of this process, opened with the first of
 * them.
 */
function openListenerWhenAsked(parts: Listening): void {
  const { setup, ctx, closers } = parts;
  if (setup.config.publicUrl !== null) return;
  let opened: Promise<string> | null = null;
  ctx.links.publicUrl = () => {
    opened ??= openListener(parts).then((http) => {
      if (http === null) return defaultPublicUrl(setup.config);
      closers.add(() => http.close(LISTENER_GRACE_MS));
      return defaultPublicUrl(setup.config, http.port);
    });
    return opened;
  };
}

/** Null where a server on this data folder has the port: its addresses stay when this process is gone. */
async function openListener(parts: Listening): Promise<HttpServer | null> {
  // Most sessions never need a server; they start faster without it.
  const [{ createHttpApp }, { startHttpServer }, { httpDeps }] = await Promise.all([
    import("../../http/app.ts"),
    import("../../http/server.ts"),
    import("./start-server.ts"),
  ]);
  const app = createHttpApp(httpDeps(parts));
  const { host, port } = parts.setup.config;
  const limits = { maxConnections: maxConnections() };
  try {
    return await startHttpServer(app, { host, port }, limits);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (await isServerRunning(parts.ctx)) return null;
    return startHttpServer(app, { host, port: 0 }, limits);
  }
}
