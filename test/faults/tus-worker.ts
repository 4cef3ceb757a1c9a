import { runMediaWorker } from "../support/media-worker.ts";
import { tusPlatform } from "./tus-platform.ts";

// argv: data folder, address of the platform.
const [folder = "", baseUrl = ""] = process.argv.slice(2);
await runMediaWorker({ folder, baseUrl, platform: tusPlatform });
