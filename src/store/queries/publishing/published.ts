import { sql, type RawBuilder } from "kysely";
import { rowOf } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";

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

/** How many posts of the window there are. */
export async function countInWindow(reader: Reader, window: QuotaWindow): Promise<number> {
  const row = await rowOf(
    reader,
    sql<{ count: number }>`SELECT count(*) AS count FROM (${momentsOf(window)}) AS moments`,
  );
  return row?.count ?? 0;
}

/** The moment of the `nth` newest of them, beginning with 1; null where there are fewer. */
export async function nthNewest(reader: Reader, window: QuotaWindow, nth: number): Promise<number | null> {
  const row = await rowOf(
    reader,
    sql<{
      at: number;
    }>`SELECT at FROM (${momentsOf(window)}) AS moments ORDER BY at DESC LIMIT 1 OFFSET ${nth - 1}`,
  );
  return row?.at ?? null;
}

function momentsOf({ of, after, until, planning }: QuotaWindow): RawBuilder<unknown> {
  const whose = "accountId" in of ? sql`a.id = ${of.accountId}` : sql`a.provider = ${of.provider}`;
  const published = sql`
    SELECT p.published_at AS at FROM accounts a JOIN posts p ON p.account_id = a.id
    WHERE ${whose} AND p.published_at > ${after} AND p.published_at <= ${until}`;
  if (planning === null) return published;
  return sql`${published} UNION ALL
    SELECT p.scheduled_at AS at FROM accounts a JOIN posts p ON p.account_id = a.id
    WHERE ${whose} AND p.status IN ('scheduled', 'publishing', 'uploaded')
      AND p.scheduled_at > ${after} AND p.scheduled_at <= ${until} AND p.id <> ${planning.postId ?? ""}`;
}
