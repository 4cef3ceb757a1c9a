import { queryOf } from "../engine/handle.ts";
import type { EffectRow, Lease } from "../engine/ledger.ts";
import type { PostRow } from "../engine/schema.ts";
import type { Tx } from "../engine/store.ts";
import { change } from "../engine/statements.ts";
import { findPost } from "../tables/posts.ts";
import { findAccountRow, type AccountRow } from "../tables/accounts.ts";
import { POST_COLUMNS } from "../engine/post-columns.ts";

/** A post that a caller's request works on, and no publisher. */
export interface HeldPost {
  readonly post: PostRow;
  readonly account: AccountRow;
  /** The ledger of its present run. */
  readonly effects: readonly EffectRow[];
  readonly lease: Lease;
}

/** Takes a post of this status away from publishers; null where one holds it, or its status is another. */
export async function holdPost(
  tx: Tx,
  row: Pick<PostRow, "id" | "owner_id" | "status">,
  workerId: string,
): Promise<HeldPost | null> {
  const query = queryOf(tx);
  const post = await query
    .updateTable("posts")
    .set((eb) => ({ lease_worker: workerId, fence: eb("fence", "+", 1) }))
    .where("id", "=", row.id)
    .where("owner_id", "=", row.owner_id)
    .where("status", "=", row.status)
    .where("lease_worker", "is", null)
    .returning(POST_COLUMNS)
    .executeTakeFirst();
  const account = post && (await findAccountRow(tx, post.owner_id, post.account_id));
  if (post === undefined || account === undefined) return null;
  const effects = await query
    .selectFrom("effects")
    .selectAll()
    .where("post_id", "=", post.id)
    .where("run", "=", post.run)
    .execute();
  const lease = { postId: post.id, accountId: post.account_id, workerId, fence: post.fence };
  return { post, account, effects, lease };
}

/** Gives it back as it is. */
export async function letGo(tx: Tx, { post, lease }: HeldPost): Promise<void> {
  await queryOf(tx)
    .updateTable("posts")
    .set({ lease_worker: null })
    .where("id", "=", post.id)
    .where("owner_id", "=", post.owner_id)
    .where("fence", "=", lease.fence)
    .execute();
}

const LOCK = "UPDATE posts SET fence = fence WHERE id = ? AND owner_id = ?";

/**
 * The post as it is, which nobody else changes until the transaction ends: for whoever writes by what was
 * read. Null for one that does not exist or is somebody else's.
 */
export async function lockPost(tx: Tx, ownerId: string, id: string): Promise<PostRow | null> {
  await change(tx, LOCK, [id, ownerId]);
  return findPost(tx, ownerId, id);
}
