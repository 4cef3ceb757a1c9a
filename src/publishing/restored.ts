import type { ReconcileClass } from "../domain/accounts/account.ts";
import { canHoldPosts } from "../domain/accounts/capabilities.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { Tx } from "../store/engine/store.ts";
import {
  addFormerIds,
  isOlder,
  newEpoch,
  readFormerIds,
  readEpoch,
  readEpochFile,
  replaceEpoch,
  writeEpoch,
  writeEpochFile,
  type RestoreEpoch,
} from "../store/backup/restore-epoch.ts";
import type { LaterDecisions } from "../domain/health/backups.ts";
import { keepDecided } from "../store/backup/decided-since.ts";
import { readMeta, setMeta } from "../store/queries/meta.ts";
import { countRestored, markRestored } from "../store/queries/publishing/restored-posts.ts";
import type { AppContext } from "../context.ts";

/** These tell by a post alone whether it is out. A key of ours may have been made after the copy. */
const TELL_OF_LATER: readonly ReconcileClass[] = ["server_key", "list"];

/** When the database was last put back from a copy. */
const RESTORED_AT = "restored_at";

/**
 * Null for a database that never was; `inDoubt` counts posts that may have gone out and are not reconciled yet.
 */
export async function readRestore({
  store,
}: Pick<AppContext, "store">): Promise<{ at: number; inDoubt: number } | null> {
  const at = await readMeta(store, RESTORED_AT);
  return at === null ? null : { at: Number(at), inDoubt: await countRestored(store) };
}

type Noticing = Pick<AppContext, "store" | "clock" | "log" | "platforms">;

/**
 * Notices a database that is older than its folder, or that came from elsewhere: what it believes unsent may
 * have gone out since, and is not sent before that is reconciled. `file` is the epoch's, beside the
 * database. Where processes are on several machines, each has a file of its own with the furthest that it
 * saw, and the first that notices holds back for all.
 */
export async function noticeRestore(ctx: Noticing, file: string): Promise<void> {
  const own = await readEpoch(ctx.store);
  if (own !== null && !isOlder(own, readEpochFile(file))) return;
  if (own !== null && (await isSettled(ctx, own, file))) return;
  const held = await ctx.store.write((tx) => adopt(ctx, tx, file));
  if (held === "again") return noticeRestore(ctx, file);
  if (held === null) return;
  const { counts, goodKeys } = held.decided;
  const keys = goodKeys?.map(({ id, name }) => `${name} (${id})`) ?? [];
  ctx.log.warn(
    { posts: held.posts, programs: counts.programs, drafts: counts.drafts, keys },
    "the database was put back from a copy: posts that may have gone out since are not sent before their platform, or a person, has told, the access of programs has ended, each draft asks once to look at its channels first, and the keys named here are good even if they were revoked since",
  );
}

/** A machine that is new here, or missed that others held back, takes a database on a server for what it is. */
async function isSettled({ store }: Noticing, own: RestoreEpoch, file: string): Promise<boolean> {
  if (!store.capabilities.manyHosts) return false;
  const written = readEpochFile(file);
  const isKnown =
    written === null || (written.id !== own.id && (await readFormerIds(store)).includes(written.id));
  if (isKnown) writeEpochFile(file, own, { isDurable: true });
  return isKnown;
}

/**
 * Null where there was nothing to notice: a new database, or another process was first. `again`: one was
 * faster just now.
 */
async function adopt(ctx: Noticing, tx: Tx, file: string): Promise<HoldResult | "again" | null> {
  const own = await readEpoch(tx);
  const written = readEpochFile(file);
  if (own !== null && !isOlder(own, written)) return null;
  if (own === null) {
    const first = written ?? newEpoch();
    if (!(await replaceEpoch(tx, null, first))) return "again";
    if (written === null) writeEpochFile(file, first, { isDurable: true });
    return null;
  }
  const epoch = newEpoch();
  if (!(await replaceEpoch(tx, own, epoch))) return "again";
  await addFormerIds(tx, written === null ? [own.id] : [own.id, written.id]);
  // Before the commit: should it not come to that, the two differ still, and the next start does this again.
  writeEpochFile(file, epoch, { isDurable: true });
  const platforms = ctx.platforms.values();
  return holdRestored(tx, { epoch, now: ctx.clock.now(), platforms, isKnown: false });
}

interface HoldResult {
  /** How many posts may have gone out. */
  readonly posts: number;
  readonly decided: LaterDecisions;
}

interface Restoring {
  readonly epoch: RestoreEpoch;
  readonly now: number;
  readonly platforms: Iterable<AnyPlatform>;
  /** The database that is replaced tells what was decided since the copy was made. */
  readonly isKnown: boolean;
}

/**
 * Makes a copy of a database fit to go on from: nothing that may have gone out until `now`, the moment of the
 * restore, is sent again, and nothing that was decided since is undecided. The database begins with `epoch` then.
 */
export async function holdRestored(
  tx: Tx,
  { epoch, now, platforms, isKnown }: Restoring,
): Promise<HoldResult> {
  const all = [...platforms];
  const decided = await keepDecided(tx, { now, isKnown });
  const named = (fits: (platform: AnyPlatform) => boolean): string[] =>
    all.filter(fits).map(({ name }) => name);
  const posts = await markRestored(tx, {
    now,
    localProviders: named(({ isLocal }) => isLocal === true),
    promptProviders: named(({ capabilities }) => !canHoldPosts(capabilities)),
    // The replaced database knows which posts were brought forward since.
    tellingProviders: isKnown
      ? []
      : named(({ capabilities }) => TELL_OF_LATER.includes(capabilities.reconciles)),
  });
  await writeEpoch(tx, epoch);
  await setMeta(tx, RESTORED_AT, String(now));
  return { posts, decided };
}
