import { type Account, isCut, reconnectSentence } from "../domain/accounts/account.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import {
  type AccountChange,
  freeSlotsBetween,
  readPlan,
  type ScheduleInput,
  type UtmInput,
} from "../domain/accounts/schedule.ts";
import { AppError, nothingToChange } from "../domain/errors.ts";
import { canReachAccount } from "../domain/permissions.ts";
import { plainText } from "../domain/text/plain-text.ts";
import type { ChangedPost } from "../domain/posts/post-body.ts";
import { MINUTE } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Tx } from "../store/engine/store.ts";
import { startWaitingPosts, type AccountRow } from "../store/queries/accounts.ts";
import { findPosts, transition } from "../store/queries/posts.ts";
import {
  freeSlotsOf,
  listSlotPosts,
  listWaitingTimes,
  lockAccount,
  storePlan,
} from "../store/queries/slots.ts";
import { commitOnce } from "../access/idempotency.ts";
import {
  describeNamesake,
  findAccount,
  namesOfAccounts,
  showAccount,
} from "../channels/accounts/accounts.ts";
import {
  failTooLate,
  readRelease,
  type Release,
  describePause,
  describeRelease,
  describeUnderWay,
  whenFreed,
  withUnderWay,
} from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { showChanged, type RowChange } from "./change-posts.ts";
import { tryOut } from "./store-posts.ts";
import { contentOf, movedTo } from "./post-form.ts";
import { AT_ONCE_MS, describePosts } from "./post-in-words.ts";
import { noSlot } from "./slots.ts";
import { untilUnchanged, writeIfUnchanged } from "./update-post.ts";

interface UpdatedAccount {
  readonly account: Account;
  readonly moved: ChangedPost[];
  /** Left out where there are none. */
  readonly warnings?: Said[];
  /** It is only shown what would be. */
  readonly dryRun?: true;
}

/**
 * Changes what a person decides about a channel: its name, slots, pause and what is added to links. Posts that wait
 * in slots stay where they are, unless `move` brings them to those of the schedule, in their order. Throws `invalid`
 * for an empty change, `not_found`, and `conflict` where there are too few slots.
 */
export async function updateAccount(call: CallContext, input: AccountChange): Promise<UpdatedAccount> {
  const { ctx, caller } = call;
  const change = readChange(call, input);
  const found = await findAccount(ctx, caller, input.accountId);
  return untilUnchanged("The posts of the channel are", async () => {
    const work = (tx: Tx): Promise<UpdatedAccount> =>
      apply(call, tx, { found, change, move: input.move === true, isDryRun: input.dryRun === true });
    if (input.dryRun === true) return { ...(await tryOut(ctx, work)), dryRun: true };
    const answer = await commitOnce(call, work);
    ctx.wakePublisher();
    return answer;
  });
}

/**
 * Before posts go out or fail because their channel is resumed, or go out because they move to slots that are as good
 * as now.
 */
export async function askToRelease(call: CallContext, input: AccountChange): Promise<string | null> {
  const { ctx, caller } = call;
  if (input.dryRun === true || input.suggest === true) return null;
  const account = await findAccount(ctx, caller, input.accountId);
  const isResumed = isFreed(account, readChange(call, input));
  if (!isResumed && (input.move !== true || account.paused === 1)) return null;
  const { moved } = await updateAccount(call, { ...input, dryRun: true });
  const times = new Map(moved.map(({ id, scheduledAt }) => [id, Date.parse(scheduledAt)]));
  const until = ctx.clock.now() + AT_ONCE_MS;
  const kept = isResumed ? await readRelease(ctx, ctx.store, account, until) : NOTHING_KEPT;
  const stays = ({ id }: PostRow): boolean => !times.has(id);
  const next = moved.filter(({ scheduledAt }) => Date.parse(scheduledAt) <= until);
  const ids = [...new Set([...kept.goingOut.filter(stays), ...next].map(({ id }) => id))];
  const tooLate = kept.tooLate.filter(stays);
  const underWay = isResumed ? await describeUnderWay(ctx, ctx.store, { account, next: "goesOn" }) : null;
  const told = [
    ...(ids.length === 0 ? [] : [await describeGoingOut(call, account, { ids, times })]),
    ...(tooLate.length === 0 ? [] : [describeRelease(ctx, { goingOut: [], tooLate }), MOVE_FIRST]),
    ...(underWay === null ? [] : [underWay]),
  ];
  if (told.length === 0) return null;
  const name = plainText((await namesOfAccounts(call)).get(account.id) ?? account.name, MAX_NAME);
  const what = isResumed ? `Resume ${name}` : `Move posts on ${name} to its slots`;
  return `${what}? ${told.join(" ")}`;
}

