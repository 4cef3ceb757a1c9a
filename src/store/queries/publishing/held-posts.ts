import { listRows, queryOf, updateRows } from "../../engine/statements.ts";
import type { EffectRow, Lease } from "../../engine/ledger.ts";
import type { PostRow } from "../../schema/tables.ts";
import type { Tx } from "../../engine/store.ts";
import { findAccountRow, type AccountRow } from "../accounts.ts";

/** A post on which a call works, and no publisher. */
export interface HeldPost {
  readonly post: PostRow;
  readonly account: AccountRow;
  /** The ledger of its present run. */
  readonly effects: readonly EffectRow[];
  readonly lease: Lease;
}

/**
 * Takes a post of this status from the publishers. Null where a publisher holds it, or its status is another. `set`
 * is changed with it.
 */
export async function holdPost(
  tx: Tx,
  row: Pick<PostRow, "id" | "owner_id" | "status">,
  workerId: string,
  set: Partial<PostRow> = {},
): Promise<HeldPost | null> {
  const query = queryOf(tx);
  const post = await query
    .updateTable("posts")
    .set((eb) => ({ ...set, lease_worker: workerId, fence: eb("fence", "+", 1) }))
    .where("id", "=", row.id)
    .where("owner_id", "=", row.owner_id)
    .where("status", "=", row.status)
    .where("lease_worker", "is", null)
    .returningAll()
    .executeTakeFirst();
  const account = post && (await findAccountRow(tx, post.owner_id, post.account_id));
  if (post === undefined || account === undefined) return null;
  const effects = await listRows(tx, "effects", { post_id: post.id, run: post.run }, "step");
  const lease = { postId: post.id, accountId: post.account_id, workerId, fence: post.fence };
  return { post, account, effects, lease };
}

/** The same for a live post that is about to be deleted on its platform. Its follow-ups are stopped. */
export function beginTakeDown(
  tx: Tx,
  row: Pick<PostRow, "id" | "owner_id" | "status">,
  { workerId, error, now }: { readonly workerId: string; readonly error: string; readonly now: number },
): Promise<HeldPost | null> {
  return holdPost(tx, row, workerId, { next_at: null, error, updated_at: now });
}

/** Forgets what was noted on a live post, unless something else is noted by now. */
export async function forgetError(tx: Tx, { id, owner_id, status, error }: PostRow): Promise<void> {
  await updateRows(tx, "posts", { id, owner_id, status, error }, { error: null });
}

/** Releases it as it is, or with a note. False where another process holds it by now. */
export async function letGo(
  tx: Tx,
  { post, lease }: HeldPost,
  note: { readonly error: string; readonly now: number } | null = null,
): Promise<boolean> {
  const held = { id: post.id, owner_id: post.owner_id, fence: lease.fence };
  const noted = note === null ? {} : { error: note.error, updated_at: note.now };
  return (await updateRows(tx, "posts", held, { ...noted, lease_worker: null })) > 0;
}
