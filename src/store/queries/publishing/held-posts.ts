import { queryOf } from "../../engine/statements.ts";
import type { EffectRow, Lease } from "../../engine/ledger.ts";
import type { PostRow } from "../../engine/schema.ts";
import type { Tx } from "../../engine/store.ts";
import { findAccountRow, type AccountRow } from "../accounts.ts";
import { POST_COLUMNS } from "../../engine/post-columns.ts";

/** A post that a caller's request works on, and no publisher. */
export interface HeldPost {
  readonly post: PostRow;
  readonly account: AccountRow;
  /** The ledger of its present run. */
  readonly effects: readonly EffectRow[];
  readonly lease: Lease;
}

/** Takes a post of this status away from publishers; null where one holds it, or its status is another. */
export async function holdPost(tx: Tx, row: HeldRow, workerId: string): Promise<HeldPost | null> {
  return hold(tx, row, { lease_worker: workerId });
}

/**
 * The same for a live post that is about to be deleted on its platform: what was to follow it is stopped, and
 * its error says so until the deletion has an end.
 */
export async function beginTakeDown(
  tx: Tx,
  row: HeldRow,
  { workerId, error, now }: { readonly workerId: string; readonly error: string; readonly now: number },
): Promise<HeldPost | null> {
  return hold(tx, row, { lease_worker: workerId, next_at: null, error, updated_at: now });
}

type HeldRow = Pick<PostRow, "id" | "owner_id" | "status">;

async function hold(
  tx: Tx,
  row: HeldRow,
  set: Partial<PostRow> & { readonly lease_worker: string },
): Promise<HeldPost | null> {
  const query = queryOf(tx);
  const post = await query
    .updateTable("posts")
    .set((eb) => ({ ...set, fence: eb("fence", "+", 1) }))
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
  const lease = {
    postId: post.id,
    accountId: post.account_id,
    workerId: set.lease_worker,
    fence: post.fence,
  };
  return { post, account, effects, lease };
}

/** Gives it back as it is, or with a note. False where somebody else holds it by now. */
export async function letGo(
  tx: Tx,
  { post, lease }: HeldPost,
  note: { readonly error: string; readonly now: number } | null = null,
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("posts")
    .set({ lease_worker: null, ...(note === null ? {} : { error: note.error, updated_at: note.now }) })
    .where("id", "=", post.id)
    .where("owner_id", "=", post.owner_id)
    .where("fence", "=", lease.fence)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * The post as it is, which nobody else changes until the transaction ends: for whoever writes by what was
 * read. Null for one that does not exist or is somebody else's.
 */
export async function lockPost(tx: Tx, ownerId: string, id: string): Promise<PostRow | null> {
  const row = await queryOf(tx)
    .selectFrom("posts")
    .select(POST_COLUMNS)
    .where("id", "=", id)
    .where("owner_id", "=", ownerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}