const NOTHING_KEPT: Release = { goingOut: [], tooLate: [] };

/** To the person who is asked. */
const MOVE_FIRST = "Say no to give what is too late another time first.";

async function describeGoingOut(
  call: CallContext,
  account: AccountRow,
  { ids, times }: { readonly ids: readonly string[]; readonly times: ReadonlyMap<string, number> },
): Promise<string> {
  const posts = (await findPosts(call.ctx.store, call.caller.ownerId, ids)).map((row) => {
    const content = contentOf(row);
    return {
      accountId: row.account_id,
      content: { ...content, scheduledAt: times.get(row.id) ?? content.scheduledAt },
    };
  });
  const when = whenFreed(call.ctx, account, "at once");
  const resumed = when === "at once" ? "now" : "then";
  return `${ids.length === 1 ? "1 post goes" : `${ids.length} posts go`} out ${when}. ${await describePosts(call, posts, { resumed })}.`;
}

/** Whether a paused channel is resumed that can be used. */
function isFreed(account: AccountRow, change: Columns): boolean {
  return account.paused === 1 && change.paused === 0 && !isCut(account);
}

/** That the end of a pause alone lets nothing out. Null: it does. */
function describeCut(account: AccountRow, change: Columns): Said | null {
  if (change.paused !== 0 || !isCut(account)) return null;
  return join(reconnectSentence(account, account.status_reason), "Until then nothing of it goes out.");
}

type Columns = Partial<Pick<AccountRow, "name" | "is_renamed" | "schedule" | "paused" | "utm">>;

const MAX_NAME = 100;

function readChange({ ctx, leftEmpty }: CallContext, input: AccountChange): Columns {
  const { name, schedule, utm } = input;
  const paused = readPaused(input);
  const shown = name === undefined ? undefined : plainText(name, MAX_NAME);
  if (shown === "")
    throw new AppError("invalid", "name: is empty. Give the name that the channel is to have.");
  const change: Columns = {
    ...(shown === undefined ? {} : { name: shown, is_renamed: 1 }),
    ...(schedule === undefined ? {} : { schedule: planOf(ctx, schedule) }),
    ...(paused === undefined ? {} : { paused: paused ? 1 : 0 }),
    ...(utm === undefined ? {} : { utm: utmOf(utm) }),
  };
  if (Object.keys(change).length === 0 && input.move !== true)
    throw nothingToChange("Give one of name, schedule, paused, utm, move.", leftEmpty);
  return change;
}

function readPaused({ paused, schedule }: AccountChange): boolean | undefined {
  const also = schedule?.paused;
  if (paused !== undefined && also !== undefined && paused !== also)
    throw new AppError("invalid", "paused: differs from schedule.paused. Give one of the two.");
  return paused ?? also;
}

function planOf({ settings }: AppContext, schedule: ScheduleInput | null): string | null {
  // A zone is kept without slots, too: what worked by the hour is counted in it.
  if (schedule === null || (schedule.slots.length === 0 && schedule.timezone === undefined)) return null;
  const { timezone = settings.timezone, slots, minGapMinutes = 0 } = schedule;
  return JSON.stringify({ timezone, slots, minGapMinutes });
}

function utmOf(given: UtmInput | null): string | null {
  const { source = null, medium = null, campaign = null } = given ?? {};
  const isEmpty = [source, medium, campaign].every((part) => part === null || part === "");
  return isEmpty
    ? null
    : JSON.stringify({ source: source || null, medium: medium || null, campaign: campaign || null });
}

