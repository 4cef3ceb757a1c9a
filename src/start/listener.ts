import type { Closers } from "../app/closers.ts";
import { defaultPublicUrl, type Context } from "../app/compose.ts";
import { AppError } from "../domain/errors.ts";
import type { HttpServer } from "../http/server.ts";
import { readServerUrl } from "../health/running-server.ts";
import type { Setup } from "../app/setup.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";

/** Whoever uploads to a process that ends can go on with the next one. */
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
