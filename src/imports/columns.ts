import * as z from "zod";
import { asMeant, meantField } from "../domain/arguments/usual-form.ts";
import { AppError } from "../domain/errors.ts";
import { explainInvalid, unwrapped } from "../domain/explain-invalid.ts";
import { commonMetadata } from "../domain/posts/common-metadata.ts";
import { PostBody } from "../domain/posts/post-body.ts";
import { quote } from "../domain/time.ts";
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

/** Throws `invalid` for a column that is unknown, or there twice. */
export function readHead(head: TableRow): Column[] {
  const columns = head.cells.flatMap((cell, at) => {
    const title = readCell(cell).trim();
    return title === "" ? [] : [{ field: fieldOf(title, head.line), title, at }];
  });
  const doubled = columns.find(({ field }, at) => columns.findIndex((one) => one.field === field) !== at);
  if (doubled !== undefined)
    throw new AppError(
      "invalid",
      `csv: line ${head.line}: the column ${quote(doubled.title)} is there twice.`,
    );
  return columns;
}

function fieldOf(title: string, line: number): string {
  const known = FIELDS.find((field) => field.toLowerCase() === title.toLowerCase());
  if (known !== undefined) return known;
  if (title.toLowerCase().startsWith(METADATA) && title.length > METADATA.length)
    return METADATA + title.slice(METADATA.length);
  const meant = meantField(title, [...FIELDS, "metadata"]);
  const hint = meant === null || meant === "metadata" ? "" : ` Did you mean ${meant}?`;
  throw new AppError(
    "invalid",
    `csv: line ${line}: ${quote(title)} is not a known column.${hint} The columns are ${FIELDS.join(", ")}, and ${METADATA}… for the platform's own fields.`,
  );
}

/** A row as it is given to scheduling, or the reason why it is none. */
export function readBody(row: TableRow, columns: readonly Column[], defaults: Partial<PostBody>): PostBody {
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
  const own = given.filter(([field]) => !field.startsWith(METADATA));
  const metadata = given.flatMap(([field, value]) =>
    field.startsWith(METADATA) ? [[field.slice(METADATA.length), value]] : [],
  );
  const body = {
    ...defaults,
    ...Object.fromEntries(own),
    ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) as unknown }),
  };
  if (body.scheduledAt === undefined && !Object.hasOwn(body, "slot"))
    throw new AppError(
      "invalid",
      "scheduledAt: is empty. Give the time, for example 2026-11-21T09:00:00Z. An import publishes nothing at once.",
    );
  const parsed = PostBody.safeParse(asMeant(PostBody, body), { reportInput: true });
  if (!parsed.success) throw explainInvalid(parsed.error, PostBody, { meant: meantField });
  return parsed.data;
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
