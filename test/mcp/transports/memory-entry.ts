import { z } from "zod";
import { createContext } from "../../../src/app/compose.ts";
import { serveStdio } from "../../../src/mcp/transports/stdio.ts";
import { ensureFirstAccount } from "../../../src/channels/connecting/connections.ts";
import { readSandboxSetup } from "../../../src/app/setup.ts";
import { defineTool } from "../../../src/toolkit/define-tool.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf } from "../../support/context.ts";

/**
 * The product's tools on standard streams, and one that tells how much memory is in use. argv: the data
 * folder. `--expose-gc`.
 */
const memory = defineTool({
  name: "memory",
  title: "Memory",
  permission: "read",
  description: "Bytes in use after a collection.",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({}),
  output: z.strictObject({ heap: z.int(), outside: z.int() }),
  handle: async () => {
    // Twice: what finalizers let go is collected by the second.
    for (let round = 0; round < 2; round++) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external } = process.memoryUsage();
    return { heap: heapUsed, outside: external };
  },
});

const setup = await readSandboxSetup(process.argv[2]!);
await using ctx = await createContext(setup);
await ensureFirstAccount(ctx);
await serveStdio({
  toolbox: createToolbox(ctx, [...setup.catalog.tools, memory]),
  ctx,
  version: "1.2.3",
  caller: callerOf({ isLocal: true }),
  stdin: process.stdin,
  stdout: process.stdout,
  stopSignal: new AbortController().signal,
});
