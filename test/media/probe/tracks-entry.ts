import { parentPort } from "node:worker_threads";
import { runTracksThread } from "../../../src/media/probe/tracks-thread.ts";

if (parentPort !== null) runTracksThread(parentPort);
