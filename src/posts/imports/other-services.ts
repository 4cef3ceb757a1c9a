import { jsonIn } from "../../domain/text/read-text.ts";
import { AppError } from "../../domain/errors.ts";
import type { ImportArgs } from "../../domain/posts/post-import.ts";
import { EXAMPLE_DAY } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { orderOf, toIsoMoment } from "./cell-times.ts";
import { fieldOf, readHead, withIsoTimes, withOneChannel, type Column } from "./columns.ts";
import type { TableRow } from "./read-table.ts";

/*
 * Tables of other services, recognized by their heads and turned into ours.
 * Buffer, bulk upload: Text, Image URL, Tags, Posting Time as YYYY-MM-DD HH:mm.
 * Hootsuite, bulk composer: date, message, link, without a head. The form of the date is chosen at the upload:
 * mm/dd/yyyy, dd/mm/yyyy or yyyy/mm/dd, then hh:mm.
 * Postiz has no table of its own; this is its list of posts, a row a post, as programs write it:
 * https://www.mintlify.com/gitroomhq/postiz-app/api/posts/list-posts
 */

/** A table with our columns, and what is to be said of the way there. */
export interface OwnTable {
  /** Null: it was ours. */
  readonly service: string | null;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  readonly warnings: readonly string[];
}

/** What a cell of theirs is: a field of ours, or one of these. */
type Meaning = "scheduledAt" | "caption" | "accountId" | "labels" | "link" | "media" | "state";

interface Service {
  readonly name: string;
  /** Columns that tell it from others, and from ours. */
  readonly telling: readonly string[];
  /** By their columns, in lower case. Others are left out, and that is said. */
  readonly meanings: Readonly<Record<string, Meaning>>;
  /** Its states of posts that wait. */
  readonly waiting?: readonly string[];
}

const MEDIA = { "image url": "media", "image urls": "media", "video url": "media" } as const;
const LINK = { link: "link", "link (optional)": "link", url: "link" } as const;

const SERVICES: readonly Service[] = [
  {
    name: "Buffer",
    telling: ["text", "posting time"],
    meanings: {
      text: "caption",
      "posting time": "scheduledAt",
      tags: "labels",
      "image url(s)": "media",
      ...MEDIA,
    },
  },
  {
    name: "Hootsuite",
    telling: ["date", "message"],
    meanings: { date: "scheduledAt", message: "caption", ...LINK, ...MEDIA },
  },
  {
    name: "Postiz",
    telling: ["content", "publishdate"],
    meanings: {
      content: "caption",
      publishdate: "scheduledAt",
      "integration.name": "accountId",
      media: "media",
      image: "media",
      status: "state",
      state: "state",
    },
    waiting: ["scheduled", "queue"],
  },
];

const HOOTSUITE_HEAD = ["Date", "Message", "Link"];
const SLASHED = /^\s*(\d{1,4})\/(\d{1,2})\/(\d{1,4})\s+(\d{1,2}):(\d{2})\s*$/;

/** Ours as it is, others as ours. Throws `invalid` for a head that is not known. */
export function toOwnTable(table: readonly TableRow[], as: ImportArgs["as"] = "posts"): OwnTable {
  const [first, ...others] = table;
  if (first === undefined) throw new AppError("invalid", "csv: is empty. Its first row names the columns.");
  const isHeadless = SLASHED.test(first.cells[0] ?? "");
  const head = isHeadless ? { line: first.line, cells: HOOTSUITE_HEAD } : first;
  const service = SERVICES.find((one) => isTableOf(one, titlesOf(head)));
  if (service !== undefined) return translate(service, head, isHeadless ? table : others);
  const columns = readHead(first, as);
  return { service: null, columns, ...withIsoTimes(columns, withOneChannel(columns, others)) };
}

/** Not where it has a column besides that a post of ours has: then a person made it. */
function isTableOf({ telling, meanings }: Service, titles: readonly string[]): boolean {
  const isOurs = (title: string): boolean => !(title in meanings) && OWN_COLUMNS.has(fieldOf(title) ?? "");
  return telling.every((name) => titles.includes(name)) && !titles.some(isOurs);
}

