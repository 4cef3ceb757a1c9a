import { sql, type Insertable, type Selectable } from "kysely";
import type { Tables } from "../../schema/tables.ts";
import { deleteRows, findRow, insertNew, queryOf, rowOf, updateRows } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";

export type FilmRow = Selectable<Tables["films"]>;
export type NewFilm = Pick<
  Insertable<Tables["films"]>,
  "id" | "owner_id" | "file_key" | "post_id" | "original" | "form"
>;

/** Noted with a film that waits for room on the disk. It is tried again, unlike one with another error. */
export const WAITS_FOR_ROOM =
  "The disk is full, or nearly so: the video is converted once there is room. Free some space.";

/** Where it is there already, it stays as it is. */
export async function insertFilm(tx: Tx, film: NewFilm, now: number): Promise<void> {
  await insertNew(tx, "films", { ...film, percent: 0, created_at: now });
}

export async function findFilm(reader: Reader, id: string): Promise<FilmRow | null> {
  return (await findRow(reader, "films", { id })) ?? null;
}

/** By their ids, and those that the post waits for. */
export function listFilms(
  reader: Reader,
  { postId, ids }: { readonly postId: string; readonly ids: readonly string[] },
): Promise<FilmRow[]> {
  return queryOf(reader)
    .selectFrom("films")
    .selectAll()
    .where((eb) => eb.or([eb("post_id", "=", postId), eb("id", "in", ids)]))
    .execute();
}

/** A film that waits, and when its first post is due. */
export interface WaitingFilm {
  readonly film: FilmRow;
  readonly dueAt: number;
  readonly scheduledAt: number;
}

/**
 * The owners' file that is to be converted next: of the post that is due first, as posts are scheduled now. Null:
 * no post waits for one.
 */
export async function findWaitingFilm(reader: Reader): Promise<WaitingFilm | null> {
  const row = await rowOf(
    reader,
    sql<{ id: string; due_at: number; scheduled_at: number }>`
      SELECT f.id AS id, min(p.due_at) AS due_at, min(p.scheduled_at) AS scheduled_at
      FROM films f JOIN posts p ON p.owner_id = f.owner_id AND p.next_at IS NOT NULL
        AND (p.media_url = 'r2://' || f.file_key OR p.metadata LIKE '%"r2://' || f.file_key || '"%')
      WHERE f.file_key IS NOT NULL AND f.worker_id IS NULL AND f.facts IS NULL
        AND (f.error IS NULL OR f.error = ${WAITS_FOR_ROOM})
      GROUP BY f.id, f.created_at ORDER BY min(p.due_at), f.created_at LIMIT 1`,
  );
  const film = row === undefined ? null : await findFilm(reader, row.id);
  if (row === undefined || film === null) return null;
  return { film, dueAt: row.due_at, scheduledAt: row.scheduled_at };
}

/** False where another worker has it, or it is done. */
export async function claimFilm(tx: Tx, id: string, workerId: string): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("films")
    .set({ worker_id: workerId, percent: 0, error: null })
    .where("id", "=", id)
    .where("worker_id", "is", null)
    .where("facts", "is", null)
    .where((eb) => eb.or([eb("error", "is", null), eb("error", "=", WAITS_FOR_ROOM)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Of a film that the worker has; nothing happens to one that it lost. */
export async function changeFilm(
  tx: Tx,
  { id, workerId }: { readonly id: string; readonly workerId: string },
  set: Partial<Pick<FilmRow, "percent" | "worker_id" | "error" | "facts">>,
): Promise<void> {
  await updateRows(tx, "films", { id, worker_id: workerId }, set);
}

/** For `get_post`. */
export async function noteFilmWaits(tx: Tx, id: string): Promise<void> {
  const open = { id, worker_id: null, facts: null, error: null };
  await updateRows(tx, "films", open, { error: WAITS_FOR_ROOM });
}

/** What a worker had under way is free again. */
export async function freeFilms(tx: Tx, workerId: string): Promise<void> {
  await updateRows(tx, "films", { worker_id: workerId }, { worker_id: null, percent: 0 });
}

/** Those of before the moment that are not being converted. */
export function listOldFilms(reader: Reader, before: number): Promise<FilmRow[]> {
  return queryOf(reader)
    .selectFrom("films")
    .selectAll()
    .where("created_at", "<", before)
    .where("worker_id", "is", null)
    .execute();
}

/** Whether the post still waits, or is worked on. */
export async function isPostWaiting(reader: Reader, id: string): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select(sql<number>`1`.as("one"))
    .where("id", "=", id)
    .where((eb) => eb.or([eb("next_at", "is not", null), eb("lease_worker", "is not", null)]))
    .executeTakeFirst();
  return row !== undefined;
}

/** Also one that failed, so that another try converts it anew. */
export async function deleteFilm(tx: Tx, id: string): Promise<void> {
  await deleteRows(tx, "films", { id });
}
