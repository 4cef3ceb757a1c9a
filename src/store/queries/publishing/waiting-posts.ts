import { type RawBuilder, type Selectable, sql, type SqlBool } from "kysely";
import type { PostStatus } from "../../../domain/posts/post-states.ts";
import { type PostRow, SHOWN_COLUMNS, type ShownRow, type Tables } from "../../schema/tables.ts";
import { anyOf, queryOf, rowOf, rowsOf } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";
import { ownAccounts, type StatusScope } from "../status.ts";

type AccountColumns = Pick<
  Selectable<Tables["accounts"]>,
  "name" | "handle" | "status_reason" | "paused" | "in_flight_post" | "next_allowed_at" | "wait_cause"
>;

/** A post that no publisher works on, with what may keep its channel from sending it. */
export type WaitingPost = Pick<PostRow, "id" | "status" | "provider" | "in_doubt" | "next_at"> &
  AccountColumns & {
    readonly account_status: Tables["accounts"]["status"];
    /** Of its last attempt. */
    readonly last_error: string | null;
  };

/** Those of these posts that no publisher works on. */
export function listWaits(reader: Reader, ids: readonly string[]): Promise<WaitingPost[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .innerJoin("accounts", "accounts.id", "posts.account_id")
    .leftJoin("attempts", (join) =>
      join.onRef("attempts.post_id", "=", "posts.id").onRef("attempts.number", "=", "posts.attempts"),
    )
    .select(["posts.id", "posts.status", "posts.provider", "posts.in_doubt", "posts.next_at"])
    .select(["accounts.name", "accounts.handle", "accounts.status_reason", "accounts.paused"])
    .select(["accounts.in_flight_post", "accounts.next_allowed_at", "accounts.wait_cause"])
    .select(["accounts.status as account_status", "attempts.error as last_error"])
    .where("posts.id", "in", ids)
    .where("posts.lease_worker", "is", null)
    .execute();
}

/** Late posts: their time has passed, and they are neither live nor so late that they fail. */
interface LateScope extends StatusScope {
  readonly now: number;
  /** What was due before is too late. */
  readonly since: number;
}

/** Null: no such filter. */
export interface LateFilter extends LateScope {
  readonly statuses: readonly PostStatus[];
  readonly labels?: readonly string[] | null;
  /** When they go out, milliseconds, both included. */
  readonly from: number | null;
  readonly to: number | null;
}

/** Earliest first, at most `limit`. */
export async function listLate(reader: Reader, filter: LateFilter, limit: number): Promise<ShownRow[]> {
  const { ownerId, labels = null, from, to, now } = filter;
  const columns = sql.raw<unknown>(SHOWN_COLUMNS.map((column) => `p.${column}`).join(", "));
  const conditions = [
    ...lateOf(filter, filter.statuses),
    ...(from === null ? [] : [sql`${goesOutAt(now)} >= ${from}`]),
    ...(to === null ? [] : [sql`${goesOutAt(now)} <= ${to}`]),
    ...(labels === null
      ? []
      : [
          sql`p.id IN (SELECT post_id FROM post_labels WHERE owner_id = ${ownerId} AND label IN ${anyOf(labels)})`,
        ]),
  ];
  return rowsOf(
    reader,
    sql<ShownRow>`
      SELECT ${columns} FROM posts p JOIN accounts a ON a.id = p.account_id
      WHERE ${sql.join(conditions, sql` AND `)} ORDER BY p.scheduled_at, p.id LIMIT ${limit}`,
  );
}

/** When the first late post goes out, or is tried again, whose channel can send it. Null: there is none. */
export async function readNextLate(reader: Reader, scope: LateScope): Promise<number | null> {
  const next = sql<{ next: number | null }>`
    SELECT min(${goesOutAt(scope.now)}) AS next FROM posts p JOIN accounts a ON a.id = p.account_id
    WHERE ${sql.join(lateOf(scope, ["scheduled", "publishing"]), sql` AND `)}
      AND p.lease_worker IS NULL AND a.paused = 0 AND a.status IN ('connected', 'expiring')`;
  return (await rowOf(reader, next))?.next ?? null;
}

function lateOf(scope: LateScope, statuses: readonly PostStatus[]): RawBuilder<unknown>[] {
  return [
    sql`p.account_id IN ${ownAccounts(scope)}`,
    sql`p.status IN ${anyOf(statuses)}`,
    sql`p.scheduled_at >= ${scope.since} AND p.scheduled_at < ${scope.now}`,
  ];
}

/**
 * Of a late post: when it or its channel is tried next, else now. What a person holds back goes out as soon as they
 * let it.
 */
function goesOutAt(now: number): RawBuilder<number> {
  const moment = sql`CAST(${now} AS BIGINT)`;
  return sql<number>`CASE
    WHEN a.paused = 1 OR a.status IN ('disconnected', 'reconnect_required') OR p.lease_worker IS NOT NULL THEN ${moment}
    WHEN p.next_at > ${now} AND p.next_at >= a.next_allowed_at THEN p.next_at
    WHEN a.next_allowed_at > ${now} THEN a.next_allowed_at
    ELSE ${moment} END`;
}

/** An account's posts that no publisher works on and that are due by then, earliest first. Default: all of them. */
export function listWaitingUntil(
  reader: Reader,
  accountId: string,
  { until, limit }: { readonly until: number; readonly limit?: number },
): Promise<PostRow[]> {
  const query = queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("status", "=", sql.lit("scheduled"))
    .where("scheduled_at", "<=", until)
    .where("lease_worker", "is", null)
    .orderBy("scheduled_at")
    .orderBy("id");
  return (limit === undefined ? query : query.limit(limit)).execute();
}

/**
 * What a worker that died sent may still be on its way: such a post has a moment of its own, before which it is not
 * tried again.
 */
export const HAS_OPEN_STEP = sql<SqlBool>`EXISTS (SELECT 1 FROM effects
  WHERE effects.post_id = posts.id AND effects.run = posts.run AND effects.state = 'intent')`;

/** A post that was begun and is not done. */
export type PostUnderWay = PostRow & { readonly has_open_step: number };

/** An account's posts that were begun and are not done, earliest first: some may be out already. */
export function listUnderWay(reader: Reader, accountId: string): Promise<PostUnderWay[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .select(sql<number>`CASE WHEN ${HAS_OPEN_STEP} THEN 1 ELSE 0 END`.as("has_open_step"))
    .where("account_id", "=", accountId)
    .where("status", "=", sql.lit("publishing"))
    .orderBy("scheduled_at")
    .orderBy("id")
    .execute();
}
