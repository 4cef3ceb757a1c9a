import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { rawOf } from "../engine/handle.ts";
import {
  Fenced,
  LIVE_STEP,
  type EffectEnd,
  type Ledger,
  type Lease,
  type LiveMark,
  type NewEffect,
  type PostEnd,
} from "../engine/ledger.ts";
import type { Store, Tx } from "../engine/store.ts";
import { forgetSetupProblems, noteSetupProblem } from "./setup-problems.ts";

/**
 * SQLite's ledger: statements prepared once, several times for every post, that share a transaction with
 * whoever else writes.
 */
export function createLedger({ write }: Pick<Store, "write">): Ledger {
  const durably = (work: (raw: SqliteDatabase) => void): Promise<void> =>
    write(async (tx) => work(rawOf(tx)));
  return {
    intent: (lease, effect) => durably((raw) => writeIntent(raw, lease, effect)),
    end: (lease, end) => durably((raw) => endEffect(raw, lease, end)),
    once: (lease, effect, end) =>
      durably((raw) => {
        writeIntent(raw, lease, effect);
        endEffect(raw, lease, end);
      }),
    handle: (lease, { run, step, sealed }) =>
      durably((raw) =>
        guard(raw.prepare(WRITE_HANDLE).run([sealed, ...stepOf(lease, { run, step })]), lease),
      ),
    countAsked: (lease, step) =>
      durably((raw) => guard(raw.prepare(COUNT_ASKED).run(stepOf(lease, step)), lease)),
    live: (lease, mark) => durably((raw) => writeLive(raw, lease, mark)),
    forget: (lease, { run, steps }) =>
      durably((raw) =>
        guard(raw.prepare(FORGET).run([lease.postId, run, JSON.stringify(steps), ...leased(lease)]), lease),
      ),
    endPost: (lease, end) =>
      write(async (tx) => {
        endPost(rawOf(tx), lease, end);
        await noteSetup(tx, lease, end);
      }),
  };
}

/** Holds the row while the lease does; its parameters are `leased(lease)`. */
export const LEASED = "id = ? AND fence = ? AND lease_worker = ?";

export function leased(lease: Lease): readonly unknown[] {
  return [lease.postId, lease.fence, lease.workerId];
}

/** The open step of a post that is held. */
const STEP = `post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`;
const WRITE_HANDLE = `UPDATE effects SET handle_enc = ? WHERE ${STEP}`;
const COUNT_ASKED = `UPDATE effects SET asked = asked + 1 WHERE ${STEP}`;

function stepOf(lease: Lease, { run, step }: { run: number; step: string }): unknown[] {
  return [lease.postId, run, step, ...leased(lease)];
}

const WRITE_INTENT = `
  INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, sent, started_at)
  SELECT id, ?, ?, fence, ?, ?, 'intent', 0, 1, ? FROM posts WHERE ${LEASED}
  ON CONFLICT (post_id, run, step) DO UPDATE SET state = 'intent', fence = excluded.fence, finished_at = NULL, sent = effects.sent + 1,
    request_hash = excluded.request_hash,
    started_at = CASE WHEN effects.state IN ('intent', 'unknown') THEN effects.started_at ELSE excluded.started_at END`;

function writeIntent(raw: SqliteDatabase, lease: Lease, effect: NewEffect): void {
  const { run, step, effect_key: key, request_hash: hash, started_at: startedAt } = effect;
  guard(raw.prepare(WRITE_INTENT).run([run, step, key, hash, startedAt, ...leased(lease)]), lease);
}

const END_EFFECT = `UPDATE effects SET state = ?, sent = sent - (? = 'not_sent'), result = ?, http_status = ?, finished_at = ? WHERE ${STEP}`;

function endEffect(raw: SqliteDatabase, lease: Lease, end: EffectEnd): void {
  const { state, result, httpStatus, at } = end;
  guard(raw.prepare(END_EFFECT).run([state, state, result, httpStatus, at, ...stepOf(lease, end)]), lease);
  if (end.live) writeLive(raw, lease, { ...end.live, run: end.run, at: end.at });
}

const WRITE_LIVE = `
  INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, result, asked, started_at, finished_at)
  SELECT id, ?, '${LIVE_STEP}', fence, '', '', 'done', ?, 0, ?, ? FROM posts WHERE ${LEASED}
  ON CONFLICT (post_id, run, step) DO NOTHING`;