interface AccountUpdate {
  readonly found: AccountRow;
  readonly change: Columns;
  readonly move: boolean;
  readonly isDryRun: boolean;
}

async function apply(
  { ctx, caller }: CallContext,
  tx: Tx,
  { found, change, move, isDryRun }: AccountUpdate,
): Promise<UpdatedAccount> {
  const before = await lockAccount(tx, { ownerId: found.owner_id, id: found.id });
  const now = ctx.clock.now();
  const after = await storePlan(tx, found, { ...change, updated_at: now });
  if (before === undefined || after === undefined)
    throw new AppError(
      "not_found",
      say("the account is not there any more.", {
        field: "accountId",
        next: [{ do: "see", of: "accounts" }],
      }),
    );
  if (before.paused === 1 && after.paused === 0) await startWaitingPosts(tx, after.id, now);
  const moved = move ? await moveToSlots(tx, after, now) : [];
  // What moves to a slot is late no more.
  const told = isFreed(before, change) ? await releaseLate(ctx, tx, { account: after, now, isDryRun }) : null;
  const account = await showAccount(ctx, tx, after);
  const pause = change.paused === 1 ? await describePause(ctx, tx, after, account.queuedCount) : null;
  const twin =
    change.name === undefined
      ? null
      : await describeNamesake(ctx, tx, after, (id) => canReachAccount(caller, id));
  const warnings = [told, describeCut(after, change), pause, twin].filter((one) => one !== null);
  return { account, moved: showChanged(moved), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** What becomes of late posts of a channel that is resumed, in sentences. Those that are too late have failed then. */
async function releaseLate(
  ctx: AppContext,
  tx: Tx,
  {
    account,
    now,
    isDryRun,
  }: { readonly account: AccountRow; readonly now: number; readonly isDryRun: boolean },
): Promise<Said | null> {
  const release = await readRelease(ctx, tx, account);
  await failTooLate(ctx, tx, { account, posts: release.tooLate, now });
  const when = whenFreed(ctx, account, "now");
  const told = describeRelease(ctx, release, { when, next: isDryRun ? "before" : "after" });
  return withUnderWay(told, await describeUnderWay(ctx, tx, { account, next: "goesOn" }));
}

/** Gives the posts that wait in slots the next ones of the schedule, in their order. Answers those that moved. */
async function moveToSlots(tx: Tx, account: AccountRow, now: number): Promise<RowChange[]> {
  const posts = await listSlotPosts(tx, account);
  if (posts.length === 0) return [];
  const slots = await nextSlots(tx, account, posts, now);
  await freeSlotsOf(tx, posts);
  const moved: RowChange[] = [];
  for (const [at, post] of posts.entries()) {
    const slot = slots[at];
    if (slot === undefined) throw noSlot(account);
    const set =
      slot === post.scheduled_at
        ? { slot_at: slot, updated_at: post.updated_at }
        : { ...movedTo(post, slot), slot_at: slot, error: null, tries: 0, updated_at: now };
    const row = await writeIfUnchanged(tx, post, (run) =>
      transition(tx, { ownerId: post.owner_id, id: post.id }, "edit", { ...set, run }),
    );
    if (slot !== post.scheduled_at) moved.push({ before: post, row });
  }
  return moved;
}

/** One for each of these posts, in order, far enough ahead for what is to be done before its time. */
async function nextSlots(
  tx: Tx,
  account: AccountRow,
  posts: readonly PostRow[],
  now: number,
): Promise<number[]> {
  if (account.schedule === null) throw noSlot(account);
  const plan = readPlan(account.schedule);
  const others = await listWaitingTimes(tx, account.id, now - plan.minGapMinutes * MINUTE);
  for (const { scheduled_at: at } of posts) others.splice(others.indexOf(at), 1);
  const gapMs = Math.max(1, plan.minGapMinutes * MINUTE);
  const slots: number[] = [];
  for (const post of posts) {
    const after = Math.max(now + post.scheduled_at - post.due_at, (slots.at(-1) ?? -Infinity) + gapMs - 1);
    const [slot] = freeSlotsBetween(plan, { after, taken: others });
    if (slot === undefined) throw noSlot(account);
    slots.push(slot);
  }
  return slots;
}
