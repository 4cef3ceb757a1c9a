import youtube from "../../src/platforms/youtube/index.ts";
import { runMediaWorker } from "../support/media-worker.ts";

// argv: data folder, address of YouTube.
const [folder = "", baseUrl = ""] = process.argv.slice(2);
await runMediaWorker({ folder, baseUrl, platform: youtube });
