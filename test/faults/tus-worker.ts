import { runMediaWorker } from "../support/media-worker.ts";
import { tusPlatform } from "./tus-platform.ts";

// argv: data folder, address of the platform, size from which remote files are passed through.
const [folder = "", baseUrl = "", passFromBytes = "0"] = process.argv.slice(2);
await runMediaWorker({ folder, baseUrl, platform: tusPlatform, passFromBytes: Number(passFromBytes) });
