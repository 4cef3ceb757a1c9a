import { isFields, type Fields } from "../domain/explain-invalid.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";

type Result = Record<string, unknown>;

/** What others wrote as JSON, where null has a meaning of its own. */
const FOREIGN: readonly string[] = ["metadata", "metadataSchema", "secretsSchema"];

/** What still tells one account from another where it stands whole beside the list. */
const OF_TOLD = ["id", "provider", "name", "handle", "status"] as const;

/** For a model: rows leave out what is null, and posts say their channel's name beside its id. */
export async function withShortRows(
  call: Pick<CallContext, "ctx" | "caller">,
  result: Result,
): Promise<Result> {
  const ids = "names" in result ? [] : [...new Set(Object.values(result).flatMap(accountIdsIn))];
  const names = ids.length === 0 ? new Map<string, string>() : await namesOfAccounts(call, ids);
  const { account } = result;
  const shorten = (row: unknown): unknown =>
    isFields(row) && isFields(account) && row["id"] === account["id"] ? told(row) : shortened(row, names);
  const short = Object.entries(result).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map(shorten) : value,
  ]);
  return Object.fromEntries(short) as Result;
}

/** Of the posts and the drafts' targets in a list, also where a post stands in a row of another kind. */
function accountIdsIn(list: unknown): string[] {
  const rows: readonly unknown[] = Array.isArray(list) ? list : [];
  return rows
    .flatMap((row) => (isFields(row) ? [row, row["post"], ...targetsOf(row)] : []))
    .flatMap((row) => idOf(row) ?? []);
}

function targetsOf({ targets }: Fields): readonly unknown[] {
  return Array.isArray(targets) ? targets : [];
}

function idOf(value: unknown): string | null {
  if (!isFields(value) || "name" in value) return null;
  return typeof value["accountId"] === "string" ? value["accountId"] : null;
}

function shortened(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => shortened(item, names));
  if (!isFields(value)) return value;
  const accountName = names.get(idOf(value) ?? "");
  const fields = Object.entries(value)
    .filter(([, field]) => field !== null)
    .flatMap(([key, field]) => {
      const short = [key, FOREIGN.includes(key) ? field : shortened(field, names)];
      return key === "accountId" && accountName !== undefined
        ? [short, ["accountName", accountName]]
        : [short];
    });
  return Object.fromEntries(fields) as Fields;
}

function told(row: Fields): Fields {
  return Object.fromEntries(OF_TOLD.map((key) => [key, row[key]]).filter(([, value]) => value !== null));
}
