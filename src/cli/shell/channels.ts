import * as z from "zod";
import { findChannel, listAccounts, namesAmong } from "../../channels/accounts/accounts.ts";
import { Account } from "../../domain/accounts/account.ts";
import { besidePlatform } from "../../domain/accounts/channel-names.ts";
import { type Weekday, WEEKDAYS } from "../../domain/accounts/schedule.ts";
import { readBound } from "../../domain/arguments/spoken-times.ts";
import { AppError } from "../../domain/errors.ts";
import type { SaidStatus } from "../../domain/health/status.ts";
import { plural, visibleText, quote } from "../../domain/text/plain-text.ts";
import { ChangedPost } from "../../domain/posts/post-body.ts";
import { METRICS, Report, ReportArgs, type ReportRow } from "../../domain/posts/results.ts";
import { findWeekday, readClock } from "../../domain/wall-clock.ts";
import { getStatus } from "../../reporting/health/status.ts";
import { readServerUrl } from "../../publishing/at-work.ts";
import { toCsv } from "../../reporting/results/report-csv.ts";
import { JSON_TOO, many, oneOf, row, type Row, whole } from "../command.ts";
import { parseList, toJsonText } from "../options.ts";
import { shortIds } from "./find-post.ts";
import { alwaysAsked, consentOf } from "./outcomes.ts";
import { inShell, type Shell, shellRow } from "./shell.ts";
import { type Column, toTable } from "./table.ts";
import { showList, toClock } from "./views.ts";

const CHANNEL_HELP = "its name, handle, id or platform";

/** The channel that is meant, and all there are. Throws `not_found`, `invalid`. */
async function channelOf({ ctx, call }: Shell, wanted: string) {
  const { accounts } = await listAccounts(call);
  return { accounts, account: findChannel(ctx, accounts, { wanted, field: "channel" }) };
}

export const ACCOUNTS: readonly Row[] = [
  shellRow({
    name: "accounts",
    about: "list the connected channels",
    takes: { "--json": JSON_TOO },
    answer: ({ call }) => listAccounts(call),
    view: showList,
  }),
  shellRow({
    name: "disconnect",
    about: "forget a channel's passwords and tokens (its posts stay)",
    takes: { "<channel>": CHANNEL_HELP, "--yes": "do not ask", "--json": JSON_TOO },
    async answer(at, { channel, yes }) {
      const { account } = await channelOf(at, channel);
      return at.use("disconnect_channel", { accountId: account.id }, consentOf(at, yes));
    },
    async view(at, answer) {
      const { id, name } = Account.parse(answer["account"]);
      return `${(await at.names()).get(id) ?? name} is disconnected. Its waiting posts stay, and fail unless it is connected again before their time.\n`;
    },
  }),
];

export const STATUS: Row = shellRow({
  name: "status",
  about: "show whether posts go out, what waits, and what needs you",
  takes: { "--json": JSON_TOO },
  help: "\nExample:\n  posthorn status",
  answer: ({ call }) => getStatus(call),
  view: async ({ ctx }, status) => linesOf(ctx, status, await readServerUrl(ctx)),
});

function linesOf({ platforms }: Shell["ctx"], status: SaidStatus, server: string | null): string {
  const { publisher, counts, nextDueAt, timezone } = status;
  const next = nextDueAt === null ? "" : `, the next at ${toClock(nextDueAt, timezone)} (${timezone})`;
  const count = (many: number, command: string, what = ""): string | null =>
    many === 0 ? null : `${many}${what} ("${command}" shows them)`;
  const names = (accounts: readonly HeldUpChannel[]): string | null =>
    accounts
      .map((one) => {
        const called = besidePlatform(one.name, platforms.get(one.provider)?.title ?? one.provider);
        return `${called}${one.status === "disconnected" ? ", which was disconnected" : ""}`;
      })
      .join("; ") || null;
  const lines: readonly (readonly [string, string | null])[] = [
    ["Posts go out", publisher.running ? "yes" : 'no: nothing publishes. "posthorn serve" does'],
    ["Server", server ?? "none runs"],
    ["Planned", `${counts.scheduled}${next}`],
    ["Drafts", count(counts.draftsWaiting, "posthorn drafts waiting", " waiting for a decision")],
    ["Late", count(counts.overdue, "posthorn list")],
    ["Failed", count(counts.failed, "posthorn list failed")],
    ["Unknown", count(counts.unknownOutcome, "posthorn list failed")],
    ["Reconnect", names(status.accountsToReconnect)],
    ["Paused", names(status.accountsPaused)],
  ];
  return lines.map(([title, text]) => (text === null ? "" : `${title.padEnd(13)} ${text}\n`)).join("");
}

