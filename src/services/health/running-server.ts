import { SECOND } from "../../domain/time.ts";
import { isRoleAlive } from "../../store/tables/workers.ts";
import type { AppContext } from "../context.ts";

/** A server that has not been heard of for this long is hardly running any more. */
const SILENT_MS = 30 * SECOND;

/** Whether a server that stays (`posthorn serve`) works on this data folder. */
export function isServerRunning(ctx: Pick<AppContext, "store" | "clock">): Promise<boolean> {
  return isRoleAlive(ctx.store, "serve", ctx.clock.now() - SILENT_MS);
}
