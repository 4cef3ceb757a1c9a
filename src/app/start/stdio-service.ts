import { loadCatalog } from "../catalog.ts";
import type { Closers } from "../closers.ts";
import { createContext, createTools } from "../compose.ts";
import type { Publisher } from "../../publisher/loop.ts";
import { enlist, runPublisher, type Machine } from "../publishing/running-publisher.ts";
import type { AppContext } from "../../services/context.ts";
import { ensureFirstAccount } from "../../services/upkeep/first-start.ts";
import type { Settings } from "../setup.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { openListenerWhenAsked } from "./listener.ts";

/**
 * A client waits for little at its end; the publisher's work is taken up again from the ledger by the next
 * process.
 */
const PUBLISHER_GRACE_MS = 500;

/** What is there before the service is. */
export type Base = Pick<AppContext, "clock" | "log" | "cipher" | "store">;

interface StdioServiceParts {
  readonly settings: Settings;
  readonly machine: Machine;
  readonly base: Base;
  readonly closers: Closers;
}

/** Loads the tools, and starts publishing. */
export async function openStdioService({
  settings,
  machine,
  base,
  closers,
}: StdioServiceParts): Promise<Toolbox> {
  const setup = { ...settings, catalog: await loadCatalog() };
  const ctx = await createContext(setup, base);
  closers.add(() => ctx[Symbol.asyncDispose]());
  const toolbox = createTools(ctx, setup);
  let publisher: Publisher | null = null;
  await ensureFirstAccount(ctx);
  openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => publisher?.isHealthy() ?? false });
  closers.add(await enlist(ctx, machine));
  publisher = await runPublisher(ctx, setup.folder, { ...machine, role: "stdio" });
  const running = publisher;
  closers.add(() => running.close(PUBLISHER_GRACE_MS));
  return toolbox;
}