type HeldUpChannel = SaidStatus["accountsPaused"][number] &
  Partial<Pick<SaidStatus["accountsToReconnect"][number], "status">>;

/** `--from` and `--to`, as lists of the service take them. Throws `invalid`. */
export function readBounds(
  at: Shell,
  { from = "", to = "" }: { readonly from: string | undefined; readonly to: string | undefined },
): { from?: string; to?: string } {
  return {
    ...(from !== "" && { from: readBound(from, { ...at.now(), field: "--from" }) }),
    ...(to !== "" && { to: readBound(to, { ...at.now(), field: "--to" }) }),
  };
}

const { by: BY, at: AT } = ReportArgs.shape;

export const REPORT: Row = row({
  name: "report",
  about: "show what worked: figures of published posts, at the same age of each",
  takes: {
    "--by <what>": oneOf("a row for each", BY.unwrap().options, "post"),
    "--on <channel>": many("only on this channel (may be repeated)"),
    "--label <label>": "only posts with this label",
    "--from <time>": "live from this date or time on (default: 30 days ago)",
    "--to <time>": "live until this date or time",
    "--metric <name>": oneOf("what rows are ordered by", METRICS),
    "--at <age>": oneOf("so long after a post went live", AT.unwrap().options, "24h"),
    "--limit <count>": whole("how many rows", 500, 20),
    "--csv": "print a table for spreadsheets",
    "--json": JSON_TOO,
  },
  help: `
Medians stand before sums, and posts says on how many each row rests. An empty cell is not known; it is no 0.

Examples:
  posthorn report
  posthorn report --by weekdayHour --on Blog --from 2026-09-01
  posthorn report --by label --metric clicks --at 7d --csv > labels.csv`,
  run: ({ on, csv, json, ...rest }, host) =>
    inShell(host, json, async (at) => {
      const args = { ...rest, ...readBounds(at, rest), ...(on.length > 0 && { accountId: on }) };
      const answer = Report.parse(await at.use("get_report", args));
      const names = await at.names();
      const show = csv === true ? toCsv : at.isRead ? showReport(at, rest.at) : toJsonText;
      at.terminal.print(show(answer, names));
    }),
});

type ReportView = (answer: Report, names: ReadonlyMap<string, string>) => string;

function showReport({ terminal }: Shell, age: string): ReportView {
  return (answer, names) => {
    const { rows, timezone, note, unavailable } = answer;
    if (rows.length === 0) return "No post of that time went live, or its figures are not there yet.\n";
    const missing = unavailable.map(
      ({ accountId, metric, reason }) => `No ${metric} of ${names.get(accountId) ?? accountId}: ${reason}\n`,
    );
    return `${toTable(columnsOf(answer, names), rows, terminal.columns)}
Figures ${age} after each post went live, times in ${timezone}.
${note === null ? "" : `${note}\n`}${missing.join("")}`;
  };
}

