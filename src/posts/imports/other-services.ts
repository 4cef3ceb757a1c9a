import { AppError } from "../../domain/errors.ts";
import type { ImportArgs } from "../../domain/posts/post-import.ts";
import { EXAMPLE_DAY } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { orderOf, toIsoMoment } from "./cell-times.ts";
import { FIELDS, fieldOf, readHead, withIsoTimes, withOneChannel, type Column } from "./columns.ts";
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

const SERVICES: readonly Service[] = [
  {
    name: "Buffer",
    telling: ["text", "posting time"],
    meanings: {
      text: "caption",
      "posting time": "scheduledAt",
      tags: "labels",
      "image url": "media",
      "image url(s)": "media",
      "image urls": "media",
      "video url": "media",
    },
  },
  {
    name: "Hootsuite",
    telling: ["date", "message"],
    meanings: {
      date: "scheduledAt",
      message: "caption",
      link: "link",
      "link (optional)": "link",
      url: "link",
      "image url": "media",
      "image urls": "media",
      "video url": "media",
    },
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
  if (SLASHED.test(first.cells[0] ?? ""))
    return translate(findService(HOOTSUITE_HEAD), { line: first.line, cells: HOOTSUITE_HEAD }, table);
  const service = SERVICES.find((one) => isTableOf(one, titlesOf(first)));
  if (service !== undefined) return translate(service, first, others);
  const columns = readHead(first, as);
  return {
    service: null,
    columns,
    ...withIsoTimes(columns, withOneChannel(columns, others)),
  };
}

/** Not where it has a column besides that a post of ours has: then a person made it. */
function isTableOf({ telling, meanings }: Service, titles: readonly string[]): boolean {
  const isOurs = (title: string): boolean => !(title in meanings) && OWN_COLUMNS.has(fieldOf(title) ?? "");
  return telling.every((name) => titles.includes(name)) && !titles.some(isOurs);
}

const OWN_COLUMNS: ReadonlySet<string> = new Set(["accountId", "scheduledAt", "date", "time"]);

function findService(head: readonly string[]): Service {
  const titles = head.map((title) => title.toLowerCase());
  const service = SERVICES.find(({ telling }) => telling.every((name) => titles.includes(name)));
  if (service === undefined) throw new Error(`No service has the columns ${head.join(", ")}.`);
  return service;
}

function titlesOf({ cells }: TableRow): string[] {
  return cells.map((cell) => cell.trim().toLowerCase());
}

/** The columns of what comes out. A link stands in the text, as it would there. */
const OUT = ["accountId", "scheduledAt", "caption", "mediaUrl", "metadata.moreMedia", "labels"] as const;

function translate(service: Service, head: TableRow, given: readonly TableRow[]): OwnTable {
  const titles = titlesOf(head);
  const placesOf = (meaning: Meaning): number[] =>
    titles.flatMap((title, at) => (service.meanings[title] === meaning ? [at] : []));
  const cellsOf = ({ cells }: TableRow, meaning: Meaning): string[] =>
    placesOf(meaning).flatMap((at) => ((cells[at] ?? "").trim() === "" ? [] : [cells[at] ?? ""]));
  const isWaiting = (row: TableRow): boolean =>
    cellsOf(row, "state").every((state) => service.waiting?.includes(state.trim().toLowerCase()) === true);
  const rows = given.filter(isWaiting);
  const dates = readDates(rows.map((row) => cellsOf(row, "scheduledAt")[0] ?? ""));
  const fields = OUT.filter((field) => field !== "labels" || FIELDS.includes(field));
  return {
    service: service.name,
    columns: fields.map((field, at) => ({ field, title: titleOf(head, placesOf, field), at })),
    rows: rows.map((row, at) => {
      const [mediaUrl = "", ...more] = cellsOf(row, "media").flatMap(readAddresses);
      const cells: Record<(typeof OUT)[number], string> = {
        accountId: cellsOf(row, "accountId")[0] ?? "",
        scheduledAt: dates.times[at] ?? "",
        caption: [...cellsOf(row, "caption"), ...cellsOf(row, "link")].join("\n"),
        mediaUrl,
        "metadata.moreMedia": more.length === 0 ? "" : JSON.stringify(more.map((url) => ({ url }))),
        labels: cellsOf(row, "labels").join(","),
      };
      // A cell too many is told as one of ours is.
      const stray = row.cells.slice(head.cells.length);
      return { line: row.line, cells: [...fields.map((field) => cells[field]), ...stray] };
    }),
    warnings: [
      ...dates.warnings,
      ...tellLeftOut(service, head, given),
      ...(rows.length === given.length
        ? []
        : [`${given.length - rows.length} rows do not wait at ${service.name} any more, and were left out.`]),
    ],
  };
}

/** Columns with something in them that no field of a post is like. */
function tellLeftOut({ meanings }: Service, head: TableRow, given: readonly TableRow[]): string[] {
  const isTaken = (title: string): boolean => {
    const meaning = meanings[title.trim().toLowerCase()];
    return meaning !== undefined && (meaning !== "labels" || FIELDS.includes(meaning));
  };
  const left = head.cells.filter(
    (title, at) =>
      title.trim() !== "" && !isTaken(title) && given.some(({ cells }) => (cells[at] ?? "").trim() !== ""),
  );
  return left.length === 0 ? [] : [`Left out, as a post has nothing like it: ${left.map(quote).join(", ")}.`];
}

/** Of their column that a field of ours is made of. */
function titleOf(head: TableRow, places: (meaning: Meaning) => number[], field: string): string {
  const meaning = field === "mediaUrl" || field === "metadata.moreMedia" ? "media" : field;
  const [at] = ["scheduledAt", "caption", "media", "accountId", "labels"].includes(meaning)
    ? places(meaning as Meaning)
    : [];
  return at === undefined ? field : (head.cells[at] ?? field).trim();
}

/** One address or several, separated by commas or white space, or JSON of Postiz: `[{"path":"https://…"}]`. */
function readAddresses(cell: string): string[] {
  if (!cell.trim().startsWith("[")) return cell.split(/[,\s]+/).filter((part) => part !== "");
  try {
    const items: unknown = JSON.parse(cell);
    return Array.isArray(items) ? items.flatMap(addressOf) : [cell];
  } catch {
    return [cell];
  }
}

function addressOf(item: unknown): string[] {
  if (typeof item === "string") return [item];
  if (typeof item !== "object" || item === null) return [];
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
