import { createRequire } from "node:module";
import type { CsvError } from "csv-parse/sync";
import { AppError } from "../../domain/errors.ts";

/** How many rows one import takes. */
export const MAX_ROWS = 5_000;

/** Of a file as it is sent. */
export const MAX_TABLE_BYTES = 16 * 1024 * 1024;

/** Of one cell. No platform takes a longer text. */
const MAX_CELL_CHARS = 200_000;

/** Empty rows count, too: spreadsheets leave some at the end, not a hundred thousand. */
const MAX_LINES = 100_000;

const MAX_CELLS = 200;

export interface TableRow {
  /** Of the file, from 1 on: where the row begins. A cell may go over several. */
  readonly line: number;
  readonly cells: readonly string[];
}

const ZIP = "PK\u{3}\u{4}";

/** What people take for a table, by how it begins. */
const OTHERS: readonly (readonly [begin: string | RegExp, name: string])[] = [
  [ZIP, "an Excel workbook, or another packed file"],
  ["\u{d0}\u{cf}\u{11}\u{e0}", "an Excel workbook"],
  [/^\s*<(?:!doctype html|html|table|meta|head)\b/i, "an HTML page"],
  [/^\s*<\?xml\b/i, "an XML document"],
  ["%PDF-", "a PDF document"],
  ["{\\rtf", "an RTF document"],
  [/^\s*(?:\[\s*)?\{\s*"/, "JSON"],
  ["\u{89}PNG", "a picture"],
  ["\u{ff}\u{d8}\u{ff}", "a picture"],
  ["GIF8", "a picture"],
];

/** What is packed, by the name of a file within. */
const PACKED: readonly (readonly [file: string, name: string])[] = [
  ["xl/", "an Excel workbook"],
  ["opendocument.spreadsheet", "an OpenDocument spreadsheet"],
  ["Index/", "a Numbers spreadsheet"],
  ["word/", "a Word document"],
];

const MAX_BEGIN = 400;

/** Throws `invalid` for something else, which is named. `content`: a letter a byte, or the text. */
function assertTable(content: string): void {
  const begin = content.slice(0, MAX_BEGIN).replace(/^(?:\u{FEFF}|\xef\xbb\xbf)/u, "");
  const isIt = (sign: string | RegExp): boolean =>
    typeof sign === "string" ? begin.startsWith(sign) : sign.test(begin);
  const other = OTHERS.find(([sign]) => isIt(sign))?.[1];
  if (other === undefined) return;
  const packed = begin.startsWith(ZIP) ? PACKED.find(([file]) => content.includes(file))?.[1] : undefined;
  throw new AppError("invalid", `csv: This is ${packed ?? other}. Save it as "CSV UTF-8".`);
}

const require = createRequire(import.meta.url);

/** Loaded with the first table, and not by every start. */
function loadParser(): typeof import("csv-parse/sync") {
  return require("csv-parse/sync");
}

/** The text of a file as spreadsheets save it: UTF-8, or UTF-16 with its mark. Throws `invalid`. */
export function decodeTable(bytes: Uint8Array): string {
  assertTable(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError(
      "invalid",
      'csv: the file is not in UTF-8. Save it again as "CSV UTF-8", then import that.',
      { cause },
    );
  }
}

/**
 * The rows of a table of separated values, the head among them, without the empty ones. Commas, semicolons or
 * tabs, as its first row has them. Throws `invalid` that names the line.
 */
export function readTable(given: string): TableRow[] {
  const { CsvError, parse } = loadParser();
  assertTable(given);
  const { text, skipped, delimiter } = openTable(given);
  const bytes = Buffer.from(text);
  const rows: TableRow[] = [];
  let at = 0;
  let line = 1 + skipped;
  let records = 0;
  const keep = (cells: readonly string[], end: number): void => {
    records += 1;
    if (cells.length > MAX_CELLS)
      throw new AppError("invalid", `csv: line ${line}: has more than ${MAX_CELLS} columns.`);
    if (cells.some((cell) => cell.trim() !== "")) rows.push({ line, cells });
    if (rows.length > MAX_ROWS + 1 || records > MAX_LINES)
      throw new AppError("invalid", `csv: has more than ${MAX_ROWS} rows. Divide it, and import the parts.`);
    line += countLines(bytes, at, end);
    at = end;
  };
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: 4 * MAX_CELL_CHARS,
      on_record: (cells: string[], { bytes: end }) => {
        keep(cells, end);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new AppError("invalid", `csv: line ${line}: ${explain(error)}`, { cause: error });
  }
  return rows;
}

/** Without the mark of its encoding, and without the line in which Excel keeps the separator. */
function openTable(given: string): { text: string; skipped: number; delimiter: string } {
  const text = given.startsWith("\u{FEFF}") ? given.slice(1) : given;
  const told = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i.exec(text);
  if (told?.[1] !== undefined) return { text: text.slice(told[0].length), skipped: 1, delimiter: told[1] };
  return { text, skipped: 0, delimiter: guessDelimiter(text) };
}

/** The one that the first row has most of, outside of quotes. */
function guessDelimiter(text: string): string {
  const counts = new Map([",", ";", "\t"].map((sign) => [sign, 0]));
  let isQuoted = false;
  for (const sign of text.replace(/^[\r\n]+/, "")) {
    if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === "\n" || sign === "\r")) break;
    else if (!isQuoted && counts.has(sign)) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  }
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? ",";
}

const [CR, LF] = [0x0d, 0x0a];

/** As an editor counts them: CRLF is one. */
function countLines(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at += 1) {
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) lines += 1;
  }
  return lines;
}

function explain({ code }: CsvError): string {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "a quote opens a cell that nothing closes. Close it, and write a quote within a cell twice.";
    case "CSV_MAX_RECORD_SIZE":
      return "is longer than a row can be. A quote that is not closed may be the reason.";
    default:
      return "the quotes are wrong. Quote the whole cell, and write a quote within it twice.";
  }
}
