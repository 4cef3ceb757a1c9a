import { writeSync } from "node:fs";
import { untilOrphaned } from "../../../src/mcp/transports/stdio.ts";
import { serveStdio } from "../../../src/mcp/transports/stdio.ts";
import { systemClock } from "../../../src/app/system-clock.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext } from "../../support/context.ts";
import { createSmallTools } from "../small-tools.ts";

/**
 * A process that serves the small tools on its standard streams. argv: permissions, separated by commas.
 * Notes go to stderr.
 */
const permissions = (process.argv[2] ?? "read,publish").split(",") as ("read" | "publish")[];
const tell = (text: string): void => void writeSync(2, `${text}\n`);

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort());
untilOrphaned(() => process.ppid, systemClock, stop.signal).then(
  () => stop.abort(),
  () => {},
);

await using ctx = await createTestContext();
const toolbox = createToolbox(ctx, createSmallTools(tell));
await serveStdio({
  toolbox,
  ctx: { ...ctx, clock: systemClock },
  version: "1.2.3",
  caller: callerOf({ permissions, isLocal: true }),
  stdin: process.stdin,
  stdout: process.stdout,
  stopSignal: stop.signal,
});
stop.abort();
for (const line of ctx.log.lines.filter((line) => line.level !== "debug"))
  tell(`${line.level}: ${line.message}`);
