import { meantBound, meantDay } from "../domain/arguments/meant-times.ts";
import type { Quota } from "../domain/accounts/account.ts";
import { Message, named, type Said, say } from "../domain/sentences.ts";
import { AppError, describeWidened } from "../domain/errors.ts";
import { plural, quote } from "../domain/text/plain-text.ts";
import { canReachAccount } from "../domain/permissions.ts";
import type { ChangedPost, PostsChange } from "../domain/posts/post-body.ts";
import { conflictSentence } from "../domain/posts/post-states.ts";
import { readPlan } from "../domain/accounts/schedule.ts";
import { DAY, MINUTE, formatTime, toIso, toZoned, EXAMPLE_DAY } from "../domain/time.ts";
import { askWhich, parseBound, warnOfFar } from "../domain/parse-time.ts";
import { atWallTime, readWallClock } from "../domain/wall-clock.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Tx } from "../store/engine/store.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { SamePost } from "../store/queries/channel-posts.ts";
import { findPosts, postNotFound, transition } from "../store/queries/posts.ts";
import { commitOnce } from "../access/idempotency.ts";
import { findAccount } from "../channels/accounts/accounts.ts";
import { firstWords } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { warnOfQuotas } from "../publishing/quotas.ts";
import { listLatePosts, listPosts } from "./list-posts.ts";
import { describeUnchanged } from "./outcomes.ts";
import { movedTo } from "./post-form.ts";
import { readStanding } from "./posts.ts";
import { prepareForm } from "./prepare.ts";
import { tryOut } from "./store-posts.ts";
import { untilUnchanged, writeIfUnchanged } from "./update-post.ts";
import {
  warnOfAccess,
  warnOfDone,
  warnOfHeld,
  warnOfKept,
  warnOfNeighbour,
  warnOfSameText,
  warnOfSilence,
  warnOfTwin,
} from "./warnings.ts";

/** Most posts of one change. */
const MAX_POSTS = 500;

/** So many are named in a refusal. */
const MAX_NAMED = 10;

interface ChangedPosts {
  readonly changed: ChangedPost[];
  readonly warnings: Said[];
  /** It is only shown what would be. */
  readonly dryRun?: true;
}

/** A waiting post and what is to become of it. */
export interface PlannedChange {
  readonly row: PostRow;
  readonly account: AccountRow;
  /** Null: it is cancelled. */
  readonly scheduledAt: number | null;
  readonly quotas: readonly Quota[];
}

/**
 * Moves or cancels waiting posts, all or none. `tell`: warnings of what is not among them. Throws `invalid` for an unclear wish and for a time in the past,
 * `not_found` for a post that is not there, `conflict` for one that does not wait.
 */
export async function changePosts(
  call: CallContext,
  input: PostsChange,
  tell: (planned: readonly PlannedChange[]) => Promise<readonly Said[]> = async () => [],
): Promise<ChangedPosts> {
  const { ctx } = call;
  return untilUnchanged("These posts are", async () => {
    const planned = await planChange(call, input);
    const moved = planned.flatMap(({ scheduledAt: at }) => (at === null ? [] : [at]));
    const silence = await warnOfSilence(call, moved);
    const others = [...(await describeUnchanged(call, input)), ...(await tell(planned)), ...silence];
    const besides = [...describeEmpty(call, input), ...describeStaying(call, input, planned), ...others];
    const change = async (tx: Tx): Promise<ChangedPosts> => {
      const { changed, warnings } = await writeAll(ctx, tx, planned);
      return { changed, warnings: [...warnings, ...besides] };
    };
    if (input.dryRun === true) return { ...(await tryOut(ctx, change)), dryRun: true };
    besides.push(...warnOfDone(call));
    const answer = await commitOnce(call, change);
    ctx.wakePublisher();
    for (const { row, scheduledAt } of planned) if (scheduledAt === null) await ctx.media.release(row.id);
    return answer;
  });
}

