import { canHoldPosts } from "../../domain/accounts/capabilities.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { Tx } from "../../store/engine/store.ts";
import {
  isOlder,
  moveGeneration,
  newGeneration,
  readGeneration,
  readGenerationFile,
  writeGeneration,
  writeGenerationFile,
  type Generation,
} from "../../store/backup/generation.ts";
import { readMeta, setMeta } from "../../store/tables/meta.ts";
import { countSuspects, holdSuspects } from "../../store/publishing/suspects.ts";
import type { AppContext } from "../context.ts";

/** When the database was last put back from a copy. */
const RESTORED_AT = "restored_at";

/**
 * Null for a database that never was; `inDoubt` counts posts that may have gone out and are not settled yet.
 */
export async function readRestore({
  store,
}: Pick<AppContext, "store">): Promise<{ at: number; inDoubt: number } | null> {
  const at = await readMeta(store, RESTORED_AT);
  return at === null ? null : { at: Number(at), inDoubt: await countSuspects(store) };
}

type Noticing = Pick<AppContext, "store" | "clock" | "log" | "platforms">;

interface NoticeOptions {
  /**
   * Each of several hosts has such a file, and a new host has none: that tells nothing of the database's past,
   * nor does one of another database, with which the first host to start has dealt. Default: there is one.
   */
  readonly isOneOfMany?: boolean;
}

/**
 * Notices a database that is older than its folder, or that came from elsewhere: what it believes unsent may
 * have gone out since, and is not sent before that is settled. `path` is the generation's, beside the
 * database.
 */
export async function noticeRestore(
  ctx: Noticing,
  path: string,
  { isOneOfMany = false }: NoticeOptions = {},
): Promise<void> {
  const file = { path, isOneOfMany };
  const own = await readGeneration(ctx.store);
  const written = readGenerationFile(path);
  if (own !== null && !isBehind(own, written, file)) {
    if (written?.id !== own.id) writeGenerationFile(path, own, { isDurable: true });
    return;
  }
  const held = await ctx.store.write((tx) => adopt(ctx, tx, file));
  if (held === null) return;
  ctx.log.warn(
    { posts: held },
    "the database was put back from a copy: posts that may have gone out since are not sent before their platform, or a person, has told",
  );
}

type GenerationFile = Required<NoticeOptions> & { readonly path: string };

function isBehind(own: Generation, written: Generation | null, { isOneOfMany }: GenerationFile): boolean {
  return isOlder(own, written) && !(isOneOfMany && written?.id !== own.id);
}

/** Null where there was nothing to notice: a new database, or another process was first. */
async function adopt(ctx: Noticing, tx: Tx, file: GenerationFile): Promise<number | null> {
  const { path, isOneOfMany } = file;
  const own = await readGeneration(tx);
  const written = readGenerationFile(path);
  if (own !== null && !isBehind(own, written, file)) return null;
  // What another database has left says nothing of a new one that all hosts share.
  const known = own === null && !isOneOfMany ? written : null;
  const generation = known ?? newGeneration();
  if (!(await moveGeneration(tx, own, generation))) return null;
  // Before the commit: should it not come to that, the two differ still, and the next start does this again.
  if (known === null) writeGenerationFile(path, generation, { isDurable: true });
  if (own === null) return null;
  return holdRestored(tx, { generation, now: ctx.clock.now(), platforms: ctx.platforms.values() });
}

export interface Restored {
  /** The one that the database begins with now. */
  readonly generation: Generation;
  /** The moment of the restore: what was due until then may have gone out. */
  readonly now: number;
  readonly platforms: Iterable<AnyPlatform>;
}

/** Makes a copy of a database fit to go on from: nothing that may have gone out is sent again. */
export async function holdRestored(tx: Tx, { generation, now, platforms }: Restored): Promise<number> {
  const all = [...platforms];
  const held = await holdSuspects(tx, {
    now,
    localProviders: all.filter((platform) => platform.isLocal === true).map(({ name }) => name),
    promptProviders: all.filter(({ capabilities }) => !canHoldPosts(capabilities)).map(({ name }) => name),
  });
  await writeGeneration(tx, generation);
  await setMeta(tx, RESTORED_AT, String(now));
  return held;
}
