import { statSync } from "node:fs";
import { join } from "node:path";
import tiktok from "../../src/platforms/tiktok/index.ts";
import { runMediaWorker } from "../support/media-worker.ts";

// argv: data folder, address of the platform, key of the film, which is the owner's own.
const [folder = "", baseUrl = "", film = ""] = process.argv.slice(2);
const facts = {
  mimeType: "video/mp4",
  type: "video",
  sizeBytes: statSync(join(folder, "files", film)).size,
  width: 1_080,
  height: 1_920,
  durationSeconds: 120,
  pages: null,
  videoCodec: "avc",
  audioCodec: "aac",
  isAnimated: false,
  sha256: "0".repeat(64),
} as const;
await runMediaWorker({
  folder,
  baseUrl,
  platform: tiktok,
  findFile: async (_owner, key) =>
    key === film ? { id: "file_1", name: "film.mp4", altText: null, facts } : null,
});
