import { SECOND } from "../../domain/time.ts";
import { readMeta, setMeta } from "../../store/tables/meta.ts";
import { isRoleAlive, readPublishers } from "../../store/tables/workers.ts";
import type { AppContext } from "../context.ts";

/** A server that has not been heard of for this long is hardly running any more. */
const SILENT_MS = 30 * SECOND;

/** Whether a server that stays (`posthorn serve`) works on this data folder. */
export function isServerRunning(ctx: Pick<AppContext, "store" | "clock">): Promise<boolean> {
  return isRoleAlive(ctx.store, "serve", ctx.clock.now() - SILENT_MS);
}

/** Under which name the server's public address stands in the database. */
const ADDRESS = "server_url";

/** For the other processes on the data folder, which may have other settings. */
export async function noteServerUrl(ctx: AppContext, url: string): Promise<void> {
  await ctx.store.write((tx) => setMeta(tx, ADDRESS, url));
}

/** Where others reach the server that works on this data folder; null where none does. */
export async function readServerUrl(ctx: AppContext): Promise<string | null> {
  return (await isServerRunning(ctx)) ? readMeta(ctx.store, ADDRESS) : null;
}

/** Whether any process publishes on this data folder, if only for as long as a client is open. */
export async function isPublisherRunning(ctx: AppContext): Promise<boolean> {
  const since = ctx.clock.now() - SILENT_MS;
  return (await readPublishers(ctx.store)).some(({ heartbeat_at }) => heartbeat_at > since);
}