/** Which posts, and what becomes of each; changes nothing. Throws as `changePosts` does. */
export async function planChange(call: CallContext, input: PostsChange): Promise<PlannedChange[]> {
  const { ctx, caller } = call;
  assertClear(input);
  if (input.dryRun !== true) assertNotWidened(call, input);
  const rows = await (input.ids === undefined
    ? findFitting(call, input)
    : findNamed(call, input.ids, input.cancel === true ? "cancel" : "edit"));
  if (input.toDay !== undefined) assertDay(ctx, input.toDay, rows);
  const accounts = new Map<string, AccountRow>();
  for (const { account_id: id } of rows)
    if (!accounts.has(id)) accounts.set(id, await findAccount(ctx, caller, id));
  const problems: Said[] = [];
  const planned: PlannedChange[] = [];
  for (const row of rows) {
    const account = accounts.get(row.account_id);
    if (account === undefined) continue;
    const at = input.cancel === true ? null : newTime(ctx, input, { row, account });
    const one =
      at === null ? { row, account, scheduledAt: at, quotas: [] } : await planMove(ctx, row, account, at);
    if (typeof one === "string" || one instanceof Message) problems.push(named(one, nameOf(row)));
    else planned.push(one);
  }
  refuseEach("invalid", problems);
  return planned;
}

/** By the clock of the channel's slots, else of the owner's zone, as slots and series go by it. */
function newTime(
  { settings }: AppContext,
  { shiftMinutes = 0, toDay }: PostsChange,
  { row, account }: Pick<PlannedChange, "row" | "account">,
): number {
  const { scheduled_at: at } = row;
  if (toDay === undefined) return at + shiftMinutes * MINUTE;
  const timezone = account.schedule === null ? settings.timezone : readPlan(account.schedule).timezone;
  const { date, time } = readWallClock(at, timezone);
  return date === toDay ? at : atWallTime({ date: toDay, time }, timezone) + (at % MINUTE);
}

