import { isFields, type Fields } from "../domain/explain-invalid.ts";
import { namesOfAccounts } from "../channels/accounts/accounts.ts";
import type { CallContext } from "../context.ts";

type Result = Record<string, unknown>;

/** What others wrote as JSON, where null has a meaning of its own. */
const FOREIGN: readonly string[] = ["metadata", "metadataSchema", "secretsSchema"];

/** What still tells one account from another where it stands whole beside the list. */
const ACCOUNT_COLUMNS = ["id", "provider", "name", "handle", "status"] as const;

/** What a batch says of each post: the rest is as the caller sent it. */
const POST_COLUMNS = ["id", "scheduledAt", "status"] as const;
const LONG_BATCH = 5;

/** What a list of several channels says of each: one alone (`list_accounts` with its id) says all. */
const OF_LISTED = [
  "id",
  "provider",
  "name",
  "handle",
  "profileUrl",
  "status",
  "statusReason",
  "tokenExpiresAt",
  "schedule",
  "utm",
  "queuedCount",
  "lastPublishedAt",
] as const;

/**
 * For a model: rows leave out what is null or said beside, and posts say their channel's name beside its id. Long lists leave
 * out what another call tells (channels), or what the caller sent just now (batches).
 */
export async function compactRows(
  call: Pick<CallContext, "ctx" | "caller">,
  result: Result,
): Promise<Result> {
  const ids = "names" in result ? [] : [...new Set(Object.values(result).flatMap(accountIdsIn))];
  const names = ids.length === 0 ? new Map<string, string>() : await namesOfAccounts(call);
  const { account } = result;
  const short = Object.entries(result).map(([key, value]) => {
    if (!Array.isArray(value)) return [key, value];
    const rows: readonly unknown[] = value;
    return [
      key,
      rows.map((row) => {
        if (!isFields(row)) return row;
        if (isFields(account) && row["id"] === account["id"]) return picked(row, ACCOUNT_COLUMNS);
        return shortened(withoutBulk(key, row, rows.length), names);
      }),
    ];
  });
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

function withoutBulk(list: string, row: Fields, length: number): Fields {
  if (list === "accounts" && length > 1)
    return { ...picked(row, OF_LISTED), capabilities: inShort(row["capabilities"]) };
  if (list === "drafts") return { ...row, checks: withoutTwice(row) };
  if (list !== "results" || length <= LONG_BATCH) return row;
  const { post, preview: _preview, ...rest } = row;
  return { ...rest, ...(isFields(post) && { post: picked(post, POST_COLUMNS) }) };
}

/** A preview's text where it is not the caption: a draft says that once, and not again for each channel. */
function withoutTwice({ caption, checks, ...draft }: Fields): unknown {
  if (!Array.isArray(checks)) return checks;
  const targets = targetsOf(draft).filter(isFields);
  return checks.map((check: unknown) => {
    if (!isFields(check) || !isFields(check["preview"])) return check;
    const { text, ...preview } = check["preview"];
    const target = targets.find(({ accountId }) => accountId === check["accountId"]);
    const isTwice = text === (target?.["caption"] ?? caption);
    return { ...check, preview: isTwice ? preview : { text: text ?? "", ...preview } };
  });
}

/** How long a text may be, and which media are taken. */
function inShort(capabilities: unknown): Fields | null {
  if (!isFields(capabilities) || !isFields(capabilities["media"])) return null;
  const { accepts, ...media } = capabilities["media"];
  const kinds = Array.isArray(accepts) ? accepts.filter(isFields).map(({ kind }) => ({ kind })) : [];
  return { media: { ...media, accepts: kinds }, caption: capabilities["caption"] };
}

function picked(row: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.map((key) => [key, row[key] ?? null]).filter(([, value]) => value !== null));
}
