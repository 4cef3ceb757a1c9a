import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { plural } from "../../domain/plain-text.ts";
import { ImportAnswer, type ImportedRow, MAX_SHOWN_ROWS } from "../../domain/posts/post-import.ts";
import { quote } from "../../domain/time.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { namesOfAccounts } from "../../accounts/accounts.ts";
import { plainCall } from "../../context.ts";
import { decodeTable } from "../../imports/read-table.ts";
import type { Host, Session } from "../host.ts";
import { toJsonText } from "../options.ts";
import { askAt } from "./outcomes.ts";
import { shellWordsOf } from "./words.ts";
import { toTable } from "./table.ts";
import { toClock } from "./views.ts";

interface ImportOptions {
  readonly on?: string;
  readonly timezone?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

interface Importing {
  readonly host: Host;
  readonly session: Session;
  readonly options: ImportOptions;
}

/** Rows and warnings of a screen. Everything bad is told. */
const MAX_LINES = 20;

export function addImportCommand(program: Command, host: Host): void {
  program
    .command("import")
    .description("schedule the posts of a table (CSV), all or none")
    .argument("<file>", "the table, or - to read it from standard input")
    .option("--on <channel>", "channel of rows that name none")
    .option(
      "--timezone <zone>",
      "zone of times without an offset (default: POSTHORN_TIMEZONE, or this machine's)",
    )
    .option("--dry-run", "only show what would be made")
    .option("--yes", "do not ask")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
The first row names the columns: accountId, scheduledAt, caption, mediaUrl, metadata.title, … or as people call them: channel,
date, time, text, image, link.
Tables of Buffer, Hootsuite and Postiz are recognized. It shows what would be made and every bad row, asks, and then makes
the posts. Where no person can be asked, it makes them only with --yes. A row that was imported before is not made again.

Examples:
  posthorn import posts.csv
  posthorn import hootsuite.csv --on bluesky --timezone Europe/Berlin --yes`,
    )
    .action((file: string, options: ImportOptions) => importTable(host, file, options));
}

async function importTable(host: Host, file: string, options: ImportOptions): Promise<void> {
  const csv = await readSource(host, file);
  await using session = await host.openSession();
  const importing = { host, session, options };
  if (options.yes === true && options.dryRun !== true) return await make(importing, csv, print);
  const found = await run(importing, { csv, dryRun: true });
  await print(importing, found);
  assertGood(found);
  const { new: fresh } = found.counts;
  if (options.dryRun === true || fresh === 0) return;
  if (!host.terminal.isInteractive)
    throw new AppError("conflict", "Nothing was imported. Give --yes to make the posts.");
  await askAt(host)({ text: `Import ${plural(fresh, "post")}?`, token: "" });
  await make(importing, csv, printCounts);
}

async function make(
  importing: Importing,
  csv: string,
  show: (importing: Importing, answer: ImportAnswer) => Promise<void>,
): Promise<void> {
  const done = await run(importing, { csv, dryRun: false });
  await show(importing, done);
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
  { host, session, options }: Importing,
  given: { readonly csv: string; readonly dryRun: boolean },
): Promise<ImportAnswer> {
  const args = { ...given, accountId: options.on, timezone: options.timezone };
  const { result, sentences } = await session.toolbox.call("import_posts", args, shellCaller(), {
    signal: host.stopSignal,
    // The person was asked here, with the table before them.
    isConfirmed: true,
  });
  const answer = ImportAnswer.parse(result);
  const inWords = shellWordsOf(sentences);
  return {
    ...answer,
    errors: answer.errors.map((one) => ({ ...one, error: inWords(one.error) })),
    warnings: answer.warnings.map((one) => ({ ...one, warning: inWords(one.warning) })),
  };
}

async function print(importing: Importing, answer: ImportAnswer): Promise<void> {
  const { host, session, options } = importing;
  const { terminal } = host;
  if (!terminal.isScreen || options.json === true) return printCounts(importing, answer);
  const { ctx } = session;
  const names = await namesOfAccounts(plainCall(ctx, shellCaller()));
  const timezone = options.timezone ?? ctx.settings.timezone;
  const shown = answer.rows.slice(0, MAX_LINES);
  const table = toTable<ImportedRow>(
    [
      { title: "LINE", of: ({ line }) => String(line) },
      { title: "TIME", of: ({ scheduledAt }) => toClock(scheduledAt, timezone) },
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
  await printCounts(importing, answer);
}

async function printCounts({ host, options }: Importing, answer: ImportAnswer): Promise<void> {
  const { terminal } = host;
  if (!terminal.isScreen || options.json === true) return terminal.print(toJsonText(answer));
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