/** Or why it may not be at that time: it has passed, or the platform does not take it. */
async function planMove(
  ctx: AppContext,
  row: PostRow,
  account: AccountRow,
  scheduledAt: number,
): Promise<PlannedChange | Said> {
  if (scheduledAt < ctx.clock.now()) return `${toZoned(scheduledAt, ctx.settings.timezone)} is in the past.`;
  try {
    const { capabilities } = await prepareForm(ctx, account, { given: { scheduledAt }, before: row });
    return { row, account, scheduledAt, quotas: capabilities.quotas };
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid") return error.said;
    throw error;
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function assertClear({ ids, accountId, label, from, to, shiftMinutes, toDay, cancel }: PostsChange): void {
  const isFiltered = [accountId, label, from, to].some((one) => one !== undefined);
  if ((ids !== undefined) === isFiltered)
    throw new AppError(
      "invalid",
      "Which posts? Give either ids, or a filter of accountId, label, from and to.",
    );
  const wishes = [
    ...(shiftMinutes !== undefined && shiftMinutes !== 0 ? ["shiftMinutes"] : []),
    ...(toDay === undefined ? [] : ["toDay"]),
    ...(cancel === true ? ["cancel"] : []),
  ];
  const given = wishes.length < 2 ? "" : ` ${wishes.join(" and ")} are given together.`;
  if (wishes.length !== 1)
    throw new AppError(
      "invalid",
      `What is to be done with them?${given} Give one of shiftMinutes (not 0), toDay, and cancel: true.`,
    );
}

/** What chooses the posts. */
const FILTERS: readonly string[] = [
  "ids",
  "accountId",
  "label",
  "from",
  "to",
] satisfies (keyof PostsChange)[];

function widenedBy({ leftEmpty }: CallContext, { ids }: PostsChange): ReturnType<typeof describeWidened> {
  return ids === undefined ? describeWidened(FILTERS, leftEmpty) : null;
}

/** What a slip left empty would else change the posts of every channel. */
function assertNotWidened(call: CallContext, input: PostsChange): void {
  const widened = widenedBy(call, input);
  if (widened === null) return;
  const { field, what } = widened;
  throw new AppError(
    "invalid",
    say(`${what}, so more posts would change than may be meant. Give a value, or leave the field out.`, {
      field,
    }),
  );
}

function describeEmpty(call: CallContext, input: PostsChange): Said[] {
  const widened = widenedBy(call, input);
  if (widened === null) return [];
  const { field, what } = widened;
  return [say(`${what}. Without dryRun that is refused: give a value, or leave the field out.`, { field })];
}

/** What another day may mean depends on the posts that are moved. */
function assertDay(
  { settings: { timezone }, clock }: AppContext,
  toDay: string,
  rows: readonly PostRow[],
): void {
  if (DATE.test(toDay)) return void parseBound("toDay", toDay, timezone, false);
  const times = rows.map(({ scheduled_at: at }) => at);
  const meant = meantDay(toDay, { now: clock.now(), timezone }, times);
  throw new AppError(
    "invalid",
    meant === null
      ? `toDay: must be a date such as ${EXAMPLE_DAY}, not ${quote(toDay)}.`
      : `toDay: ${quote(toDay)} is not a date. ${askWhich(meant)}`,
  );
}

async function findFitting(
  call: CallContext,
  { accountId, label, from, to }: PostsChange,
): Promise<PostRow[]> {
  const filter = { accountId, label, from, to, status: ["scheduled" as const] };
  const page = await listPosts(call, { ...filter, limit: MAX_POSTS });
  const late = await listLatePosts(call, filter);
  const ids = [...new Set([...page.posts, ...late].map(({ id }) => id))];
  if (page.nextCursor !== null || ids.length > MAX_POSTS)
    throw new AppError(
      "invalid",
      `More than ${MAX_POSTS} waiting posts fit. Choose a shorter time, or give accountId or ids.`,
    );
  const rows = await findPosts(call.ctx.store, call.caller.ownerId, ids);
  return rows.filter(({ status }) => status === "scheduled");
}

async function findNamed(
  { ctx, caller }: CallContext,
  ids: readonly string[],
  trigger: "edit" | "cancel",
): Promise<PostRow[]> {
  const rows = await findPosts(ctx.store, caller.ownerId, [...new Set(ids)]);
  const reached = new Map(
    rows.filter((row) => canReachAccount(caller, row.account_id)).map((row) => [row.id, row]),
  );
  const missing = ids.find((id) => !reached.has(id));
  if (missing !== undefined) throw postNotFound(missing);
  const found = [...reached.values()];
  const problems: Said[] = [];
  for (const row of found.filter(({ status }) => status !== "scheduled"))
    problems.push(named(conflictSentence(trigger, await readStanding(ctx, row)), nameOf(row)));
  refuseEach("conflict", problems);
  return found;
}

function refuseEach(kind: "invalid" | "conflict", problems: readonly Said[]): void {
  if (problems.length === 0) return;
  const more = problems.length - MAX_NAMED;
  const others = more > 0 ? `And ${more} more.` : "";
  throw new AppError(kind, ["None was changed.", ...problems.slice(0, MAX_NAMED), others]);
}

/** To people by its words, to agents by its id. */
function nameOf(row: PostRow): string {
  return `${firstWords(row)} (${row.id})`;
}

/** In the order of their ids, in which two callers do not lock each other out. */
async function writeAll(ctx: AppContext, tx: Tx, planned: readonly PlannedChange[]): Promise<ChangedPosts> {
  const written: RowChange[] = [];
  for (const one of planned.toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1)))
    written.push({ before: one.row, row: await writeOne(ctx, tx, one) });
  const rows = written.map(({ row }) => row);
  return { changed: showChanged(written), warnings: await warn(ctx, tx, { planned, rows }) };
}

/** A post before and after. */
export interface RowChange {
  readonly before: PostRow;
  readonly row: PostRow;
}

/** What became of these posts, in the order of their times, so that who reads it alone can say what moved. */
export function showChanged(written: readonly RowChange[]): ChangedPost[] {
  return written
    .toSorted((a, b) => a.row.scheduled_at - b.row.scheduled_at)
    .map(({ before, row }) => ({
      id: row.id,
      accountId: row.account_id,
      scheduledAt: toIso(row.scheduled_at),
      was: toIso(before.scheduled_at),
      status: row.status,
      text: firstWords(row),
    }));
}

async function writeOne(
  { clock }: AppContext,
  tx: Tx,
  { row, scheduledAt }: PlannedChange,
): Promise<PostRow> {
  const set = { error: null, updated_at: clock.now() };
  if (scheduledAt === null)
    return writeIfUnchanged(tx, row, () =>
      transition(tx, { ownerId: row.owner_id, id: row.id }, "cancel", { ...set, next_at: null }),
    );
  const moved = { ...movedTo(row, scheduledAt), tries: 0 };
  return writeIfUnchanged(tx, row, (run) =>
    transition(tx, { ownerId: row.owner_id, id: row.id }, "edit", { ...set, ...moved, run }),
  );
}

