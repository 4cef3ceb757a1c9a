import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMediaProbe } from "../../src/media/probe/lazy-probe.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createMediaSource } from "../../src/media/source/source.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import tiktok from "../../src/platforms/tiktok.ts";
import { startPublisher } from "../../src/publisher/loop.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createWorkerLocks } from "../../src/store/engine/worker-lock.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";

/**
 * The publisher with TikTok and a film of the owner's, in a process that others kill.
 *
 * argv: data folder, address of the platform, key of the film.
 */
const [folder = "", baseUrl = "", film = ""] = process.argv.slice(2);

const log = createMemoryLogger();
const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const facts = {
  mimeType: "video/mp4",
  type: "video",
  sizeBytes: statSync(join(folder, "files", film)).size,
  width: 1_080,
  height: 1_920,
  durationSeconds: 120,
  videoCodec: "avc",
  audioCodec: "aac",
  isAnimated: false,
  sha256: null,
} as const;
const media = createMediaSource({
  outbound,
  files: createFolderStore(join(folder, "files")),
  probe: createMediaProbe(),
  clock: systemClock,
  folder: join(folder, "spool"),
  findFile: async (_owner, key) => (key === film ? { id: "file_1", altText: null, facts } : null),
  downloadUrl: async () => "",
  copyUrl: async () => "",
});
const ctx = await createTestContext({
  store: await openStore({ file: join(folder, "posthorn.db") }),
  log,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound,
  media,
  feed: {} as never,
  platformList: [tiktok],
  settings: {
    timezone: "UTC",
    maxLatenessMs: 3_600_000,
    uploadFolders: [],
    platformSettings: { POSTHORN_TIKTOK_BASE_URL: baseUrl },
  },
  workerId: newId("wrk"),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
  locks: createWorkerLocks(join(folder, "workers")),
});
process.stdout.write("publishing\n");

const waiting = rawOf(ctx.store).prepare(
  "SELECT COUNT(*) AS n FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL",
);
while ((waiting.get([]) as { n: number }).n > 0) await systemClock.sleep(10);
process.stderr.write(log.lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
await publisher.close();
process.exit(0);
