import * as z from "zod";
import type { Command } from "commander";
import { Account } from "../../domain/accounts/account.ts";
import { type Weekday, WEEKDAYS } from "../../domain/accounts/schedule.ts";
import { AppError } from "../../domain/errors.ts";
import { plural, visibleText } from "../../domain/plain-text.ts";
import { quote } from "../../domain/time.ts";
import { findWeekday, readClock } from "../../domain/wall-clock.ts";
import { ChangedPost } from "../../domain/posts/post-body.ts";
import { plainCall } from "../../context.ts";
import { findChannel, listAccounts, namesAmong } from "../../accounts/accounts.ts";
import { shellCaller } from "../../access/api-keys.ts";
import type { Host, Session } from "../host.ts";
import type { ConfirmOptions } from "../../toolkit/confirm.ts";
import { alwaysAsked, consentOf } from "./outcomes.ts";
import { parseList, printResult, toJsonText, wholeNumber } from "../options.ts";
import { shortIds } from "./find-post.ts";
import { forShell } from "./shell-words.ts";
import { toClock } from "./views.ts";

interface SlotOptions {
  readonly timezone?: string;
  readonly gap?: number;
  readonly none?: true;
  readonly move?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

const CHANNEL_HELP = "its name, handle, id or platform";

export function addSlotCommands(program: Command, host: Host): void {
  program
    .command("slots")
    .description("show or set when a channel's posts go out that ask for the next slot")
    .argument("<channel>", CHANNEL_HELP)
    .argument("[slots...]", 'days and times, such as "mon-fri 09:30,17:00"')
    .option("--timezone <zone>", "zone of the times (default: the one it has, else POSTHORN_TIMEZONE)")
    .option("--gap <minutes>", "least time between a slot and any waiting post", wholeNumber(10_080))
    .option("--none", "take all its slots away")
    .option("--move", "move posts that wait in slots to the new ones")
    .option("--dry-run", "only show what would be")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText("after", SLOT_EXAMPLES)
    .action((channel: string, slots: readonly string[], options: SlotOptions) =>
      setSlots(host, { channel, slots, options }),
    );
  const addSwitch = (name: "pause" | "resume", description: string): Command =>
    program
      .command(name)
      .description(description)
      .argument("[channel]", `${CHANNEL_HELP} (default: all)`)
      .option("--json", "print JSON on a terminal, too")
      .action((channel: string | undefined, { json, yes }: { json?: true; yes?: true }) =>
        pause(host, { name, channel, json, yes }),
      );
  addSwitch("pause", "let nothing of a channel go out, until it is resumed");
  addSwitch("resume", "let a paused channel's posts go out again").option("--yes", "do not ask");
}

const SLOT_EXAMPLES = `
Examples:
  posthorn slots Blog "mon-fri 09:30,17:00" "sat,sun 11:00" --timezone Europe/Berlin
  posthorn slots Blog "daily 9:00" --gap 60 --move
  posthorn slots Blog
  posthorn post "Hello" --on Blog --at "next slot"`;

const Updated = z.object({
  account: Account,
  moved: z.array(ChangedPost),
  warnings: z.array(z.string()).optional(),
});

async function update(
  { host, session, consent }: { host: Host; session: Session; consent: ConfirmOptions },
  args: object,
): Promise<z.infer<typeof Updated>> {
  const asked = { signal: host.stopSignal, ...consent };
  const { result } = await session.toolbox.call("update_account", args, shellCaller(), asked);
  return Updated.parse(result);
}

async function setSlots(
  host: Host,
  { channel, slots, options }: { channel: string; slots: readonly string[]; options: SlotOptions },
): Promise<void> {
  const given = slots.map(readSlots);
  const { timezone, gap, none, move, dryRun, json } = options;
  if (none === true && given.length > 0)
    throw new AppError("invalid", "--none: takes all slots away. Give either it or slots.");
  await using session = await host.openSession();
  const { accounts } = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
  const account = findChannel(session.ctx, accounts, { wanted: channel, field: "channel" });
  const isChanged = given.length > 0 || timezone !== undefined || gap !== undefined;
  const before = account.schedule;
  const schedule = {
    timezone: timezone ?? before?.timezone,
    slots: given.length > 0 ? given : (before?.slots ?? []),
    minGapMinutes: gap ?? before?.minGapMinutes,
  };
  const args = {
    accountId: account.id,
    ...(none === true ? { schedule: null } : isChanged ? { schedule } : {}),
    ...(move === true ? { move } : {}),
    ...(dryRun === true ? { dryRun } : {}),
  };
  const isAsked = none === true || isChanged || move === true;
  const result = isAsked
    ? await update({ host, session, consent: alwaysAsked(host, session) }, args)
    : { account, moved: [] };
  if (!host.terminal.isScreen || json === true) return host.terminal.print(toJsonText(result));
  const { timezone: own } = session.ctx.settings;
  const at = result.account.schedule?.timezone ?? own;
  const ids = shortIds(result.moved.map(({ id }) => id));
  const moved = result.moved.map(
    ({ id, scheduledAt }) => `${ids.get(id) ?? id} moves to ${toClock(scheduledAt, at)}.\n`,
  );
  if (dryRun === true) host.terminal.print("Nothing is changed. This is how it would be:\n");
  host.terminal.print(
    `${tellSlots(result.account, namesAmong(session.ctx, accounts).get(account.id) ?? account.name)}${moved.join("")}`,
  );
}

interface Switch {
  readonly name: "pause" | "resume";
  readonly channel: string | undefined;
  readonly json: true | undefined;
  /** The person agrees already to what a resumed channel sends, and to what is too late. */
  readonly yes: true | undefined;
}

async function pause(host: Host, { name, channel, json, yes }: Switch): Promise<void> {
  await using session = await host.openSession();
  const { accounts } = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
  const chosen =
    channel === undefined
      ? accounts
      : [findChannel(session.ctx, accounts, { wanted: channel, field: "channel" })];
  const changed: Account[] = [];
  const told: string[] = [];
  for (const { id } of chosen) {
    const consent = consentOf(host, session, yes === true);
    const args = { accountId: id, paused: name === "pause" };
    const { account, warnings = [] } = await update({ host, session, consent }, args);
    changed.push(account);
    told.push(...warnings.map((warning) => forShell(warning)));
  }
  const called = namesAmong(session.ctx, accounts);
  const names = changed.map(({ id }) => visibleText(called.get(id) ?? id)).join(", ");
  const [is, its] = changed.length === 1 ? ["is", "its"] : ["are", "their"];
  const sentence =
    changed.length === 0
      ? "No channel is connected yet."
      : name === "pause"
        ? [`${names} ${is} paused. Nothing goes out until "posthorn resume".`, ...told].join(" ")
        : [
            `${names} ${is} not paused. ${told.length === 0 ? `None of ${its} posts is late.` : "Late posts go out one after the other."}`,
            ...told,
          ].join(" ");
  printResult(host, {
    json,
    sentence,
    result: { accounts: changed, ...(told.length === 0 ? {} : { warnings: told }) },
  });
}

function tellSlots({ schedule }: Account, name: string): string {
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
