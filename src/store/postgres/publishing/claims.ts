import type { Claimed, ClaimedPost, Claims, ClaimWish } from "../../engine/claims.ts";
import type { Lease } from "../../engine/ledger.ts";
import { rowsOf } from "../../engine/statements.ts";
import type { Reader, Store, Tx } from "../../engine/store.ts";
import { readingAgain } from "../../engine/unanswered.ts";
import { isHeld } from "../../publishing/ledger.ts";
import { noteTime } from "../../publishing/clock-mark.ts";
import { hasQuarantined, readNextAfter } from "../../publishing/due-posts.ts";
import { abandon, failMissed, freeWorker, takeOver } from "../../publishing/release.ts";
import { noteUnusable } from "../../publishing/unusable-posts.ts";
import { claimDue } from "./claim-due.ts";

/**
 * PostgreSQL's way to claim: any number of workers at once, each taking what no other one is taking. The
 * store is the publisher's, whose planner is kept from what misleads it. `isDead`: what a take-over asks first,
 * in its own transaction.
 */
export function createClaims(
  store: Reader & Pick<Store, "write">,
  isDead: (tx: Tx, workerId: string) => Promise<boolean>,
): Claims {
  const { write } = store;
  return {
    nextAfter: (moment) => readNextAfter(store, moment),
    hasQuarantined: (now) => hasQuarantined(store, now),
    claim: (wish) => claim(write, wish),
    failMissed: (cutoff) => write((tx) => failMissed(tx, cutoff)),
    noteUnusable: (note) => write((tx) => noteUnusable(tx, note)),
    freeWorker: (workerId, now) =>
      write(async (tx) => {
        await lockHeld(tx, workerId);
        return freeWorker(tx, workerId, now);
      }),
    takeOver: (workerId, now) =>
      write(async (tx) => {
        if (!(await isDead(tx, workerId))) return null;
        await lockHeld(tx, workerId);
        return takeOver(tx, workerId, now);
      }),
    abandon: (leases, now) =>
      write(async (tx) => {
        await rowsOf(tx, LOCK_ACCOUNTS, [await lockPosts(tx, leases)]);
        for (const lease of leases) await abandon(tx, lease, now);
      }),
    noteTime: (now, toleranceMs) =>
      write(async (tx) => {
        // Of several processes one brings forward what was put off; the others find the time noted.
        await rowsOf(tx, LOCK_TIME, []);
        return noteTime(tx, now, toleranceMs);
      }),
  };
}

/** Where its COMMIT got no answer, the posts tell which of them it holds: they would wait for this worker for ever. */
async function claim(write: Store["write"], wish: ClaimWish): Promise<Claimed> {
  let claimed: Claimed = { posts: [], isFull: false };
  const stillHeld = (): Promise<ClaimedPost[]> =>
    write(async (tx) => {
      const held: ClaimedPost[] = [];
      for (const post of claimed.posts) if (await isHeld(tx, post.lease)) held.push(post);
      return held;
    });
  return readingAgain(
    () => write(async (tx) => (claimed = await claimDue(tx, wish))),
    async () => ({ ...claimed, posts: await stillHeld() }),
  );
}

/*
 * The rows of several posts are locked in one order by everybody: posts, attempts, accounts, each by their
 * ids. Who holds a post's row needs no lock on its attempts.
 */

const LOCK_HELD = "SELECT account_id FROM posts WHERE lease_worker = $1 ORDER BY id FOR NO KEY UPDATE";
const LOCK_POSTS = "SELECT account_id FROM posts WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE";
const LOCK_ACCOUNTS = "SELECT 1 FROM accounts WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE";
const LOCK_TIME = "SELECT 1 FROM meta WHERE key = 'clock' FOR UPDATE";

async function lockHeld(tx: Tx, workerId: string): Promise<void> {
  const held = await rowsOf<{ account_id: string }>(tx, LOCK_HELD, [workerId]);
  await rowsOf(tx, LOCK_ACCOUNTS, [held.map((row) => row.account_id)]);
}

async function lockPosts(tx: Tx, leases: readonly Lease[]): Promise<string[]> {
  const rows = await rowsOf<{ account_id: string }>(tx, LOCK_POSTS, [leases.map(({ postId }) => postId)]);
  return rows.map((row) => row.account_id);
}
