import { sql } from "kysely";
import type { PostRow } from "../schema/tables.ts";
import { change, queryOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";

type Using = Pick<PostRow, "account_id" | "file_ids">;

/** Below both engines' limits of values in a statement. */
const COUNTED_TOGETHER = 500;

/** Counts which files the posts of an account use, beside every change of `file_ids`. */
export async function countFileUses(
  tx: Tx,
  { before, after }: { readonly before: readonly Using[]; readonly after: readonly Using[] },
): Promise<void> {
  const uses = new Map<string, { account_id: string; file_id: string; posts: number }>();
  const add = (posts: readonly Using[], by: number): void => {
    for (const { account_id, file_ids } of posts)
      for (const file_id of JSON.parse(file_ids ?? "[]") as readonly string[]) {
        const key = `${account_id} ${file_id}`;
        uses.set(key, { account_id, file_id, posts: (uses.get(key)?.posts ?? 0) + by });
      }
  };
  add(before, -1);
  add(after, 1);
  // In one order, so that two transactions do not wait for each other.
  const changed = [...uses]
    .filter(([, { posts }]) => posts !== 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, use]) => use);
  for (let at = 0; at < changed.length; at += COUNTED_TOGETHER)
    await queryOf(tx)
      .insertInto("file_uses")
      .values(changed.slice(at, at + COUNTED_TOGETHER))
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "file_id"])
          .doUpdateSet({ posts: sql<number>`file_uses.posts + excluded.posts` }),
      )
      .execute();
  for (const { account_id, file_id } of changed.filter(({ posts }) => posts < 0))
    await change(
      tx,
      sql`DELETE FROM file_uses WHERE account_id = ${account_id} AND file_id = ${file_id} AND posts <= 0`,
    );
}