const OWN_COLUMNS: ReadonlySet<string> = new Set(["accountId", "scheduledAt", "date", "time"]);

function titlesOf({ cells }: TableRow): string[] {
  return cells.map((cell) => cell.trim().toLowerCase());
}

/** The columns of what comes out, and whose titles they have. A link stands in the text, as it would there. */
const COLUMNS: readonly (readonly [field: string, meaning: Meaning])[] = [
  ["accountId", "accountId"],
  ["scheduledAt", "scheduledAt"],
  ["caption", "caption"],
  ["mediaUrl", "media"],
  ["metadata.moreMedia", "media"],
  ["labels", "labels"],
];

function translate(service: Service, head: TableRow, given: readonly TableRow[]): OwnTable {
  const meanings = titlesOf(head).map((title) => service.meanings[title]);
  const cellsOf = ({ cells }: TableRow, meaning: Meaning): string[] =>
    cells.filter((cell, at) => meanings[at] === meaning && cell.trim() !== "");
  const isWaiting = (row: TableRow): boolean =>
    cellsOf(row, "state").every((state) => service.waiting?.includes(state.trim().toLowerCase()) === true);
  const rows = given.filter(isWaiting);
  const dates = readDates(rows.map((row) => cellsOf(row, "scheduledAt")[0] ?? ""));
  return {
    service: service.name,
    columns: COLUMNS.map(([field, meaning], at) => ({
      field,
      title: head.cells[meanings.indexOf(meaning)]?.trim() ?? field,
      at,
    })),
    rows: rows.map((row, at) => {
      const [mediaUrl = "", ...more] = cellsOf(row, "media").flatMap(readAddresses);
      const cells = [
        cellsOf(row, "accountId")[0] ?? "",
        dates.times[at] ?? "",
        [...cellsOf(row, "caption"), ...cellsOf(row, "link")].join("\n"),
        mediaUrl,
        more.length === 0 ? "" : JSON.stringify(more.map((url) => ({ url }))),
        cellsOf(row, "labels").join(","),
      ];
      // A cell too many is told as one of ours is.
      return { line: row.line, cells: [...cells, ...row.cells.slice(head.cells.length)] };
    }),
    warnings: [
      ...dates.warnings,
      ...warnOfRest(head, meanings, given),
      ...(rows.length === given.length
        ? []
        : [`${given.length - rows.length} rows do not wait at ${service.name} any more, and were left out.`]),
    ],
  };
}

/** Columns with something in them that no field of a post is like. */
function warnOfRest(
  head: TableRow,
  meanings: readonly (Meaning | undefined)[],
  given: readonly TableRow[],
): string[] {
  const left = head.cells.filter(
    (title, at) =>
      title.trim() !== "" &&
      meanings[at] === undefined &&
      given.some(({ cells }) => (cells[at] ?? "").trim() !== ""),
  );
  return left.length === 0 ? [] : [`Left out, as a post has nothing like it: ${left.map(quote).join(", ")}.`];
}

/** One address or several, separated by commas or white space, or JSON of Postiz: `[{"path":"https://…"}]`. */
function readAddresses(cell: string): string[] {
  if (!cell.trim().startsWith("[")) return cell.split(/[,\s]+/).filter((part) => part !== "");
  const items = jsonIn(cell);
  return Array.isArray(items) ? items.flatMap(addressOf) : [cell];
}

function addressOf(item: unknown): string[] {
  if (typeof item !== "object" || item === null) return typeof item === "string" ? [item] : [];
  const found = "path" in item ? item.path : "url" in item ? item.url : undefined;
  return typeof found === "string" ? [found] : [];
}

/** A table of theirs without a head, or with theirs alone, begins with the month where all rows allow both. */
function readDates(given: readonly string[]): { times: readonly string[]; warnings: readonly string[] } {
  const { order, isAsked } = orderOf(given);
  const times = given.map((text) => toIsoMoment(text, order ?? "month"));
  const isUnclear = isAsked && order === null;
  const warning = `The dates may begin with the month or with the day. They were read as month/day/year. If that is wrong, write them as ${EXAMPLE_DAY} 09:00.`;
  return { times, warnings: isUnclear ? [warning] : [] };
}
