import { type Command, Option } from "commander";
import { METRICS, Report, ReportArgs, type ReportRow } from "../../domain/posts/results.ts";
import { namesOfAccounts } from "../../accounts/accounts.ts";
import { plainCall } from "../../context.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { toCsv } from "../../results/report-csv.ts";
import type { Host } from "../host.ts";
import { collect, toJsonText, wholeNumber } from "../options.ts";
import { type Column, toTable } from "./table.ts";
import { readBounds } from "./bounds.ts";

interface ReportOptions {
  readonly on: readonly string[];
  readonly label?: string;
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly metric?: string;
  readonly at: string;
  readonly limit: number;
  readonly csv?: true;
  readonly json?: true;
}

const { by: BY, at: AT } = ReportArgs.shape;

export function addReportCommand(program: Command, host: Host): void {
  program
    .command("report")
    .description("show what worked: figures of published posts, at the same age of each")
    .addOption(new Option("--by <what>", "a row for each").choices(BY.unwrap().options).default("post"))
    .option("--on <channel>", "only on this channel (may be repeated)", collect, [])
    .option("--label <label>", "only posts with this label")
    .option("--from <time>", "live from this date or time on (default: 30 days ago)")
    .option("--to <time>", "live until this date or time")
    .addOption(new Option("--metric <name>", "what rows are ordered by").choices(METRICS))
    .addOption(
      new Option("--at <age>", "so long after a post went live").choices(AT.unwrap().options).default("24h"),
    )
    .option("--limit <count>", "how many rows", wholeNumber(500), 20)
    .option("--csv", "print a table for spreadsheets")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
Medians stand before sums, and posts says on how many each row rests. An empty cell is not known; it is no 0.

Examples:
  posthorn report
  posthorn report --by weekdayHour --on Blog --from 2026-09-01
  posthorn report --by label --metric clicks --at 7d --csv > labels.csv`,
    )
    .action((options: ReportOptions) => report(host, options));
}

async function report(host: Host, options: ReportOptions): Promise<void> {
  const { on, csv, json, ...rest } = options;
  await using session = await host.openSession();
  const call = plainCall(session.ctx, shellCaller(), host.stopSignal);
  const args = { ...rest, ...readBounds(session, options), ...(on.length > 0 && { accountId: on }) };
  const { result } = await session.toolbox.call("get_report", args, call.caller, { signal: call.signal });
  const answer = Report.parse(result);
  const names = await namesOfAccounts(call);
  const { terminal } = host;
  if (csv === true) return terminal.print(toCsv(answer, names));
  if (!terminal.isScreen || json === true) return terminal.print(toJsonText(answer));
  if (answer.rows.length === 0)
    return terminal.print("No post of that time went live, or its figures are not there yet.\n");
  terminal.print(toTable(columnsOf(answer, names), answer.rows, terminal.columns));
  terminal.print(`\nFigures ${rest.at} after each post went live, times in ${answer.timezone}.\n`);
  if (answer.note !== null) terminal.print(`${answer.note}\n`);
  for (const { accountId, metric, reason } of answer.unavailable)
    terminal.print(`No ${metric} of ${names.get(accountId) ?? accountId}: ${reason}\n`);
}

function columnsOf({ rows, metric }: Report, names: ReadonlyMap<string, string>): Column<ReportRow>[] {
  const shown = METRICS.filter((one) => rows.some(({ metrics }) => (metrics[one] ?? null) !== null));
  const ordered = shown.toSorted((a, b) => Number(b === metric) - Number(a === metric));
  const isPosts = rows.some(({ post }) => post !== undefined);
  return [
    {
      title: isPosts ? "POST" : "ROW",
      of: ({ key, post }) => (post === undefined ? (names.get(key) ?? key) : post.text || key),
      isCut: true,
      isName: !isPosts,
    },
    ...(isPosts
      ? [
          {
            title: "CHANNEL",
            of: ({ post }: ReportRow) => names.get(post?.accountId ?? "") ?? null,
            isCut: true,
            isName: true,
          },
        ]
      : [{ title: "POSTS", of: ({ sampled, posts }: ReportRow) => `${sampled} of ${posts}` }]),
    ...ordered.flatMap((one) => [
      {
        title: one.toUpperCase(),
        of: ({ metrics }: ReportRow) => metrics[one]?.median.toLocaleString("en") ?? "",
      },
      ...(isPosts
        ? []
        : [{ title: "SUM", of: ({ metrics }: ReportRow) => metrics[one]?.sum.toLocaleString("en") ?? "" }]),
    ]),
  ];
}
