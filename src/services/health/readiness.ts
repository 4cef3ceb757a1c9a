import type { AppContext } from "../context.ts";

/** Whether the database answers. Its reason goes to the log. */
export async function isDatabaseReady(ctx: AppContext): Promise<boolean> {
  try {
    await ctx.db.query.selectFrom("meta").select("key").limit(1).execute();
    return true;
  } catch (error) {
    ctx.log.error({ err: error }, "The database does not answer");
    return false;
  }
}