function columnsOf({ rows, metric }: Report, names: ReadonlyMap<string, string>): Column<ReportRow>[] {
  const shown = METRICS.filter((one) => rows.some(({ metrics }) => (metrics[one] ?? null) !== null));
  const ordered = shown.toSorted((a, b) => Number(b === metric) - Number(a === metric));
  const isPosts = rows.some(({ post }) => post !== undefined);
  const figure = (one: (typeof METRICS)[number], which: "median" | "sum"): Column<ReportRow>["of"] => {
    return ({ metrics }) => metrics[one]?.[which].toLocaleString("en") ?? "";
  };
  return [
    {
      title: isPosts ? "POST" : "ROW",
      of: ({ key, post }) => (post === undefined ? (names.get(key) ?? key) : post.text || key),
      isCut: true,
      isName: !isPosts,
    },
    isPosts
      ? {
          title: "CHANNEL",
          of: ({ post }) => names.get(post?.accountId ?? "") ?? null,
          isCut: true,
          isName: true,
        }
      : { title: "POSTS", of: ({ sampled, posts }) => `${sampled} of ${posts}` },
    ...ordered.flatMap((one) => [
      { title: one.toUpperCase(), of: figure(one, "median") },
      ...(isPosts ? [] : [{ title: "SUM", of: figure(one, "sum") }]),
    ]),
  ];
}

const Updated = z.object({
  account: Account,
  moved: z.array(ChangedPost),
  warnings: z.array(z.string()).default([]),
});

async function update(at: Shell, args: object, consent = alwaysAsked(at)): Promise<z.infer<typeof Updated>> {
  const updated = Updated.parse(await at.use("update_account", args, consent));
  return { ...updated, warnings: updated.warnings.map(at.words) };
}

export const SLOTS: readonly Row[] = [
  row({
    name: "slots",
    about: "show or set when a channel's posts go out that ask for the next slot",
    takes: {
      "<channel>": CHANNEL_HELP,
      "[slots...]": 'days and times, such as "mon-fri 09:30,17:00"',
      "--timezone <zone>": "zone of the times (default: the one it has, else POSTHORN_TIMEZONE)",
      "--gap <minutes>": whole("least time between a slot and any waiting post", 10_080),
      "--none": "take all its slots away",
      "--move": "move posts that wait in slots to the new ones",
      "--dry-run": "only show what would be",
      "--json": JSON_TOO,
    },
    help: `
Examples:
  posthorn slots Blog "mon-fri 09:30,17:00" "sat,sun 11:00" --timezone Europe/Berlin
  posthorn slots Blog "daily 9:00" --gap 60 --move
  posthorn slots Blog
  posthorn post "Hello" --on Blog --at "next slot"`,
    async run({ channel, slots, timezone, gap, none, move, dryRun, json }, host) {
      const given = slots.map(readSlots);
      if (none === true && given.length > 0)
        throw new AppError("invalid", "--none: takes all slots away. Give either it or slots.");
      await inShell(host, json, async (at) => {
        const { account, accounts } = await channelOf(at, channel);
        const isChanged = given.length > 0 || timezone !== undefined || gap !== undefined;
        const before = account.schedule;
        const schedule = {
          timezone: timezone ?? before?.timezone,
          slots: given.length > 0 ? given : (before?.slots ?? []),
          minGapMinutes: gap ?? before?.minGapMinutes,
        };
        const args = {
          accountId: account.id,
          ...(none === true ? { schedule: null } : isChanged && { schedule }),
          move,
          dryRun,
        };
        const isAsked = none === true || isChanged || move === true;
        const result = isAsked ? await update(at, args) : { account, moved: [] };
        if (!at.isRead) return at.terminal.print(toJsonText(result));
        const zone = result.account.schedule?.timezone ?? at.timezone;
        const ids = shortIds(result.moved.map(({ id }) => id));
        const moved = result.moved.map(
          ({ id, scheduledAt }) => `${ids.get(id) ?? id} moves to ${toClock(scheduledAt, zone)}.\n`,
        );
        if (dryRun === true) at.terminal.print("Nothing is changed. This is how it would be:\n");
        const name = namesAmong(at.ctx, accounts).get(account.id) ?? account.name;
        at.terminal.print(`${describeSlots(result.account, name)}${moved.join("")}`);
      });
    },
  }),
  pauseRow("pause", "let nothing of a channel go out, until it is resumed", {}),
  pauseRow("resume", "let a paused channel's posts go out again", { "--yes": "do not ask" }),
];

