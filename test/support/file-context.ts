import { join } from "node:path";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createPublicMedia, sharedCopies } from "../../src/media/source/copies.ts";
import { createMediaSource, type MediaSourceOptions } from "../../src/media/source/source.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import type { AppContext } from "../../src/context.ts";
import { createCopyUrl, createDownloadUrl, findReadyFile } from "../../src/files/files.ts";
import { createMediaProbe } from "../../src/media/probe/media-reader.ts";
import { FakeClock } from "./clock.ts";
import { createTestContext, type TestContext } from "./context.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface FileContext extends TestContext {
  /** The folder that goes with the test; `files` and `spool` are in it. */
  readonly folder: string;
}

/** A context with a real file store, real media and a door that lets 127.0.0.1 through. */
export async function createFileContext(
  overrides: Partial<AppContext> &
    Pick<MediaSourceOptions, "maxBytes"> & {
      platformList?: readonly AnyPlatform[];
      /** Copies stand where another host finds them. */
      sharesCopies?: boolean;
    } = {},
): Promise<FileContext> {
  const folder = temporaryFolder();
  const { maxBytes, sharesCopies = false, ...parts } = overrides;
  const files = createFolderStore(join(folder.path, "files"));
  const copies = sharesCopies ? sharedCopies(files) : undefined;
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const clock = new FakeClock();
  const media = createMediaSource({
    outbound,
    files,
    clock,
    probe: createMediaProbe(),
    folder: join(folder.path, "spool"),
    copies,
    findFile: (ownerId, key) => findReadyFile(ctx.store, ownerId, key),
    downloadUrl: (id, lastsMs) => createDownloadUrl(ctx, id, lastsMs),
    copyUrl: (name, lastsMs) => createCopyUrl(ctx, name, lastsMs),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const publicMedia = createPublicMedia({
    folder: join(folder.path, "spool"),
    copies,
    files,
    publicUrl: () => ctx.publicUrl(),
  });
  const ctx: TestContext = await createTestContext({ files, outbound, clock, media, publicMedia, ...parts });
  return {
    ...ctx,
    folder: folder.path,
    async [Symbol.asyncDispose]() {
      await outbound[Symbol.asyncDispose]();
      await ctx[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