/** Of posts that move, as they stand then. */
async function warn(
  ctx: AppContext,
  tx: Tx,
  { planned, rows }: { readonly planned: readonly PlannedChange[]; readonly rows: readonly PostRow[] },
): Promise<Said[]> {
  if (planned.length === 0) return ["No waiting post fits, so nothing was changed."];
  const warnings = new Map<string, Said>();
  const add = (said: Said): void => void warnings.set(String(said), said);
  for (const { row, account, scheduledAt, quotas } of planned) {
    if (scheduledAt === null) continue;
    for (const warning of [...warnOfHeld(ctx, account), ...warnOfAccess(ctx, account, scheduledAt)])
      add(warning);
    for (const warning of warnOfKept(ctx, account, scheduledAt)) add(named(warning, nameOf(row)));
    const { timezone } = ctx.settings;
    for (const warning of warnOfFar(nameOf(row), scheduledAt, { now: ctx.clock.now(), timezone }))
      add(warning);
    const asked = { id: row.id, at: scheduledAt, quotas };
    for (const warning of await warnOfQuotas(
      { settings: ctx.settings, clock: ctx.clock, store: tx },
      account,
      asked,
    ))
      add(named(warning, nameOf(row)));
  }
  const near = new Map<string, string[]>();
  const told = new Set<string>();
  const before = new Map(planned.map(({ row }) => [row.id, row.scheduled_at]));
  for (const row of rows.filter(({ status }) => status === "scheduled")) {
    const twin = await warnOfTwin(tx, row);
    // Of what waits, only what comes so near by this.
    const isTold = (other: SamePost): boolean => {
      const apart = Math.abs((before.get(other.id) ?? other.scheduled_at) - (before.get(row.id) ?? 0));
      return (
        other.status !== "scheduled" || Math.abs(other.scheduled_at - row.scheduled_at) < Math.min(apart, DAY)
      );
    };
    const same =
      twin.length > 0
        ? []
        : await warnOfSameText({ ...ctx, store: tx }, row, { isTold, way: "Cancel one of them" });
    for (const warning of [...twin, ...same]) add(named(warning, nameOf(row)));
    for (const warning of twin.length > 0 ? [] : await warnOfNeighbour(tx, row, told))
      near.set(warning, [...(near.get(warning) ?? []), nameOf(row)]);
  }
  return [...warnings.values(), ...describeNear(near)];
}

/** Who empties a time of posts is told of those whose new time still lies in it. */
function describeStaying(
  { ctx: { clock, settings } }: Pick<CallContext, "ctx">,
  { ids, from, to }: PostsChange,
  planned: readonly PlannedChange[],
): string[] {
  if (ids !== undefined || to === undefined) return [];
  const { timezone } = settings;
  const meant = meantBound({ now: clock.now(), timezone });
  const first = from === undefined ? -Infinity : parseBound("from", from, timezone, false, meant);
  const last = parseBound("to", to, timezone, true, meant);
  const named = planned.flatMap(({ row, scheduledAt: at }) =>
    at === null || at < first || at > last
      ? []
      : [`${firstWords(row)} (${row.id}), now due on ${formatTime(at, timezone)}`],
  );
  if (named.length === 0) return [];
  const more = named.length > MAX_NAMED ? `; and ${named.length - MAX_NAMED} more` : "";
  const posts = named.length === 1 ? "1 moved post still goes" : `${named.length} moved posts still go`;
  return [`${posts} out within from and to: ${named.slice(0, MAX_NAMED).join("; ")}${more}.`];
}

/** The first of them: a day may be moved onto another. */
function describeNear(near: ReadonlyMap<string, readonly string[]>): string[] {
  const told = [...near].map(([warning, posts]) => {
    const more = posts.length > MAX_NAMED ? ` and ${posts.length - MAX_NAMED} more` : "";
    return `${posts.slice(0, MAX_NAMED).join(", ")}${more}: ${warning}`;
  });
  const rest = told.length - MAX_NAMED;
  if (rest <= 0) return told;
  return [
    ...told.slice(0, MAX_NAMED),
    `${plural(rest, "more post")} of these ${rest === 1 ? "has" : "have"} the minute of another one.`,
  ];
}
