import type { Attempt } from "../../domain/posts/post.ts";
import { TRANSITIONS, type Trigger } from "../../domain/posts/post-states.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import type { Tables } from "../engine/schema.ts";

/**
 * The publisher's statements, raw and prepared once: they run several times for every post, and each is guarded by the lease,
 * so that a publisher that lost it writes nothing. Called inside a group commit (`group-commit.ts`).
 */

/** The right of one worker to work on one post; `fence` rises with every claim. */
export interface Lease {
  readonly postId: string;
  readonly accountId: string;
  readonly workerId: string;
  readonly fence: number;
}

export type EffectRow = Tables["effects"];

/** The lease is gone: stop at once and write nothing. */
export class Fenced extends Error {
  constructor(postId: string) {
    super(`The lease on ${postId} was lost.`);
    this.name = "Fenced";
  }
}

/** Holds the row while the lease does; its parameters are `leased(lease)`. */
export const LEASED = "id = ? AND fence = ? AND lease_worker = ?";

export function readEffects(raw: SqliteDatabase, postId: string, run: number): EffectRow[] {
  return raw.prepare("SELECT * FROM effects WHERE post_id = ? AND run = ?").all([postId, run]) as EffectRow[];
}

/** Writes the intent before anything is sent. An open one of the same step keeps its start and handle. */
export function writeIntent(
  raw: SqliteDatabase,
  lease: Lease,
  effect: Pick<EffectRow, "run" | "step" | "effect_key" | "request_hash" | "started_at">,
): void {
  guard(
    raw
      .prepare(
        `INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, started_at)
         SELECT id, ?, ?, fence, ?, ?, 'intent', 0, ? FROM posts WHERE ${LEASED}
         ON CONFLICT (post_id, run, step) DO UPDATE SET state = 'intent', fence = excluded.fence, finished_at = NULL,
           request_hash = excluded.request_hash,
           started_at = CASE WHEN effects.state IN ('intent', 'unknown') THEN effects.started_at ELSE excluded.started_at END`,
      )
      .run([
        effect.run,
        effect.step,
        effect.effect_key,
        effect.request_hash,
        effect.started_at,
        ...leased(lease),
      ]),
    lease,
  );
}

export interface EffectEnd {
  readonly run: number;
  readonly step: string;
  readonly state: EffectRow["state"];
  readonly result: string | null;
  readonly httpStatus: number | null;
  readonly at: number;
}

export function endEffect(raw: SqliteDatabase, lease: Lease, end: EffectEnd): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET state = ?, result = ?, http_status = ?, finished_at = ?
         WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([
        end.state,
        end.result,
        end.httpStatus,
        end.at,
        lease.postId,
        end.run,
        end.step,
        ...leased(lease),
      ]),
    lease,
  );
}

/** Stores a value of the platform (session address, container id) or of ours beside an open step. */
export function writeHandle(
  raw: SqliteDatabase,
  lease: Lease,
  effect: { run: number; step: string; sealed: string },
): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET handle_enc = ? WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([effect.sealed, lease.postId, effect.run, effect.step, ...leased(lease)]),
    lease,
  );
}

export function countAsked(raw: SqliteDatabase, lease: Lease, effect: { run: number; step: string }): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET asked = asked + 1 WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([lease.postId, effect.run, effect.step, ...leased(lease)]),
    lease,
  );
}

export interface PostEnd {
  /** Null keeps the state: the post waits in it. */
  readonly trigger: Extract<Trigger, "release" | "uploaded" | "published" | "fail"> | null;
  readonly nextAt: number | null;
  readonly error: string | null;
  readonly isInDoubt: boolean;
  readonly tries: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
  readonly publishedAt: number | null;
  readonly attempt: { readonly outcome: Attempt["outcome"]; readonly error: string | null };
  /** Nothing more is claimed for the account before; null leaves it. */
  readonly accountNextAllowedAt: number | null;
  readonly at: number;
}

/** Ends the work on a post: its new state, its attempt and its account's freedom in one write, and the lease is given back. */
export function endPost(raw: SqliteDatabase, lease: Lease, end: PostEnd): void {
  const move = end.trigger === null ? null : TRANSITIONS[end.trigger];
  const from = move === null ? "" : `AND status IN (${move.from.map((status) => `'${status}'`).join(", ")})`;
  const to = move === null ? "" : `status = '${move.to}',`;
  guard(
    raw
      .prepare(
        `UPDATE posts SET ${to} next_at = ?, error = ?, in_doubt = ?, tries = ?, platform_post_id = COALESCE(?, platform_post_id),
           platform_url = COALESCE(?, platform_url), published_at = COALESCE(?, published_at), lease_worker = NULL, updated_at = ?
         WHERE ${LEASED} ${from}`,
      )
      .run([
        end.nextAt,
        end.error,
        end.isInDoubt ? 1 : 0,
        end.tries,
        end.platformPostId,
        end.platformUrl,
        end.publishedAt,
        end.at,
        ...leased(lease),
      ]),
    lease,
  );
  raw
    .prepare(
      `UPDATE attempts SET outcome = ?, error = ?, finished_at = ?
       WHERE post_id = ? AND number = (SELECT attempts FROM posts WHERE id = ?)`,
    )
    .run([end.attempt.outcome, end.attempt.error, end.at, lease.postId, lease.postId]);
  raw
    .prepare(
      `UPDATE accounts SET in_flight_post = CASE in_flight_post WHEN ? THEN NULL ELSE in_flight_post END,
         next_allowed_at = MAX(next_allowed_at, COALESCE(?, 0)), last_published_at = COALESCE(?, last_published_at) WHERE id = ?`,
    )
    .run([lease.postId, end.accountNextAllowedAt, end.publishedAt, lease.accountId]);
}

export function leased(lease: Lease): readonly unknown[] {
  return [lease.postId, lease.fence, lease.workerId];
}

function guard(result: { changes: number | bigint }, lease: Lease): void {
  if (Number(result.changes) === 0) throw new Fenced(lease.postId);
}
