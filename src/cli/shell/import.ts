import { readFile } from "node:fs/promises";
import { AppError } from "../../domain/errors.ts";
import { plural, quote } from "../../domain/text/plain-text.ts";
import { ImportAnswer, type ImportedRow, MAX_SHOWN_ROWS } from "../../domain/posts/post-import.ts";
import { decodeTable } from "../../posts/imports/read-table.ts";
import { type CommandArgs, JSON_TOO, type Row, row } from "../command.ts";
import type { Host } from "../host.ts";
import { toJsonText } from "../options.ts";
import { askAt } from "./outcomes.ts";
import { inShell, type Shell } from "./shell.ts";
import { toTable } from "./table.ts";
import { toClock } from "./views.ts";

/** Rows and warnings of a screen. Everything bad is told. */
const MAX_LINES = 20;

const IMPORT = {
  "<file>": "the table, or - to read it from standard input",
  "--on <channel>": "channel of rows that name none",
  "--timezone <zone>": "zone of times without an offset (default: POSTHORN_TIMEZONE, or this machine's)",
  "--dry-run": "only show what would be made",
  "--yes": "do not ask",
  "--json": JSON_TOO,
} as const;

type Importing = CommandArgs<typeof IMPORT>;

export const IMPORTING: Row = row({
  name: "import",
  about: "schedule the posts of a table (CSV), all or none",
  takes: IMPORT,
  help: `
The first row names the columns: accountId, scheduledAt, caption, mediaUrl, metadata.title, … or as people call them: channel,
date, time, text, image, link.
Tables of Buffer, Hootsuite and Postiz are recognized. It shows what would be made and every bad row, asks, and then makes
the posts. Where no person can be asked, it makes them only with --yes. A row that was imported before is not made again.

Examples:
  posthorn import posts.csv
  posthorn import hootsuite.csv --on bluesky --timezone Europe/Berlin --yes`,
  async run(given, host) {
    const csv = await readSource(host, given.file);
    await inShell(host, given.json, (at) => importTable(at, given, csv));
  },
});

async function importTable(at: Shell, given: Importing, csv: string): Promise<void> {
  const isAgreed = given.yes === true && given.dryRun !== true;
  const found = await run(at, given, { csv, dryRun: !isAgreed });
  if (at.isRead) await print(at, given, found);
  printCounts(at, found);
  assertGood(found);
  const { new: fresh } = found.counts;
  if (isAgreed || given.dryRun === true || fresh === 0) return;
  if (!at.terminal.isInteractive)
    throw new AppError("conflict", "Nothing was imported. Give --yes to make the posts.");
  await askAt(at.host)({ text: `Import ${plural(fresh, "post")}?`, token: "" });
  const done = await run(at, given, { csv, dryRun: false });
  printCounts(at, done);
  assertGood(done);
}

function assertGood({ counts }: ImportAnswer): void {
  if (counts.bad > 0)
    throw new AppError("invalid", "Nothing was imported. Mend those rows, then import the table again.");
}

async function readSource({ terminal }: Host, file: string): Promise<string> {
  if (file === "-") return terminal.readAll();
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new AppError("not_found", `The file ${quote(file)} cannot be read. Check its name.`, { cause });
  });
  return decodeTable(bytes);
}

async function run(
  at: Shell,
  { on: accountId, timezone }: Importing,
  given: { readonly csv: string; readonly dryRun: boolean },
): Promise<ImportAnswer> {
  // The person is asked here, with the table before them.
  const isConfirmed = true;
  const answer = ImportAnswer.parse(
    await at.use("import_posts", { ...given, accountId, timezone }, { isConfirmed }),
  );
  return {
    ...answer,
    errors: answer.errors.map((one) => ({ ...one, error: at.words(one.error) })),
    warnings: answer.warnings.map((one) => ({ ...one, warning: at.words(one.warning) })),
  };
}

async function print(at: Shell, given: Importing, answer: ImportAnswer): Promise<void> {
  const { terminal } = at;
  const names = await at.names();
  const timezone = given.timezone ?? at.timezone;
  const shown = answer.rows.slice(0, MAX_LINES);
  const table = toTable<ImportedRow>(
    [
      { title: "LINE", of: ({ line }) => String(line) },
      {
        title: "TIME",
        of: ({ scheduledAt }) => (scheduledAt === null ? "" : toClock(scheduledAt, timezone)),
      },
      {
        title: "CHANNEL",
        of: ({ accountId }) => names.get(accountId) ?? accountId,
        isCut: true,
        isName: true,
      },
      { title: "TEXT", of: ({ caption, mediaUrl }) => caption ?? mediaUrl, isCut: true },
      { title: "", of: ({ isNew }) => (isNew ? "new" : "there already") },
    ],
    shown,
    terminal.columns,
  );
  if (shown.length > 0) terminal.print(`${table}Times are in ${timezone}.\n`);
  const more = answer.counts.rows - answer.counts.bad - repeatedOf(answer) - shown.length;
  if (more > 0) terminal.print(`… and ${more} more\n`);
  for (const { line, column, error } of answer.errors) {
    const isNamed = column === null || error.startsWith(`${column}:`);
    terminal.print(`Line ${line}${isNamed ? "" : `, ${column}`}: ${error}\n`);
  }
  for (const { line, rows: count, warning } of answer.warnings.slice(0, MAX_LINES)) {
    const where =
      line === null || warning.startsWith(`Line ${line} `)
        ? ""
        : `Line ${line}${count > 1 ? ` and ${count - 1} more` : ""}: `;
    terminal.print(`${where}${warning}\n`);
  }
}

function printCounts({ terminal, isRead }: Shell, answer: ImportAnswer): void {
  if (!isRead) return terminal.print(toJsonText(answer));
  const { counts, dryRun, source } = answer;
  const from = source === null ? "" : ` It is a table of ${source}.`;
  const repeated = repeatedOf(answer);
  const told = [
    dryRun ? `${counts.new} would be made` : `${answer.imported} made`,
    `${counts.existing - repeated} there already${isWhole(answer) ? "" : " or twice in the table"}`,
    ...(repeated === 0 ? [] : [`${repeated} twice in the table`]),
    `${counts.bad} bad`,
  ];
  terminal.print(`${plural(counts.rows, "row")}: ${told.join(", ")}.${from}\n`);
}

/** Whether the answer shows every good row. */
function isWhole({ rows }: ImportAnswer): boolean {
  return rows.length < MAX_SHOWN_ROWS;
}

/** Rows that say the same as another one of the table; of a long table it is not told. */
function repeatedOf(answer: ImportAnswer): number {
  const { counts, rows } = answer;
  return isWhole(answer) ? counts.rows - counts.bad - rows.length : 0;
}
