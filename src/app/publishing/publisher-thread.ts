import type { MessagePort } from "node:worker_threads";
import { loadCatalog } from "../catalog.ts";
import { createContext } from "../compose.ts";
import { SECOND } from "../../domain/time.ts";
import type { WorkerRole } from "../../store/tables/workers.ts";

import { runPublisher, type Machine } from "./running-publisher.ts";
import type { Settings } from "../setup.ts";
import type { Threads } from "../threads.ts";

/** What the thread is started with; plain data, because it is copied. */
export interface ThreadData {
  readonly settings: Omit<Settings, "threads">;
  readonly machine: Machine;
  readonly role: WorkerRole;
  /** Null: another process serves the pages, and is looked for when they are asked for. */
  readonly publicUrl: string | null;
}

export type MessageToThread =
  { readonly type: "wake" } | { readonly type: "close"; readonly graceMs: number | undefined };
/** Sent once it publishes, and each second from then on. */
export interface MessageFromThread {
  readonly isHealthy: boolean;
}

/** Publishes in a thread of its own, with a database connection of its own, until it is told to close. */
export async function runPublisherThread(
  port: MessagePort,
  data: ThreadData,
  threads: Threads,
): Promise<void> {
  // Arrives as a plain array of bytes.
  const settings = { ...data.settings, masterKey: Buffer.from(data.settings.masterKey) };
  await using ctx = await createContext({ ...settings, threads, catalog: await loadCatalog() });
  const { publicUrl } = data;
  if (publicUrl !== null) ctx.links.publicUrl = async () => publicUrl;
  const publisher = await runPublisher(ctx, settings.folder, { ...data.machine, role: data.role });
  const tell = (): void => port.postMessage({ isHealthy: publisher.isHealthy() } satisfies MessageFromThread);
  tell();
  const timer = setInterval(tell, SECOND);
  const graceMs = await new Promise<number | undefined>((resolve) => {
    port.on("message", (message: MessageToThread) => {
      if (message.type === "wake") publisher.wake();
      else resolve(message.graceMs);
    });
  });
  clearInterval(timer);
  await publisher.close(graceMs);
  port.close();
}