function pauseRow(name: "pause" | "resume", about: string, more: { readonly "--yes"?: string }): Row {
  return shellRow({
    name,
    about,
    takes: { "[channel]": `${CHANNEL_HELP} (default: all)`, "--json": JSON_TOO, ...more },
    async answer(at, { channel, ...given }) {
      const chosen =
        channel === undefined
          ? (await listAccounts(at.call)).accounts
          : [(await channelOf(at, channel)).account];
      const accounts: Account[] = [];
      const warnings: string[] = [];
      // The person agrees already to what a resumed channel sends, and to what is too late.
      const consent = consentOf(at, "yes" in given && given.yes === true ? true : undefined);
      for (const { id } of chosen) {
        const done = await update(at, { accountId: id, paused: name === "pause" }, consent);
        accounts.push(done.account);
        warnings.push(...done.warnings);
      }
      return { accounts, ...(warnings.length > 0 && { warnings }) };
    },
    async view(at, { accounts, warnings = [] }) {
      const called = await at.names();
      const names = accounts.map(({ id }) => visibleText(called.get(id) ?? id)).join(", ");
      const [is, its] = accounts.length === 1 ? ["is", "its"] : ["are", "their"];
      const late =
        warnings.length === 0 ? `None of ${its} posts is late.` : "Late posts go out one after the other.";
      const told =
        name === "pause"
          ? `${names} ${is} paused. Nothing goes out until "posthorn resume".`
          : `${names} ${is} not paused. ${late}`;
      return accounts.length === 0 ? "No channel is connected yet.\n" : `${[told, ...warnings].join(" ")}\n`;
    },
  });
}

function describeSlots({ schedule }: Account, name: string): string {
  const paused = schedule?.paused === true ? `${visibleText(name)} is paused.\n` : "";
  if (schedule === null || schedule.slots.length === 0)
    return `${visibleText(name)} has no slots. Set some: posthorn slots ${JSON.stringify(name)} "mon-fri 09:30"\n${paused}`;
  const gap =
    schedule.minGapMinutes === 0
      ? ""
      : `At least ${plural(schedule.minGapMinutes, "minute")} from any waiting post.\n`;
  const lines = schedule.slots.map(({ days, times }) => `${days.join(",")}  ${times.join(",")}\n`).join("");
  return `${lines}Times are in ${schedule.timezone}.\n${gap}${paused}`;
}

/** Reads `mon-fri,sun 9:30,17:00`. Throws `invalid` with an example. */
function readSlots(text: string): { days: Weekday[]; times: string[] } {
  const [days = "", ...times] = text.trim().toLowerCase().split(/\s+/);
  const read = parseList(times.join(",")).map((time) => readClock(time) ?? "");
  const found = parseList(days).map(readDays);
  const isRight = found.length > 0 && found.every((one) => one !== null) && !read.includes("");
  if (!isRight || read.length === 0)
    throw new AppError(
      "invalid",
      `slots: ${quote(text)} is not days and times. Write them like "mon-fri 09:30,17:00", "sat,sun 11:00" or "daily 9:00".`,
    );
  const all = found.flatMap((one) => one ?? []);
  return { days: WEEKDAYS.filter((day) => all.includes(day)), times: [...new Set(read)].sort() };
}

function readDays(text: string): readonly Weekday[] | null {
  if (text === "daily") return WEEKDAYS;
  const [from, to = from, ...more] = text
    .split("-")
    .map((day) => WEEKDAYS.findIndex((one) => one === findWeekday(day)));
  if (from === undefined || to === undefined || from < 0 || to < 0 || more.length > 0) return null;
  // From Friday to Monday there is a Sunday in between.
  return from <= to ? WEEKDAYS.slice(from, to + 1) : [...WEEKDAYS.slice(from), ...WEEKDAYS.slice(0, to + 1)];
}
