import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { createMediaProbe } from "../../src/media/probe/lazy-probe.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createMediaSource } from "../../src/media/source/source.ts";
import type { ByteSource } from "../../src/ports/media-probe.ts";
import { systemClock } from "../../src/app/system-clock.ts";

/** The address of a short video; put in by the build. */
declare const CLIP: string;

/**
 * Brings a remote video to a receiver by the product's own media port and door, once. Prints bytes,
 * milliseconds, peak memory.
 */
const [from = "", to = "", chunk = "0"] = process.argv.slice(2);

function readFixture(): ByteSource {
  const bytes = readFileSync(new URL(CLIP));
  return {
    sizeBytes: bytes.length,
    read: ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]),
  };
}

const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
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

// Loading the libraries is the start's affair.
await createMediaProbe().inspect(readFixture(), { ownerId: "bench", signal: new AbortController().signal });
let peak = 0;
const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const item = await media
  .forPost({ ownerId: "default", postId: "post_1" }, new AbortController().signal)
  .item(from);
const checkedAt = performance.now();
const { sizeBytes } = item.facts;
const chunkBytes = Number(chunk) === 0 ? sizeBytes : Number(chunk);
let sent = 0;
for (let start = 0; start < sizeBytes; start += chunkBytes) {
  const end = Math.min(start + chunkBytes, sizeBytes) - 1;
  const answer = await outbound.request({
    method: "PUT",
    url: to,
    headers: { "content-length": String(end + 1 - start) },
    body: item.open({ start, end }),
    timeoutMs: 600_000,
  });
  sent += Number(await text(answer.body));
}
const endedAt = performance.now();
clearInterval(sampler);
const { user, system } = process.cpuUsage(cpuBefore);
const report = {
  sent,
  checkMs: checkedAt - startedAt,
  totalMs: endedAt - startedAt,
  peakBytes: peak,
  cpuMs: (user + system) / 1_000,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
await outbound[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
