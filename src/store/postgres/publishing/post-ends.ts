import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import type { PostEnd } from "../../engine/ledger.ts";
import { change, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";
import { forgetSetupProblems, noteSetupProblem } from "../../publishing/setup-problems.ts";
import { writeRows, type Call } from "./effect-writes.ts";

type Ends = readonly Call<PostEnd>[];

/** Locks in the order that everybody keeps: the posts are held; attempts, accounts by their ids, `meta`. */
export async function endPosts(tx: Tx, held: Ends): Promise<readonly Call<PostEnd>[]> {
  const ended = (await writeRows(tx, { text: END_POSTS, calls: held }, rowOfEnd)).map(({ call }) => call);
  if (ended.length === 0) return [];
  const rows = JSON.stringify(ended.map((call) => ({ post: call.lease.postId, ...rowOfEnd(call) })));
  await change(tx, END_ATTEMPTS, [rows]);
  const heldUp = ended.filter(({ content }) => content.accountWait?.scope === "app");
  await rowsOf(tx, LOCK_ACCOUNTS, [accountsOf(ended), accountsOf(heldUp)]);
  await change(tx, FREE_ACCOUNTS, [rows]);
  for (const { lease, content } of heldUp) {
    const { until, cause } = content.accountWait ?? {};
    await change(tx, HOLD_UP_PLATFORM, [until, cause, lease.accountId]);
  }
  await noteSetup(tx, ended);
  return ended;
}

/** What the statements below take from the JSON of one post's end. */
function rowOfEnd({ lease, content: end }: Call<PostEnd>): object {
  const { attempt, accountWait, warnings, trigger } = end;
  const move = trigger === null ? null : TRANSITIONS[trigger];
  return {
    account: lease.accountId,
    allowed: move?.from ?? null,
    status: move?.to ?? null,
    next_at: end.nextAt,
    error: end.error,
    in_doubt: end.isInDoubt ? 1 : 0,
    tries: end.tries,
    platform_post_id: end.platformPostId,
    platform_url: end.platformUrl,
    published_at: end.publishedAt,
    warnings: warnings === null || warnings.length === 0 ? null : JSON.stringify(warnings),
    outcome: attempt.outcome,
    attempt_error: attempt.error,
    late_cause: attempt.lateCause ?? null,
    until: accountWait?.until ?? 0,
    cause: accountWait?.cause ?? null,
    at: end.at,
  };
}

function accountsOf(ends: Ends): string[] {
  return ends.map(({ lease }) => lease.accountId);
}

const END_POSTS = `
  UPDATE posts p SET status = coalesce(u.status, p.status), next_at = u.next_at, error = u.error, in_doubt = u.in_doubt,
    tries = u.tries, platform_post_id = coalesce(u.platform_post_id, p.platform_post_id),
    platform_url = coalesce(u.platform_url, p.platform_url), published_at = coalesce(u.published_at, p.published_at),
    warnings = coalesce(u.warnings, p.warnings), lease_worker = NULL, crashes = 0,
    updated_at = u.at
  FROM json_to_recordset($1::json) AS u (post text, allowed text[], status text, next_at bigint, error text, in_doubt smallint,
    tries integer, platform_post_id text, platform_url text, published_at bigint, warnings text, at bigint)
  WHERE p.id = u.post AND (u.allowed IS NULL OR p.status = ANY (u.allowed)) RETURNING p.id AS post_id`;

/**
 * Those that run, said so that the planner does not take them for few: for two rows it would go through the
 * whole JSON once for each of hundreds.
 */
const END_ATTEMPTS = `
  UPDATE attempts t SET outcome = u.outcome, error = u.attempt_error, late_cause = coalesce(t.late_cause, u.late_cause),
    finished_at = u.at
  FROM json_to_recordset($1::json) AS u (post text, outcome text, attempt_error text, late_cause text, at bigint)
  JOIN posts p ON p.id = u.post
  WHERE t.post_id = p.id AND t.number = p.attempts AND coalesce(t.finished_at, -1) < 0`;

/** $1: their own; $2: those whose whole platform is held up. */
const LOCK_ACCOUNTS = `
  SELECT 1 FROM accounts WHERE id IN (
    SELECT unnest($1::text[]) UNION
    SELECT o.id FROM accounts o WHERE o.provider IN (SELECT h.provider FROM accounts h WHERE h.id = ANY ($2::text[])))
  ORDER BY id FOR NO KEY UPDATE`;

const FREE_ACCOUNTS = `
  UPDATE accounts a SET in_flight_post = CASE a.in_flight_post WHEN u.post THEN NULL ELSE a.in_flight_post END, freed_at = u.at,
    wait_cause = CASE WHEN u.until > a.next_allowed_at THEN u.cause ELSE a.wait_cause END,
    next_allowed_at = greatest(a.next_allowed_at, u.until), last_published_at = coalesce(u.published_at, a.last_published_at)
  FROM json_to_recordset($1::json) AS u (post text, account text, until bigint, cause text, published_at bigint, at bigint)
  WHERE a.id = u.account`;

/** A limit of the app's holds up every owner's accounts. */
const HOLD_UP_PLATFORM = `
  UPDATE accounts SET next_allowed_at = $1, wait_cause = $2
  WHERE provider = (SELECT provider FROM accounts WHERE id = $3) AND next_allowed_at < $1`;

async function noteSetup(tx: Tx, ended: Ends): Promise<void> {
  const gone = ended.filter(
    ({ content }) => content.setupProblem === undefined && content.publishedAt !== null,
  );
  if (gone.length > 0) await forgetSetupProblems(tx, accountsOf(gone));
  for (const { lease, content } of ended)
    if (content.setupProblem !== undefined)
      await noteSetupProblem(tx, lease, content.setupProblem, content.at);
}

/** Only the end of this very lease leaves the fence as it is, and the post in nobody's hands. */
const STANDS = `
  SELECT p.id AS post_id FROM json_to_recordset($1::json) AS u (post text, fence integer, at bigint)
  JOIN posts p ON p.id = u.post AND p.fence = u.fence AND p.updated_at = u.at AND coalesce(p.lease_worker, '') = ''`;

/** Those of them that are written already: by a COMMIT whose answer was lost. */
export async function standing(tx: Tx, calls: Ends): Promise<Call<PostEnd>[]> {
  const found = await writeRows(tx, { text: STANDS, calls }, ({ lease, content }) => ({
    fence: lease.fence,
    at: content.at,
  }));
  return found.map(({ call }) => call);
}
