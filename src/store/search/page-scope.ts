import { sql, type RawBuilder } from "kysely";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import type { PostFilter } from "../engine/search.ts";
import { rowsOf } from "../engine/statements.ts";
import type { Reader } from "../engine/store.ts";
import { displacedUntil, firstKeyAt } from "./sort-key.ts";
import type { KeyRange } from "./two-walks.ts";

/* Which posts a page is taken from, on either engine. */

const MAX_KEY = 2n ** 63n - 1n;
/** Lists merged into one order; SQLite takes 500 of them. More values than these are filtered row by row. */
const MAX_STREAMS = 300;

/** Time as keys. */
interface TimeRange extends KeyRange {
  /** The range of keys holds posts of other times. */
  readonly isDisplaced: boolean;
}

/** A filter whose accounts are known to be the owner's. */
export interface Scope extends PostFilter {
  /** The accounts that fit account and platform filters; null when neither is set. */
  readonly accountIds: readonly string[] | null;
  /** The caller asked for accounts, not only for platforms. */
  readonly isByAccount: boolean;
  readonly isDisplaced: boolean;
}

/** Posts whose moment had no key left lie beyond its keys: then rows are looked at for their time. */
export async function readRange(
  reader: Reader,
  { ownerId, from, to }: Omit<PostFilter, "terms">,
  before: bigint | null,
): Promise<TimeRange> {
  const floor = from === null ? 0n : firstKeyAt(from);
  const end = to === null ? MAX_KEY : firstKeyAt(to + 1);
  const until = async (first: number, last: number): Promise<bigint> =>
    (await displacedUntil(reader, ownerId, { from: first, to: last })) ?? -1n;
  const intruder = from === null ? -1n : await until(0, from - 1);
  const outlier = to === null ? -1n : await until(from ?? 0, to);
  const last = outlier >= end ? outlier + 1n : end;
  return {
    floor,
    ceiling: before !== null && before < last ? before : last,
    isDisplaced: last > end || (from !== null && intruder >= floor),
  };
}

export async function readScope(
  reader: Reader,
  filter: PostFilter,
  { isDisplaced }: TimeRange,
): Promise<Scope> {
  const { ownerId, accountIds, providers } = filter;
  const isByAccount = accountIds !== null;
  if (!isByAccount && providers === null) return { ...filter, isByAccount, isDisplaced };
  const lists = [
    ...(accountIds === null ? [] : [["id", accountIds] as const]),
    ...(providers === null ? [] : [["provider", providers] as const]),
  ];
  const rows = await rowsOf<{ id: string }>(
    reader,
    `SELECT id FROM accounts WHERE owner_id = ?${lists.map(([column]) => ` AND ${column} IN (SELECT value FROM json_each(?))`).join("")}`,
    [ownerId, ...lists.map(([, values]) => JSON.stringify(values))],
  );
  return { ...filter, isByAccount, isDisplaced, accountIds: rows.map(({ id }) => id) };
}

/** Posts that an index holds in the order of a page. */
export interface List {
  readonly index: string;
  readonly where: RawBuilder<unknown>;
  /** The list holds posts outside the scope: each is looked at. */
  readonly isLoose: boolean;
}

/** The lists that together hold what fits everything but the text, each post once. */
export function listsOf(scope: Scope): List[] {
  const { ownerId, accountIds, providers, statuses, isByAccount } = scope;
  const own = sql`owner_id = ${ownerId}`;
  if (accountIds === null) {
    return statuses === null
      ? [{ index: "posts_owner", where: own, isLoose: false }]
      : statuses.map((status) => ({
          index: "posts_status",
          where: sql`${own} AND status = ${status}`,
          isLoose: false,
        }));
  }
  if (statuses === null && !isByAccount && providers !== null) {
    return providers.map((provider) => ({
      index: "posts_provider",
      where: sql`${own} AND provider = ${provider}`,
      isLoose: false,
    }));
  }
  const lists =
    statuses === null
      ? accountIds.map(byAccount)
      : accountIds.flatMap((id) => statuses.map((status) => byBoth(id, status)));
  return lists.length <= MAX_STREAMS
    ? lists
    : listsOf({ ...scope, accountIds: null }).map((list) => ({ ...list, isLoose: true }));
}

function byAccount(id: string): List {
  return { index: "posts_account", where: sql`account_id = ${id}`, isLoose: false };
}

function byBoth(id: string, status: PostStatus): List {
  return {
    index: "posts_account_status",
    where: sql`account_id = ${id} AND status = ${status}`,
    isLoose: false,
  };
}
