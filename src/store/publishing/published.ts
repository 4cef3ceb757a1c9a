import { rowsOf } from "../engine/statements.ts";
import type { Reader } from "../engine/store.ts";

/** Of which posts a quota speaks. */
export interface QuotaWindow {
  /** One account, or all of a platform. */
  readonly of: { readonly accountId: string } | { readonly provider: string };
  /** Both in milliseconds since 1970; of posts after the first, up to and with the second. */
  readonly after: number;
  readonly until: number;
  /** The post that counts are wanted for; posts that wait count, too, when they are due in that time. */
  readonly planning: { readonly postId: string | null } | null;
}

const PUBLISHED = `
  SELECT p.published_at AS at FROM accounts a CROSS JOIN posts p INDEXED BY posts_published ON p.account_id = a.id
  WHERE a.WHOSE = ? AND p.published_at > ? AND p.published_at <= ?`;

/** The status is asked of each index entry, so that one walk over the time finds them in all three. */
const PLANNED = `
  SELECT p.scheduled_at AS at FROM accounts a CROSS JOIN posts p INDEXED BY posts_account_status ON p.account_id = a.id
  WHERE a.WHOSE = ? AND p.status IN ('scheduled', 'publishing', 'uploaded') AND p.scheduled_at > ? AND p.scheduled_at <= ?
    AND p.id <> ?`;

/** How many posts of the window there are. */
export async function countInWindow(reader: Reader, window: QuotaWindow): Promise<number> {
  const { sql, values } = momentsOf(window);
  const [row] = await rowsOf<{ count: number }>(
    reader,
    `SELECT count(*) AS count FROM (${sql}) AS moments`,
    values,
  );
  return row?.count ?? 0;
}

/** The moment of the `nth` newest of them, beginning with 1; null where there are fewer. */
export async function nthNewest(reader: Reader, window: QuotaWindow, nth: number): Promise<number | null> {
  const { sql, values } = momentsOf(window);
  const statement = `SELECT at FROM (${sql}) AS moments ORDER BY at DESC LIMIT 1 OFFSET ?`;
  const [row] = await rowsOf<{ at: number }>(reader, statement, [...values, nth - 1]);
  return row?.at ?? null;
}

function momentsOf({ of, after, until, planning }: QuotaWindow): { sql: string; values: unknown[] } {
  const [column, whose] = "accountId" in of ? ["id", of.accountId] : ["provider", of.provider];
  const parts = planning === null ? [PUBLISHED] : [PUBLISHED, PLANNED];
  const sql = parts.join(" UNION ALL ").replaceAll("WHOSE", column);
  const planned = planning === null ? [] : [whose, after, until, planning.postId ?? ""];
  return { sql, values: [whose, after, until, ...planned] };
}
