import { hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { meantMoment } from "../../domain/arguments/meant-times.ts";
import { AppError } from "../../domain/errors.ts";
import type { PostBody } from "../../domain/posts/post-body.ts";
import type { ImportArgs } from "../../domain/posts/post-import.ts";
import type { Said } from "../../domain/sentences.ts";
import { toIso } from "../../domain/time.ts";
import { parseMoment, warningsOf } from "../../domain/parse-time.ts";
import { canonicalJson } from "../../access/idempotency.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { getFile, OWN_SCHEME } from "../../files/files.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import { type Here, inTable } from "./cell-times.ts";
import { type Column, readBody, type RowBody } from "./columns.ts";
import { decodeTable, MAX_TABLE_BYTES, type TableRow } from "./read-table.ts";

/* What a caller sends of a table, and what its rows say. */

/** A row that can be read. */
export interface ReadRow {
  readonly line: number;
  readonly body: PostBody;
  readonly account: AccountRow;
  /** Null: the next slot, or of a draft no time. */
  readonly scheduledAt: number | null;
  /** What tells it from other rows: channel, time and content. */
  readonly mark: string;
  readonly warnings: readonly Said[];
}

/** The table, as text. */
export async function readSource(call: CallContext, { csv, fileId }: ImportArgs): Promise<string> {
  if (fileId !== undefined) return readFile(call, fileId, csv);
  if (csv !== undefined && csv.trim() !== "") return csv;
  throw new AppError("invalid", "csv: is missing. Give the table, with a first row that names its columns.");
}

/** A table that was uploaded. */
async function readFile(call: CallContext, fileId: string, csv: string | undefined): Promise<string> {
  if (csv !== undefined && csv !== "")
    throw new AppError("invalid", "csv: cannot be given together with fileId. Give one.");
  const { file } = await getFile(call, { id: fileId }, "fileId");
  if (file.mimeType !== "text/csv")
    throw new AppError("invalid", `fileId: ${file.id} is ${file.mimeType}, not a table. Upload a CSV file.`);
  if (file.sizeBytes > MAX_TABLE_BYTES)
    throw new AppError(
      "invalid",
      `fileId: the table is larger than 16 MiB. Divide it, and import the parts.`,
    );
  return decodeTable(await buffer(call.ctx.files.read(file.url.slice(OWN_SCHEME.length))));
}

/** Reads rows, and looks up each channel once. */
export function rowReader(
  { ctx, caller, tellsZone }: CallContext,
  { timezone, accountId, as }: ImportArgs,
): (row: TableRow, columns: readonly Column[]) => Promise<ReadRow> {
  const zone = timezone ?? ctx.settings.timezone;
  const accounts = new Map<string, ReturnType<typeof findAccount>>();
  const find = (wanted: string): ReturnType<typeof findAccount> => {
    const found = accounts.get(wanted) ?? findAccount(ctx, caller, wanted);
    accounts.set(wanted, found);
    return found;
  };
  return async (row, columns) => {
    const here = { now: ctx.clock.now(), timezone: zone };
    const read = readBody(row, columns, accountId === undefined ? {} : { accountId }, { as, ...here });
    const account = await find(read.body.accountId);
    const given = withLink(ctx, account, read);
    const { line } = row;
    if (given.scheduledAt === undefined) {
      const body = { ...given, accountId: account.id };
      return { line, body, account, scheduledAt: null, mark: markOf(body), warnings: [] };
    }
    const parsed = readCells(given.scheduledAt, here);
    const body = { ...given, accountId: account.id, scheduledAt: toIso(parsed.ms) };
    // Who names a zone knows how their times are read.
    const warnings = warningsOf({ tellsZone: tellsZone && timezone === undefined }, parsed);
    return { line, body, account, scheduledAt: parsed.ms, mark: markOf(body), warnings };
  };
}

function readCells(text: string, here: Here): ReturnType<typeof parseMoment> {
  try {
    return parseMoment("scheduledAt", text, here.timezone, meantMoment(here));
  } catch (error) {
    throw inTable(error);
  }
}

/** In the platform's field for a link, where it has one and the post no media; else at the end of the text. */
function withLink(ctx: AppContext, { provider }: AccountRow, { body, link }: RowBody): PostBody {
  if (link === null || link === "") return body;
  const hasField = "link" in (ctx.platforms.get(provider)?.metadata.shape ?? {});
  if (hasField && body.mediaUrl === undefined) return { ...body, metadata: { link, ...body.metadata } };
  return { ...body, caption: body.caption === undefined ? link : `${body.caption}\n${link}` };
}

function markOf(body: PostBody): string {
  return hash("sha256", canonicalJson(body));
}