const NOTE_PLACE = `
  UPDATE posts SET platform_post_id = COALESCE(?, platform_post_id), platform_url = COALESCE(?, platform_url) WHERE ${LEASED}`;

function writeLive(raw: SqliteDatabase, lease: Lease, mark: LiveMark): void {
  const { run, at, platformPostId, platformUrl } = mark;
  guard(raw.prepare(NOTE_PLACE).run([platformPostId, platformUrl, ...leased(lease)]), lease);
  const result = JSON.stringify({ platformPostId, platformUrl });
  raw.prepare(WRITE_LIVE).run([run, result, at, at, ...leased(lease)]);
}

const FORGET = `
  DELETE FROM effects WHERE post_id = ? AND run = ? AND step IN (SELECT value FROM json_each(?))
    AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`;

const END_ATTEMPT = `
  UPDATE attempts SET outcome = ?, error = ?, late_cause = COALESCE(late_cause, ?), finished_at = ?
  WHERE outcome = 'running' AND post_id = ? AND number = (SELECT attempts FROM posts WHERE id = ?)`;

const FREE_ACCOUNT = `
  UPDATE accounts SET in_flight_post = CASE in_flight_post WHEN ? THEN NULL ELSE in_flight_post END, freed_at = ?,
    wait_cause = CASE WHEN ? > next_allowed_at THEN ? ELSE wait_cause END,
    next_allowed_at = MAX(next_allowed_at, ?), last_published_at = COALESCE(?, last_published_at)
  WHERE id = ?`;

/** A limit of the app's holds up every owner's accounts. */
const HOLD_UP_PLATFORM = `
  UPDATE accounts SET next_allowed_at = ?, wait_cause = ?
  WHERE provider = (SELECT provider FROM accounts WHERE id = ?) AND next_allowed_at < ?`;

function endPost(raw: SqliteDatabase, lease: Lease, end: PostEnd): void {
  const { attempt, accountWait } = end;
  guard(
    raw
      .prepare(endStatement(end))
      .run([
        end.nextAt,
        end.error,
        end.isInDoubt ? 1 : 0,
        end.tries,
        end.platformPostId,
        end.platformUrl,
        end.publishedAt,
        end.warnings === null || end.warnings.length === 0 ? null : JSON.stringify(end.warnings),
        end.at,
        ...leased(lease),
      ]),
    lease,
  );
  raw
    .prepare(END_ATTEMPT)
    .run([attempt.outcome, attempt.error, attempt.lateCause ?? null, end.at, lease.postId, lease.postId]);
  const until = accountWait?.until ?? 0;
  raw
    .prepare(FREE_ACCOUNT)
    .run([lease.postId, end.at, until, accountWait?.cause ?? null, until, end.publishedAt, lease.accountId]);
  if (accountWait?.scope === "app")
    raw.prepare(HOLD_UP_PLATFORM).run([until, accountWait.cause, lease.accountId, until]);
}

/** What the end of a post tells of its platform. */
export async function noteSetup(tx: Tx, lease: Lease, end: PostEnd): Promise<void> {
  if (end.setupProblem !== undefined) await noteSetupProblem(tx, lease, end.setupProblem, end.at);
  else if (end.publishedAt !== null) await forgetSetupProblems(tx, [lease.accountId]);
}

function endStatement({ trigger }: PostEnd): string {
  const move = trigger === null ? null : TRANSITIONS[trigger];
  const from = move === null ? "" : `AND status IN (${move.from.map((status) => `'${status}'`).join(", ")})`;
  const to = move === null ? "" : `status = '${move.to}',`;
  return `
    UPDATE posts SET ${to} next_at = ?, error = ?, in_doubt = ?, tries = ?,
      platform_post_id = COALESCE(?, platform_post_id), platform_url = COALESCE(?, platform_url),
      published_at = COALESCE(?, published_at), warnings = COALESCE(?, warnings), lease_worker = NULL, crashes = 0, updated_at = ?
    WHERE ${LEASED} ${from}`;
}

function guard(result: { changes: number }, lease: Lease): void {
  if (result.changes === 0) throw new Fenced(lease.postId);
}
