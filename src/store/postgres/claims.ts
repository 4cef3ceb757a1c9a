import type { Claimed, ClaimedPost, Claims, ClaimWish } from "../engine/claims.ts";
import { Fenced, type Lease } from "../engine/ledger.ts";
import { rowsOf } from "../engine/statements.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { readingAgain } from "../engine/unanswered.ts";
import { isHeld } from "../queries/publishing/ledger.ts";
import { noteTime } from "../queries/publishing/clock-mark.ts";
import { hasQuarantined, readCandidates, readNextAfter, takePosts } from "../queries/publishing/claiming.ts";
import { abandon, failMissed, freeWorker, QUARANTINE_FROM, takeOver } from "../queries/publishing/release.ts";
import { noteUnusable } from "../queries/publishing/unusable-posts.ts";

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

/** So many times what is wanted is looked for at first: workers that look together find something each. */
const FIRST_SPAN = 3;
/** And so many times more, where others had all of it. */
const WIDER = 4;

/**
 * Takes up what is wished for, in a transaction of READ COMMITTED. The account's row is the lock of "one in
 * flight"; a claim waits for nobody, and whatever it is told of a post it reads after it has locked it.
 */
async function claimDue(tx: Tx, wish: ClaimWish): Promise<Claimed> {
  const listed = await rowsOf(tx, LISTED, [wish.workerId]);
  if (listed.length === 0) throw new Fenced("all posts of this worker");
  const now = wish.now();
  const found = await readCandidates(tx, await lockDue(tx, wish, now));
  return { posts: await takePosts(tx, found, wish, now), isFull: found.length === wish.limit };
}

/**
 * Nobody takes over from the worker until this transaction has ended: what a take-over does not see yet would
 * be held by nobody afterwards, and wait for ever.
 */
const LISTED = "SELECT 1 FROM workers WHERE id = $1 FOR KEY SHARE";

/** The ids of the posts that are this transaction's, first due first. */
async function lockDue(tx: Tx, { limit, isQuarantined }: ClaimWish, now: number): Promise<string[]> {
  for (let span = FIRST_SPAN * limit; ; span *= WIDER) {
    const heads = await rowsOf<{ id: string }>(tx, FIRST_OF_EACH, [now, span, isQuarantined]);
    if (heads.length === 0) return [];
    const locked = await rowsOf<{ id: string }>(tx, LOCK, [now, heads.map(({ id }) => id), limit]);
    if (locked.length === limit || heads.length < span) return locked.map(({ id }) => id);
  }
}

/*
 * Which posts are due, on PostgreSQL. Statistics of a queue are always stale: the planner takes the partial
 * indexes of waiting posts for nearly empty, and would walk them once for each row. What must not be looked up
 * by them is written so that they do not fit: `next_at + 0`, and no `lease_worker IS NULL` beside an id.
 */

/** The account `a` may get a post; $1 is the moment. */
const FREE = "a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= $1";

/** The first due post `h` of the account that the column names; only posts_claim fits. $1 is the moment. */
function firstOf(account: string): string {
  return `FROM posts h
    WHERE h.account_id = ${account} AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
      AND h.due_at <= $1 AND h.next_at + 0 <= $1
    ORDER BY h.due_at, h.id LIMIT 1`;
}

/** Posts in quarantine, or the others: $3. */
const WANTED = `(p.crashes >= ${QUARANTINE_FROM}) = $3::boolean`;

/**
 * The first due post of each account that can get one, first due first; locks nothing. One look at an index for each
 * account: the work does not grow with their backlogs. $2: limit.
 */
const FIRST_OF_EACH = `
  SELECT p.id FROM accounts a
  JOIN LATERAL (SELECT id, crashes, next_at, due_at ${firstOf("a.id")}) p ON true
  WHERE ${FREE} AND ${WANTED}
  ORDER BY p.next_at, p.due_at, p.id LIMIT $2`;

/**
 * Not FOR UPDATE, which would also stand against new posts of the account: their foreign key locks its row.
 * The conditions stand once more, as PostgreSQL asks them again of a row that was changed meanwhile.
 */
const LOCK = `
  SELECT p.id FROM unnest($2::text[]) WITH ORDINALITY u (id, place)
  JOIN posts p ON p.id = u.id JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at + 0 <= $1 AND coalesce(p.lease_worker, '') = '' AND ${FREE}
    AND p.id = (SELECT h.id ${firstOf("p.account_id")})
  ORDER BY u.place LIMIT $3 FOR NO KEY UPDATE OF a, p SKIP LOCKED`;
