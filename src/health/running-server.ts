import { SECOND } from "../domain/time.ts";
import { readMeta, setMeta } from "../store/queries/meta.ts";
import { isRoleAlive, readPublishers } from "../store/queries/workers.ts";
import type { AppContext } from "../context.ts";

/** A server that has not been heard of for this long is hardly running any more. */
const SILENT_MS = 30 * SECOND;

type Watched = Pick<AppContext, "store" | "clock">;

/** Whether a process that stays publishes: `posthorn serve`, or the half of it that does. */
export function isServerRunning(ctx: Watched): Promise<boolean> {
  return isRoleAlive(ctx.store, ["serve", "publisher"], ctx.clock.now() - SILENT_MS);
}

/** Under which name the server's public address stands in the database. */
const ADDRESS = "server_url";

/** For the other processes on the data folder, which may have other settings. */
export async function noteServerUrl(ctx: AppContext, url: string): Promise<void> {
  await ctx.store.write((tx) => setMeta(tx, ADDRESS, url));
}

/** Where others reach the server that works on this data folder; null where none does. */
export async function readServerUrl(ctx: AppContext): Promise<string | null> {
  const isServed = await isRoleAlive(ctx.store, ["serve", "api"], ctx.clock.now() - SILENT_MS);
  return isServed ? readMeta(ctx.store, ADDRESS) : null;
}

/** Whether any process publishes on this data folder, if only for as long as a client is open. */
export async function isPublisherRunning(ctx: AppContext): Promise<boolean> {
  const since = ctx.clock.now() - SILENT_MS;
  return (await readPublishers(ctx.store)).some(({ heartbeat_at }) => heartbeat_at > since);
}

/** Whether the database answers. Its reason goes to the log. */
export async function isDatabaseReady(ctx: AppContext): Promise<boolean> {
  try {
    await readMeta(ctx.store, "generation");
    return true;
  } catch (error) {
    ctx.log.error({ err: error }, "The database does not answer");
    return false;
  }
}
