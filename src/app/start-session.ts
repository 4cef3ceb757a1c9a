import type { Session } from "../cli/host.ts";
import {
  closersOf,
  createContext,
  createTools,
  type Closers,
  defaultPublicUrl,
  type Context,
} from "./compose.ts";
import { register, type ThisProcess } from "../publishing/running-publisher.ts";
import { takeOverFromDead } from "../publishing/workers.ts";
import { isPublisherRunning, readServerUrl } from "../publishing/at-work.ts";
import { ensureFirstAccount } from "../channels/connecting/connections.ts";
import type { Setup } from "./setup.ts";
import type { Tell } from "../store/engine/store.ts";
import { AppError } from "../domain/errors.ts";
import type { HttpServer } from "../http/server.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";

/** Opens the service for one command: no publisher, and no server, unless the command asks for them. */
export async function startSession(
  setup: Setup,
  self: ThisProcess,
  options: { readonly isRegistered: boolean; readonly tell?: Tell },
): Promise<Session> {
  const ctx = await createContext(setup, {}, options.tell);
  const closers = closersOf(ctx);
  try {
    await ensureFirstAccount(ctx);
    const { isRegistered } = options;
    if (isRegistered) closers.add(await register(ctx, self));
    const toolbox = createTools(ctx, setup);
    return {
      ctx,
      toolbox,
      folder: setup.folder.path,
      async servePages() {
        openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => false });
      },
      async startPublishing() {
        // Whether another one publishes is not judged by one that was killed a moment ago.
        await takeOverFromDead(ctx);
        if (await isPublisherRunning(ctx)) return false;
        if (!isRegistered) closers.add(await register(ctx, self));
        // Most commands publish nothing, and start faster without it.
        const { startPublishing } = await import("./publisher.ts");
        const publisher = await startPublishing(ctx, setup.folder.epoch, { ...self, role: "cli" });
        closers.add(() => publisher.close());
        return true;
      },
      async [Symbol.asyncDispose]() {
        ctx.links.end();
        await closers[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

/** A client that uploads to a process that ends can go on with the next one. */
const LISTENER_GRACE_MS = 300;

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
export function openListenerWhenAsked(parts: Listening): void {
  const { setup, ctx, closers } = parts;
  if (setup.config.publicUrl !== null) return;
  let opened: Promise<string> | null = null;
  ctx.links.publicUrl = async () => {
    // A server's addresses stay when this process is gone.
    const stays = await readServerUrl(ctx);
    if (stays !== null) return stays;
    opened ??= openListener(parts).then((http) => {
      closers.add(() => http.close(LISTENER_GRACE_MS));
      return defaultPublicUrl(setup.config, http.port);
    });
    return opened;
  };
}

async function openListener(parts: Listening): Promise<HttpServer> {
  // Most sessions never need a server; they start faster without it.
  const [{ createHttpApp }, { startHttpServer }, { httpDeps }] = await Promise.all([
    import("../http/app.ts"),
    import("../http/server.ts"),
    import("./start-server.ts"),
  ]);
  const app = createHttpApp(httpDeps(parts));
  const { host, port } = parts.setup.config;
  try {
    return await startHttpServer(app, { host, port });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return startHttpServer(app, { host, port: 0 });
  }
}
