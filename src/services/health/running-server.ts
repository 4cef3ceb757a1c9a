import { SECOND } from "../../domain/time.ts";
import type { AppContext } from "../context.ts";

/** A server that has not been heard of for this long is hardly running any more. */
const SILENT_MS = 30 * SECOND;

/** Whether a server that stays (`posthorn serve`) works on this data folder. */
export async function isServerRunning(ctx: AppContext): Promise<boolean> {
  const server = await ctx.db.query
    .selectFrom("workers")
    .select("id")
    .where("role", "=", "serve")
    .where("heartbeat_at", ">", ctx.clock.now() - SILENT_MS)
    .executeTakeFirst();
  return server !== undefined;
}
