import type { AppContext } from "../context.ts";
import { HOUR, MINUTE } from "../domain/time.ts";
import { allFilesOf, countUses } from "../store/queries/files.ts";
import {
  deleteFilm,
  type FilmRow,
  findFilm,
  isPostWaiting,
  listOldFilms,
} from "../store/queries/publishing/films.ts";

/** Where the store has what was made. */
export function keyOfFilm({ id }: Pick<FilmRow, "id">): string {
  return `films/${id}.mp4`;
}

/** A call that schedules a post with it may be under way. */
const KEPT_MS = HOUR;
const REMOVED_EVERY_MS = 10 * MINUTE;
const removedAt = new WeakMap<AppContext["store"], number>();

/** Films are kept until their posts are done. */
export async function removeUnusedFilms(ctx: AppContext): Promise<void> {
  const now = ctx.clock.now();
  if (now - (removedAt.get(ctx.store) ?? -Infinity) < REMOVED_EVERY_MS) return;
  removedAt.set(ctx.store, now);
  for (const row of await listOldFilms(ctx.store, now - KEPT_MS)) {
    if (await isUsed(ctx, row)) continue;
    await ctx.store.write((tx) => deleteFilm(tx, row.id));
    await ctx.files.remove(keyOfFilm(row));
  }
  await ctx.films?.removeLeftOvers(async (id) => {
    const row = await findFilm(ctx.store, id);
    return row === null || row.facts !== null;
  });
}

async function isUsed({ store }: AppContext, row: FilmRow): Promise<boolean> {
  if (row.file_key === null) return row.post_id !== null && isPostWaiting(store, row.post_id);
  return (await countUses(store, allFilesOf(row.owner_id), [row.file_key])).size > 0;
}
