import { LIVE_STEP, type EffectEnd, type Lease, type LiveMark, type NewEffect } from "../../engine/ledger.ts";
import { change, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";

/*
 * Any number of posts in one statement. Each takes its rows as one JSON value, so that the texts stay few, and
 * is for posts that `hold` has locked: nobody else writes their rows meanwhile.
 */

/** A write that waits for its transaction, and what the transaction before it counted, should that stand. */
export interface Call<Content> {
  readonly lease: Lease;
  readonly content: Content;
  readonly counted: { sent?: number; ended?: number; asked?: number };
}

type Calls<Content> = readonly Call<Content>[];

/**
 * Locks the posts whose lease holds still, in the order of their ids, and answers which they are. Without the
 * lock a take-over could come between this look and the end of the transaction. `coalesce` keeps the planner
 * off the index of leases.
 */
const HOLD = `
  SELECT p.id FROM json_to_recordset($1::json) AS u (id text, fence integer, worker text)
  JOIN posts p ON p.id = u.id AND p.fence = u.fence AND coalesce(p.lease_worker, '') = u.worker
  ORDER BY p.id FOR NO KEY UPDATE OF p`;

export async function hold<Content>(tx: Tx, calls: Calls<Content>): Promise<Call<Content>[]> {
  const rows = calls.map(({ lease }) => ({ id: lease.postId, fence: lease.fence, worker: lease.workerId }));
  const held = await rowsOf<{ id: string }>(tx, HOLD, [JSON.stringify(rows)]);
  const ids = new Set(held.map(({ id }) => id));
  return calls.filter(({ lease }) => ids.has(lease.postId));
}

/** Runs a statement with a row for each call; answers the calls whose row it gave back. */
export async function writeRows<Content, Row extends { post_id: string }>(
  tx: Tx,
  { text, calls }: { readonly text: string; readonly calls: Calls<Content> },
  rowOf: (call: Call<Content>) => object,
): Promise<{ call: Call<Content>; row: Row }[]> {
  if (calls.length === 0) return [];
  const values = calls.map((call) => ({ post: call.lease.postId, ...rowOf(call) }));
  const rows = await rowsOf<Row>(tx, text, [JSON.stringify(values)]);
  const given = new Map(rows.map((row) => [row.post_id, row]));
  return calls.flatMap((call) => {
    const row = given.get(call.lease.postId);
    return row === undefined ? [] : [{ call, row }];
  });
}

/** An open step keeps its start. `sent`: as the run before counted it, if there was one. */
const INTEND = `
  INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, sent, started_at)
  SELECT u.post, u.run, u.step, u.fence, u.effect_key, u.request_hash, 'intent', 0, coalesce(u.sent, e.sent + 1, 1), u.started_at
  FROM json_to_recordset($1::json) AS u
    (post text, run integer, step text, fence integer, effect_key text, request_hash text, sent integer, started_at bigint)
  LEFT JOIN effects e ON e.post_id = u.post AND e.run = u.run AND e.step = u.step
  ON CONFLICT (post_id, run, step) DO UPDATE SET state = 'intent', fence = excluded.fence, finished_at = NULL,
    sent = excluded.sent, request_hash = excluded.request_hash,
    started_at = CASE WHEN effects.state IN ('intent', 'unknown') THEN effects.started_at ELSE excluded.started_at END
  RETURNING post_id, sent`;

export async function intend<Content>(
  tx: Tx,
  calls: Calls<Content>,
  effectOf: (content: Content) => NewEffect,
): Promise<void> {
  const written = await writeRows<Content, { post_id: string; sent: number }>(
    tx,
    { text: INTEND, calls },
    ({ lease, content, counted }) => ({ fence: lease.fence, ...effectOf(content), sent: counted.sent }),
  );
  for (const { call, row } of written) call.counted.sent = row.sent;
}

const END = `
  UPDATE effects e SET state = u.state, result = u.result, http_status = u.http_status, finished_at = u.at,
    sent = coalesce(u.sent, e.sent - CASE u.state WHEN 'not_sent' THEN 1 ELSE 0 END)
  FROM json_to_recordset($1::json) AS u
    (post text, run integer, step text, state text, result text, http_status integer, at bigint, sent integer)
  WHERE e.post_id = u.post AND e.run = u.run AND e.step = u.step RETURNING e.post_id, e.sent`;

/** Answers the calls whose step there is. */
export async function endSteps<Content>(
  tx: Tx,
  calls: Calls<Content>,
  endOf: (content: Content) => EffectEnd,
): Promise<Call<Content>[]> {
  const written = await writeRows<Content, { post_id: string; sent: number }>(
    tx,
    { text: END, calls },
    ({ content, counted }) => {
      const { run, step, state, result, httpStatus, at } = endOf(content);
      return { run, step, state, result, http_status: httpStatus, at, sent: counted.ended };
    },
  );
  const marks = written.flatMap(({ call, row }) => {
    call.counted.ended = row.sent;
    const { live, run, at } = endOf(call.content);
    return live ? [{ ...call, content: { ...live, run, at } }] : [];
  });
  await markLive(tx, marks);
  return written.map(({ call }) => call);
}

const NOTE_PLACE = `
  UPDATE posts p SET platform_post_id = coalesce(u.platform_post_id, p.platform_post_id),
    platform_url = coalesce(u.platform_url, p.platform_url)
  FROM json_to_recordset($1::json) AS u (post text, platform_post_id text, platform_url text) WHERE p.id = u.post`;

const MARK_LIVE = `
  INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, result, asked, started_at, finished_at)
  SELECT u.post, u.run, '${LIVE_STEP}', u.fence, '', '', 'done', u.result, 0, u.at, u.at
  FROM json_to_recordset($1::json) AS u (post text, run integer, fence integer, result text, at bigint)
  ON CONFLICT (post_id, run, step) DO NOTHING`;

export async function markLive(tx: Tx, calls: Calls<LiveMark>): Promise<void> {
  if (calls.length === 0) return;
  const rows = calls.map(({ lease, content: { run, at, platformPostId, platformUrl } }) => ({
    post: lease.postId,
    platform_post_id: platformPostId,
    platform_url: platformUrl,
    run,
    fence: lease.fence,
    result: JSON.stringify({ platformPostId, platformUrl }),
    at,
  }));
  const values = [JSON.stringify(rows)];
  await change(tx, NOTE_PLACE, values);
  await change(tx, MARK_LIVE, values);
}
