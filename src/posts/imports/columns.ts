import * as z from "zod";
import { coerceArguments, suggestField, OTHER_NAMES } from "../../domain/arguments/coerce.ts";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import { unwrapped } from "../../domain/optional.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { ImportArgs } from "../../domain/posts/post-import.ts";
import { PostBody } from "../../domain/posts/post-body.ts";
import { nearestName } from "../../domain/settings/nearest-name.ts";
import { EMPTY_TIME } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import {
  assertClear,
  type Here,
  joinCells,
  orderOf,
  toIsoDay,
  toIsoMoment,
  toIsoTime,
} from "./cell-times.ts";
import { guardCell, readCell } from "./cells.ts";
import type { TableRow } from "./read-table.ts";

const { dryRun: _dryRun, metadata: _metadata, ...offered } = PostBody.shape;

/** The columns that are fields of a post. Those of its platform are `metadata.title` and the like. */
export const FIELDS: readonly string[] = Object.keys(offered);

const METADATA = "metadata.";

/** Where a field of a post stands in a table. */
export interface Column {
  /** `caption`, `metadata.title`, … */
  readonly field: string;
  /** As the head of the table calls it. */
  readonly title: string;
  /** Its place in each row, from 0. */
  readonly at: number;
}

/** Columns of people that are no field: a day and a time of their own, and what belongs to the text. */
const OWN = ["date", "time", "link"] as const;
const ALSO: Readonly<Record<string, string>> = { url: "link", platform: "accountId", network: "accountId" };
const TIME_FIELDS: readonly string[] = ["scheduledAt", "date", "slot"];

/** Throws `invalid` for a column that is unknown or there twice, and where none tells when posts go out. */
export function readHead(head: TableRow, as: ImportArgs["as"]): Column[] {
  const named = head.cells.flatMap((cell, at) => {
    const title = readCell(cell).trim();
    return title === "" ? [] : [{ field: fieldOf(title) ?? refuseColumn(title, head.line), title, at }];
  });
  const isSplit = named.some(({ field }) => field === "date") && named.some(({ field }) => field === "time");
  // One of the two alone holds both.
  const columns = named.map((column) =>
    !isSplit && (column.field === "date" || column.field === "time")
      ? { ...column, field: "scheduledAt" }
      : column,
  );
  for (const [at, { field, title }] of columns.entries()) {
    const before = columns.slice(0, at).find((one) => one.field === field);
    if (before !== undefined)
      throw new AppError(
        "invalid",
        `csv: line ${head.line}: the column ${quote(title)} is there twice${before.title.toLowerCase() === title.toLowerCase() ? "" : `, as ${quote(before.title)}: both are ${field}`}.`,
      );
  }
  if (as === "posts" && !isTimed(columns))
    throw new AppError(
      "invalid",
      "csv: has no column scheduledAt (or date and time), which says when each post goes out. Add it. An import publishes nothing at once; only drafts need no time.",
    );
  return columns;
}

/** Whether the rows say when. */
function isTimed(columns: readonly Column[]): boolean {
  return columns.some(({ field }) => TIME_FIELDS.includes(field));
}

/** The field that a title means, as we call it or as people do. Null: none. */
export function fieldOf(title: string): string | null {
  if (title.toLowerCase().startsWith(METADATA) && title.length > METADATA.length)
    return METADATA + title.slice(METADATA.length);
  const word = lettersOf(title);
  const findIn = (names: readonly string[]): string | undefined =>
    names.find((name) => lettersOf(name) === word);
  const isMeant = (field: string): boolean => findIn([field, ...(OTHER_NAMES[field] ?? [])]) !== undefined;
  const common = Object.keys(commonMetadata).find(isMeant);
  return (
    findIn([...FIELDS, ...OWN]) ??
    ALSO[word] ??
    FIELDS.find(isMeant) ??
    (common === undefined ? null : METADATA + common)
  );
}

/** `Image URL`, `image_url` and `imageUrl` are one. */
function lettersOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** As people call them, the fields that a table holds most often. */
const USUAL = "channel, date, time, text, image, link";

function refuseColumn(title: string, line: number): never {
  const meant =
    suggestField(title, [...FIELDS, "metadata"]) ?? nearestName(title.toLowerCase(), USUAL.split(", "));
  const hint = meant === null || meant === "metadata" ? "" : ` Did you mean ${meant}?`;
  throw new AppError(
    "invalid",
    `csv: line ${line}: ${quote(title)} is not a known column.${hint} Rename it, or delete the column. The columns are ${USUAL}, or ${FIELDS.join(", ")}, and ${METADATA}… for the platform's own fields.`,
  );
}

const SEVERAL = /^(?:channels|accounts|accountids)$/;

/** A column "channels" may name several in a cell; each gets a row of its own. */
export function withOneChannel(columns: readonly Column[], rows: readonly TableRow[]): readonly TableRow[] {
  const column = columns.find(({ title }) => SEVERAL.test(lettersOf(title)));
  if (column === undefined) return rows;
  return rows.flatMap((row) => {
    const names = (row.cells[column.at] ?? "").split(/[,;\n]/).filter((name) => name.trim() !== "");
    if (names.length < 2) return [row];
    return names.map((name) => ({ ...row, cells: row.cells.with(column.at, name.trim()) }));
  });
}

