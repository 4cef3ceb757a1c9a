import { canReachAccount, type Caller } from "../../domain/permissions.ts";
import { readPostMarks } from "../../store/queries/posts.ts";
import type { AppContext } from "../context.ts";

/**
 * A text for each of these posts that the caller may see, which is another one after every change that can be
 * seen. Other ids are left out. Cheap: for asking again and again.
 */
export async function readPostVersions(
  ctx: Pick<AppContext, "store">,
  caller: Caller,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await readPostMarks(ctx.store, caller.ownerId, ids);
  const seen = rows.filter((row) => canReachAccount(caller, row.account_id));
  // Two changes may fall into one millisecond.
  return new Map(seen.map((row) => [row.id, `${row.updated_at} ${row.status} ${row.attempts}`]));
}
