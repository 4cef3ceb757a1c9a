import type { DraftState } from "../../domain/drafts/draft.ts";
import type { PostRow } from "../schema/tables.ts";
import { queryOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

/** A row of an imported table: what it said, as a hash, and the post that says so now. */
export interface ImportedRow {
  readonly mark: string;
  readonly post_id: string;
}

/** Below both engines' limits of values in a statement. */
const TOGETHER = 500;

/** The posts that rows with these marks were made into. */
export async function findImported(
  reader: Reader,
  ownerId: string,
  marks: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const some of chunks(marks)) {
    const rows = await queryOf(reader)
      .selectFrom("imported_rows")
      .select(["mark", "post_id"])
      .where("owner_id", "=", ownerId)
      .where("mark", "in", some)
      .execute();
    for (const { mark, post_id: postId } of rows) found.set(mark, postId);
  }
  return found;
}

/**
 * Notes the rows, and answers the marks of those that were not there yet. Another import of the same rows waits
 * here until this transaction ends. In the order of the marks, so that two do not wait in a circle.
 */
export async function noteImported(
  tx: Tx,
  ownerId: string,
  rows: readonly ImportedRow[],
): Promise<ReadonlySet<string>> {
  const noted = new Set<string>();
  const inOrder = rows.toSorted((a, b) => (a.mark < b.mark ? -1 : 1));
  for (const some of chunks(inOrder)) {
    const inserted = await queryOf(tx)
      .insertInto("imported_rows")
      .values(some.map(({ mark, post_id }) => ({ owner_id: ownerId, mark, post_id })))
      .onConflict((conflict) => conflict.doNothing())
      .returning("mark")
      .execute();
    for (const { mark } of inserted) noted.add(mark);
  }
  return noted;
}

/** In which states the owner's drafts with these ids are. */
export async function statesOfDrafts(
  reader: Reader,
  ownerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DraftState>> {
  const states = new Map<string, DraftState>();
  for (const some of chunks(ids)) {
    const rows = await queryOf(reader)
      .selectFrom("drafts")
      .select(["id", "state"])
      .where("owner_id", "=", ownerId)
      .where("id", "in", some)
      .execute();
    for (const { id, state } of rows) states.set(id, state);
  }
  return states;
}

/** What became of a post that a row was made into. */
export type MadePost = Pick<
  PostRow,
  "id" | "status" | "published_at" | "scheduled_at" | "caption" | "media_url" | "created_at" | "updated_at"
>;

/** What became of the owner's posts with these ids. */
export async function findMade(
  reader: Reader,
  ownerId: string,
  ids: readonly string[],
): Promise<readonly MadePost[]> {
  const found: MadePost[] = [];
  for (const some of chunks(ids))
    found.push(
      ...(await queryOf(reader)
        .selectFrom("posts")
        .select([
          "id",
          "status",
          "published_at",
          "scheduled_at",
          "caption",
          "media_url",
          "created_at",
          "updated_at",
        ])
        .where("owner_id", "=", ownerId)
        .where("id", "in", some)
        .execute()),
    );
  return found;
}

/** What tells whether two posts say the same. */
export type TwinRow = Pick<PostRow, "account_id" | "content_hash" | "metadata" | "lead_minutes">;

/** The owner's waiting posts with one of these contents. */
export async function listWaitingTwins(
  reader: Reader,
  ownerId: string,
  posts: readonly Pick<PostRow, "account_id" | "content_hash">[],
): Promise<(TwinRow & Pick<PostRow, "id">)[]> {
  const found: (TwinRow & Pick<PostRow, "id">)[] = [];
  const accounts = [...new Set(posts.map(({ account_id }) => account_id))];
  for (const account of accounts) {
    const own = posts.filter(({ account_id }) => account_id === account);
    const hashes = [...new Set(own.map(({ content_hash }) => content_hash))];
    for (const some of chunks(hashes))
      found.push(
        ...(await queryOf(reader)
          .selectFrom("posts")
          .select(["id", "account_id", "content_hash", "metadata", "lead_minutes"])
          .where("account_id", "=", account)
          .where("owner_id", "=", ownerId)
          .where("status", "=", "scheduled")
          .where("content_hash", "in", some)
          .execute()),
      );
  }
  return found;
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += TOGETHER) yield items.slice(at, at + TOGETHER);
}
