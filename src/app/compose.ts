import type { Config } from "./config.ts";
import { onFailure } from "../domain/assertions.ts";
import { newId } from "../domain/ids.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { capabilitiesOf, openDatabase, openFileStore } from "./file-store.ts";
import { createLogger, tellingLog } from "./log.ts";
import { createFfmpeg } from "../media/film/ffmpeg.ts";
import { createMediaProbe } from "../media/probe/media-reader.ts";
import { createPublicMedia, sharedCopies } from "../media/source/copies.ts";
import { createMediaSource } from "../media/source/source.ts";
import { removePartialFiles } from "../media/stores/folder-store.ts";
import { createMailer } from "../media/outbound/mailer.ts";
import { createOutbound } from "../media/outbound/outbound.ts";
import type { AppContext } from "../context.ts";
import { findReadyFile, createCopyUrl, createDownloadUrl } from "../files/files.ts";
import { renewalsDone } from "../channels/connecting/renewal.ts";
import { readServerUrl } from "../publishing/at-work.ts";
import { noticeRestore } from "../publishing/restored.ts";
import { openCipher } from "./secret-key.ts";
import type { Setup } from "./setup.ts";
import type { Tell } from "../store/engine/store.ts";
import { assertMoved } from "../store/moving/move.ts";
import { createFeedStorage } from "../store/queries/feeds.ts";
import { isUnused, shareFolder } from "../store/local/locks.ts";
import { systemClock } from "./system-clock.ts";
import { createToolbox, type Toolbox } from "../toolkit/toolbox.ts";
import { agentsWords } from "../toolkit/words.ts";
import { VERSION } from "../domain/version.ts";

/** What tokens that are being renewed get at the end. */
const REFRESH_GRACE_MS = TIME_LIMITS.callsDrain;

/** `links`: what is known only while the process runs, set where the server and the publisher start. */
export type Context = AppContext &
  AsyncDisposable & {
    readonly links: { publicUrl: () => Promise<string>; wakePublisher: () => void; end: () => void };
  };

/**
 * Builds everything a use case works with; closed in reverse order with `await using`. Tests pass overrides
 * instead of mocks. `tell` hears what the log hears of the database's opening.
 */
