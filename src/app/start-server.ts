import { existsSync, readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import type { Server } from "../cli/host.ts";
import { closersOf, createContext, createTools, defaultPublicUrl, type Context } from "./compose.ts";
import { openBucket } from "./file-store.ts";
import { AppError } from "../domain/errors.ts";
import { HOUR } from "../domain/time.ts";
import { createHealthApp, createHttpApp, type HttpDeps } from "../http/app.ts";
import { createCalendarRouter } from "../http/feeds/calendar-feed.ts";
import { createConnectRouter } from "../http/accounts/connect-pages.ts";
import { createFeedRouter } from "../http/feeds/feed-pages.ts";
import { createFilesRouter } from "../http/files/files-routes.ts";
import type { UploadPlace } from "../http/files/resumable-uploads.ts";
import type { PageParts } from "../http/page/page-router.ts";
import { startHttpServer } from "../http/server.ts";
import { createMcpEndpoints } from "../mcp/transports/endpoints.ts";
import type { Publisher } from "../publishing/loop.ts";
import { removeLeftovers, replaceFile, UNFINISHED } from "../store/backup/durable.ts";
import type { WorkerRole } from "../store/queries/workers.ts";
import { takeFileLock } from "../store/local/locks.ts";
import { register, type ThisProcess } from "../publishing/running-publisher.ts";
import { localCaller, ensureFirstKey, isKeyActive, type KeyFile } from "../access/api-keys.ts";
import { makeSignIn, signInAddress } from "../access/page-sessions.ts";
import { listAccounts } from "../channels/accounts/accounts.ts";
import { plainCall } from "../context.ts";
import { noteServerUrl, readServerUrl } from "../publishing/at-work.ts";
import { ensureFirstAccount } from "../channels/connecting/connections.ts";
import { startPublishing } from "./publisher.ts";
import type { Setup } from "./setup.ts";
import { offerSets } from "../mcp/server.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";
import { VERSION } from "../domain/version.ts";

interface ServerStart {
  readonly setup: Setup;
  readonly self: ThisProcess;
  readonly role: Extract<WorkerRole, "serve" | "cli">;
  /** One half alone: API, MCP and pages, or what publishes. Default: both. */
  readonly half?: "api" | "publisher" | undefined;
}

/**
 * HTTP API, MCP over HTTP, pages and publisher in one process. The port is taken before anything is
 * published, so that a second server on it ends without having done anything.
 */
export async function startServer(start: ServerStart): Promise<Server> {
  const { setup } = start;
  const news: string[] = [];
  const ctx = await createContext(setup, {}, (sentence, kind) => {
    if (kind === "done") news.push(sentence);
  });
  const closers = closersOf(ctx);
  try {
    await assertBucket(setup, ctx);
    const toolbox = createTools(ctx, setup);
    const half = start.half ?? null;
    let publisher: Publisher | null = null;
    const isReady = (): boolean => publisher?.isHealthy() ?? half === "api";
    const deps = { ...httpDeps({ setup, ctx, toolbox, isReady }), half };
    const mcp = half === "publisher" ? null : openMcp(setup, ctx, toolbox);
    const app = mcp === null ? createHealthApp(deps) : createHttpApp({ ...deps, mcp });
    const http = await startHttpServer(app, setup.config).catch(async (error: unknown) => {
      throw (await explainOwnServer(error, ctx)) ?? error;
    });
    const publicUrl = defaultPublicUrl(setup.config, http.port);
    // Of the half that publishes, pages are another process's, which is looked for when one is named.
    if (half !== "publisher") ctx.links.publicUrl = async () => publicUrl;
    closers.add(() => http.close());
    await ensureFirstAccount(ctx);
    const firstKey = half === "publisher" ? null : await makeFirstKey(setup, ctx);
    const isNamed = start.role === "serve" && half !== "publisher";
    // Several on one server's database are meant.
    const beside = isNamed && !ctx.store.capabilities.manyHosts ? await readServerUrl(ctx) : null;
    if (half === "api") closers.add(await register(ctx, { ...start.self, role: "api" }));
    else {
      closers.add(await register(ctx, start.self));
      const role = half === "publisher" ? half : start.role;
      publisher = await startPublishing(ctx, setup.folder.epoch, { ...start.self, role });
    }
    const parts = [publisher, mcp, http];
    // All take their time to finish what is under way; one after the other would take too long.
    closers.add(() => {
      ctx.links.end();
      return Promise.all(parts.map((part) => part?.close())).then(() => {});
    });
    // Once it is listed: those of others are forgotten.
    if (isNamed) await noteServerUrl(ctx, start.self, publicUrl);
    const hasPage = isNamed && setup.config.hasPage;
    const signInUrl = hasPage ? signInAddress(publicUrl, await makeSignIn(ctx)) : null;
    const feedPage = half === "publisher" ? null : await findFeedPage(ctx, publicUrl);
    const { host } = setup.config;
    const { path, apiKeyFile } = setup.folder;
    return {
      ctx,
      toolbox,
      folder: path,
      address: `http://${host.includes(":") ? `[${host}]` : host}:${http.port}`,
      publicUrl,
      half,
      beside,
      firstKey,
      feedPage,
      signInUrl,
      news,
      apiKeyFile: existsSync(apiKeyFile) ? apiKeyFile : null,
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

/** The port is most often taken by a server on the same data folder; null where none runs. */
async function explainOwnServer(cause: unknown, ctx: Context): Promise<AppError | null> {
  const own = await readServerUrl(ctx);
  if (own === null || !(cause instanceof AppError)) return null;
  const text = `${cause.message} Posthorn serves this data folder already, at ${own}. Use that one, or stop it first.`;
  return new AppError("unavailable", text, { cause });
}

function openMcp(setup: Setup, ctx: Context, toolbox: Toolbox): ReturnType<typeof createMcpEndpoints> {
  return createMcpEndpoints({
    ctx,
    toolbox: offerSets(toolbox, setup.config.toolSets),
    version: VERSION,
    isKeyActive: (caller) => isKeyActive(ctx, caller),
    hasLegacySse: setup.config.hasLegacySse,
  });
}

/**
 * Wrong settings of the bucket end the start. One that is only out of reach may come back: everything else
 * works without it.
 */
async function assertBucket(setup: Setup, ctx: Context): Promise<void> {
  const bucket = await openBucket(setup);
  if (bucket === null || (await bucket.assertSettings()).isReachable) return;
  ctx.log.warn(
    { endpoint: setup.config.bucket?.endpoint },
    "the bucket does not answer. Files cannot be used until it does",
  );
}

interface Parts {
  readonly setup: Setup;
  readonly ctx: Context;
  readonly toolbox: Toolbox;
}

/** The same HTTP face for `serve` and for the loopback listener of `stdio`. */
export function httpDeps({
  setup,
  ctx,
  toolbox,
  isReady,
}: Parts & { readonly isReady: () => boolean }): HttpDeps {
  return {
    ctx,
    toolbox,
    version: VERSION,
    publicUrl: setup.config.publicUrl,
    trustProxy: setup.config.trustProxy,
    rateLimit: setup.config.rateLimit,
    fixedApiKey: setup.secrets.apiKey,
    metricsToken: setup.secrets.metricsToken,
    isReady,
    routers: [
      () => createConnectRouter(ctx),
      () => createFeedRouter(ctx),
      () => createCalendarRouter(ctx),
      createFilesRouter({ ctx, uploads: uploadPlace(setup) }),
    ],
    page: setup.config.hasPage ? pageParts(setup, ctx) : null,
    hasOAuth: setup.config.hasOAuth,
  };
}

function uploadPlace({ folder }: Setup): UploadPlace {
  return { folder: folder.uploads, takeLock: takeFileLock };
}

function pageParts(setup: Setup, ctx: Context): PageParts {
  return {
    uploads: uploadPlace(setup),
    backups: {
      isPossible: ctx.store.capabilities.backupFile,
      make: async (signal) => {
        const { backUpForNow } = await import("./operations/backup.ts");
        return backUpForNow(ctx, setup, signal);
      },
    },
  };
}

async function makeFirstKey(setup: Setup, ctx: Context): Promise<string | null> {
  if (setup.secrets.apiKey !== null) return null;
  await removeLeftovers(setup.folder.path, UNFINISHED, ctx.clock.now() - LEFT_OVER_MS);
  return ensureFirstKey(ctx, keyFileOf(setup.folder.apiKeyFile));
}

/** Writing a key's few bytes never takes this long. */
const LEFT_OVER_MS = HOUR;

function keyFileOf(file: string): KeyFile {
  return {
    read: () => {
      const found = statSync(file, { throwIfNoEntry: false });
      // Windows has no such bits; what others could read is no key for a new database.
      const isPrivate = platform() === "win32" || (found !== undefined && (found.mode & 0o077) === 0);
      return isPrivate && found?.isFile() === true ? readFileSync(file, "utf8").trim() : null;
    },
    write: (key) => replaceFile(file, `${key}\n`, { isDurable: true }),
  };
}

/** Of the channel that asks for nothing, which publishes on pages of ours. */
async function findFeedPage(ctx: Context, publicUrl: string): Promise<string | null> {
  const { accounts } = await listAccounts(plainCall(ctx, localCaller()));
  const feed = accounts.find(
    ({ provider, status }) =>
      status === "connected" && ctx.platforms.get(provider)?.connect[0].kind === "none",
  );
  return feed === undefined ? null : `${publicUrl}/feed/${feed.id}.html`;
}