/** Rows whose days and times are ISO 8601 wherever they can mean one thing alone, and how some were read. */
export function withIsoTimes(
  columns: readonly Column[],
  rows: readonly TableRow[],
): { readonly rows: readonly TableRow[]; readonly warnings: readonly string[] } {
  const placeOf = (wanted: string): number => columns.find(({ field }) => field === wanted)?.at ?? -1;
  const [day, time, both] = [placeOf("date"), placeOf("time"), placeOf("scheduledAt")];
  const { order, told } = orderOf(rows.flatMap(({ cells }) => [cells[day] ?? "", cells[both] ?? ""]));
  const change: Readonly<Record<number, (cell: string) => string>> = {
    [day]: (cell) => toIsoDay(cell, order),
    [time]: toIsoTime,
    [both]: (cell) => toIsoMoment(cell, order),
  };
  return {
    rows: rows.map((row) => ({ ...row, cells: row.cells.map((cell, at) => change[at]?.(cell) ?? cell) })),
    warnings: told === null ? [] : [told],
  };
}

/** A row as it is given to scheduling. */
export interface RowBody {
  readonly body: PostBody;
  /** Where the platform has no field for it, it belongs to the text. */
  readonly link: string | null;
}

/** Throws `invalid` with the reason why a row is none. */
export function readBody(
  row: TableRow,
  columns: readonly Column[],
  defaults: Partial<PostBody>,
  { as, ...here }: Pick<ImportArgs, "as"> & Here,
): RowBody {
  const places = new Set(columns.map(({ at }) => at));
  const stray = row.cells.findIndex((cell, at) => cell.trim() !== "" && !places.has(at));
  if (stray !== -1)
    throw new AppError(
      "invalid",
      `Cell ${stray + 1} of this row is in no column: ${quote(row.cells[stray] ?? "")}. Quote texts that hold the separator.`,
    );
  const given = columns.flatMap(({ field, at }) => {
    const cell = row.cells[at] ?? "";
    return cell === "" ? [] : [[field, readList(field, readCell(cell))] as const];
  });
  const {
    scheduledAt: whole,
    date,
    time,
    link,
    ...own
  } = Object.fromEntries(given.filter(([field]) => !field.startsWith(METADATA)));
  const metadata = given.flatMap(([field, value]) =>
    field.startsWith(METADATA) ? [[field.slice(METADATA.length), value]] : [],
  );
  const times = { scheduledAt: whole, date, time, slot: own["slot"] };
  const scheduledAt = isTimed(columns) ? timeOf(times, as, here) : undefined;
  const body = {
    ...defaults,
    ...own,
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
    ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) as unknown }),
  };
  const parsed = PostBody.safeParse(coerceArguments(PostBody, body), { reportInput: true });
  if (!parsed.success) throw explainInvalid(parsed.error, PostBody, { meant: suggestField });
  return { body: parsed.data, link: typeof link === "string" ? link.trim() : null };
}

/** What a row says of its time; undefined: the next slot. */
function timeOf(
  { scheduledAt, date, time, slot }: Readonly<Record<string, unknown>>,
  as: ImportArgs["as"],
  here: Here,
): string | undefined {
  const [whole, day, clock] = [scheduledAt, date, time].map((cell) => (typeof cell === "string" ? cell : ""));
  if (day?.trim() || clock?.trim()) return joinCells(day ?? "", clock ?? "", here);
  if (whole?.trim()) {
    assertClear(whole, here);
    return whole;
  }
  if (slot !== undefined) return undefined;
  const why =
    as === "posts"
      ? "An import publishes nothing at once."
      : "Drafts without a time come of a table that has no such column.";
  throw new AppError("invalid", `scheduledAt: ${EMPTY_TIME}. ${why}`);
}

/** Fields that are lists of texts: in one cell they are separated by commas, or JSON. */
const LISTS: ReadonlySet<string> = new Set([
  ...Object.entries(offered).flatMap(([name, field]) => (isListOfTexts(field) ? [name] : [])),
  ...Object.entries(commonMetadata).flatMap(([name, field]) =>
    isListOfTexts(field) ? [METADATA + name] : [],
  ),
]);

function isListOfTexts(field: z.ZodType): boolean {
  const plain = unwrapped(field);
  return plain instanceof z.ZodArray && plain.element instanceof z.ZodString;
}

function readList(field: string, text: string): string | string[] {
  if (!LISTS.has(field) || /^\s*\[/.test(text)) return text;
  const items = text.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}

/** What a post gives, by column: those of its platform beside the others. */
export function toCells(body: PostBody): ReadonlyMap<string, string> {
  const { metadata, ...own } = body;
  const fields = [
    ...Object.entries(own),
    ...Object.entries(metadata ?? {}).map(([name, value]) => [METADATA + name, value] as const),
  ];
  return new Map(
    fields.flatMap(([field, value]) => (value === undefined ? [] : [[field, toCell(value)] as const])),
  );
}

/** Texts as they are, everything else as JSON. */
function toCell(value: unknown): string {
  return guardCell(typeof value === "string" ? value : JSON.stringify(value));
}
