import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/app/system-clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createMediaProbe } from "../../src/media/probe/media-reader.ts";
import { createMediaSource } from "../../src/media/source/source.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import youtube from "../../src/platforms/youtube/index.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";

/**
 * The publisher with YouTube and real media, in a process of its own that others kill and weigh; it ends when nothing
 * waits any more. argv: data folder, address of the platform.
 */
const [folder = "", baseUrl = ""] = process.argv.slice(2);
const log = createMemoryLogger();
const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const media = createMediaSource({
  outbound,
  files: createFolderStore(join(folder, "files")),
  probe: createMediaProbe(),
  clock: systemClock,
  folder: join(folder, "spool"),
  findFile: async () => null,
  downloadUrl: async () => "",
  copyUrl: async () => "",
});
const ctx = await createTestContext({
  store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
  log,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound,
  media,
  feed: {} as never,
  platformList: [youtube],
  settings: {
    timezone: "UTC",
    maxLatenessMs: 3_600_000,
    uploadFolders: [],
    platformSettings: { POSTHORN_YOUTUBE_BASE_URL: baseUrl },
  },
  workerId: newId("wrk"),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
});
process.stdout.write("publishing\n");

const waiting = rawOf(ctx.store).prepare(
  "SELECT COUNT(*) AS n FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL",
);
while ((waiting.get([]) as { n: number }).n > 0) await systemClock.sleep(10);
process.stderr.write(log.lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
await publisher.close();
process.exit(0);