export async function createContext(
  setup: Setup,
  overrides: Partial<AppContext> = {},
  tell: Tell = () => {},
): Promise<Context> {
  const { config, folder } = setup;
  const log = overrides.log ?? createLogger(config);
  const closers = new Closers((error) => log.error({ err: error }, "something did not close"));
  closers.add(onFailure((assertion, id) => log.error({ assertion, id }, "an assertion failed")));
  const ending = new AbortController();
  const links: Context["links"] = {
    end: () => ending.abort(),
    publicUrl: async () => defaultPublicUrl(config),
    wakePublisher: () => {},
  };
  try {
    const { inFolder, manyHosts } = capabilitiesOf(config);
    if (inFolder) await removePartialFiles([folder.files, folder.spool], () => isUnused(folder.locks));
    const lock = inFolder ? shareFolder(folder.locks) : null;
    closers.add(async () => lock?.release());
    const store = overrides.store ?? (await openDatabase(setup, tellingLog(log, tell)));
    closers.add(() => store[Symbol.asyncDispose]());
    if (store.capabilities.manyHosts) await assertMoved(store);
    const clock = overrides.clock ?? store.liveness.clock ?? systemClock;
    const byMs = Math.round(systemClock.now() - (store.liveness.clock ?? systemClock).now());
    if (Math.abs(byMs) > TIME_LIMITS.clockTolerance)
      log.warn(
        { byMs },
        "this machine's clock is wrong. Posthorn goes by the database's clock. Set this one (NTP)",
      );
    const http = own(closers, createHttpClient(config));
    const outbound = overrides.outbound ?? http;
    const files = overrides.files ?? (await openFileStore(setup));
    const copies = manyHosts || config.bucket !== null ? sharedCopies(files) : undefined;
    const ctx: Context = {
      settings: config,
      store,
      clock,
      log,
      cipher: await openCipher(store, setup),
      outbound,
      sockets: http,
      mailer: setup.secrets.smtp === null ? null : createMailer(setup.secrets.smtp),
      files,
      media: createMediaSource({
        outbound,
        files,
        // Readers of its own: posts do not wait for what is uploaded.
        probe: overrides.probe ?? own(closers, createMediaProbe(setup.startMediaReader)),
        clock,
        folder: folder.spool,
        copies,
        findFile: (ownerId, key) => findReadyFile(store, ownerId, key),
        downloadUrl: (fileId, lastsMs) => createDownloadUrl(ctx, fileId, lastsMs),
        copyUrl: (name, lastsMs) => createCopyUrl(ctx, name, lastsMs),
      }),
      publicMedia: createPublicMedia({
        folder: folder.spool,
        copies,
        files,
        publicUrl: () => ctx.publicUrl(),
      }),
      probe: overrides.probe ?? own(closers, createMediaProbe(setup.startMediaReader)),
      films: config.ffmpeg === null ? null : createFfmpeg({ places: config.ffmpeg, folder: folder.spool }),
      feed: createFeedStorage(store, files),
      platforms: new Map(setup.catalog.platforms.map((platform) => [platform.name, platform])),
      workerId: newId("wrk"),
      inWords: agentsWords,
      ending: ending.signal,
      publicUrl: () => links.publicUrl(),
      wakePublisher: () => {
        links.wakePublisher();
        store.wake.tell();
      },
      ...overrides,
      links,
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
    links.publicUrl = async () => config.publicUrl ?? (await readServerUrl(ctx)) ?? defaultPublicUrl(config);
    // A refresh token that was sent may be spent: its answer is waited for while there is a way to store it.
    closers.add(() => renewalsDone(ctx, REFRESH_GRACE_MS));
    await noticeRestore(ctx, folder.epoch);
    return ctx;
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

/** Closed with the rest. */
function own<T extends AsyncDisposable>(closers: Closers, opened: T): T {
  closers.add(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** The way to the network that the settings allow. */
function createHttpClient(config: Config): ReturnType<typeof createOutbound> {
  return createOutbound({ allowedHosts: config.allowedHosts, userAgent: `Posthorn/${VERSION}` });
}

/** In a build, results are sent as they are typed. What the sources run checks them, too. */
const CHECKS_OUTPUT = import.meta.url.endsWith(".ts");

/** The tools of the catalog on this context. */
export function createTools(ctx: AppContext, setup: Setup): Toolbox {
  return createToolbox(ctx, setup.catalog.tools, { checksOutput: CHECKS_OUTPUT });
}

/** Where a server on the configured port would be reached. */
export function defaultPublicUrl(config: Config, port = config.port): string {
  return config.publicUrl ?? `http://localhost:${port}`;
}

/** For what works on a context, which ends last. */
export function closersOf(ctx: AsyncDisposable & Pick<AppContext, "log">): Closers {
  const closers = new Closers((error) => ctx.log.error({ err: error }, "something did not close"));
  closers.add(() => ctx[Symbol.asyncDispose]());
  return closers;
}

/** Ends in reverse order what was begun in order; the standard's AsyncDisposableStack needs a newer Node. */
export class Closers implements AsyncDisposable {
  readonly #closers: (() => PromiseLike<void> | void)[] = [];
  readonly #noteFailure: (error: unknown) => void;

  /** What fails to close is reported and does not keep the rest open. */
  constructor(noteFailure: (error: unknown) => void) {
    this.#noteFailure = noteFailure;
  }

  add(close: () => PromiseLike<void> | void): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (;;) {
      const close = this.#closers.pop();
      if (close === undefined) return;
      try {
        await close();
      } catch (error) {
        this.#noteFailure(error);
      }
    }
  }
}
