import { readMeta } from "../../store/queries/meta.ts";
import type { AppContext } from "../context.ts";

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
