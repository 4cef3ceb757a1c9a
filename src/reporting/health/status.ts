import type { SaidStatus } from "../../domain/health/status.ts";
import { fromStored, fromStoredOrNull, named, type Said, say } from "../../domain/sentences.ts";
import { percentile } from "../../domain/health/percentile.ts";
import { type Account, toldState } from "../../domain/accounts/account.ts";
import { canReachAccount } from "../../domain/permissions.ts";
import { DAY, MINUTE, toIso, toIsoOrNull } from "../../domain/time.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import { listWaitingTargets } from "../../store/queries/drafts.ts";
import { listSetupProblems } from "../../store/queries/publishing/ledger.ts";
import {
  countInDoubt,
  countPosts,
  listNoted,
  listOverdue,
  listUnsettled,
  readFailures,
  readLateness,
  readNextScheduled,
  type StatusScope,
} from "../../store/queries/status.ts";
import { readNextLate } from "../../store/queries/publishing/waiting-posts.ts";
import { readLastHeartbeat } from "../../store/queries/workers.ts";
import { isServerRunning, listAlive, publishes } from "../../publishing/at-work.ts";
import { isDeletionOpen } from "../../publishing/take-down.ts";
import { listAccounts, namesAmong } from "../../channels/accounts/accounts.ts";
import { firstWords, MAX_NAMED, nameLate } from "../../channels/accounts/late-posts.ts";
import { plural } from "../../domain/text/plain-text.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { readMeta } from "../../store/queries/meta.ts";

/** The heartbeat of a publisher is every 5 seconds: after three missed ones it counts as gone. */
const ALIVE_WITHIN_MS = TIME_LIMITS.noPublisher;

/** A post that is out within the minute of its time is not worth a word. */
export const OVERDUE_AFTER_MS = MINUTE;

const DAYS = 7;
/** Newest attempts that the lateness is taken from: enough for a percentile, and read in milliseconds. */
const MAX_SAMPLE = 5_000;

/** Enough to see what goes wrong; `list_posts` has them all. */
const SHOWN_FAILURES = 5;

/** How publishing is doing, over the accounts the caller may see. */
export async function getStatus(call: CallContext): Promise<SaidStatus> {
  const { ctx, caller } = call;
  const now = ctx.clock.now();
  const scope: StatusScope = { ownerId: caller.ownerId, accountIds: caller.accountIds };
  const since = now - DAYS * DAY;
  const { store } = ctx;
  const { accounts } = await listAccounts(call);
  const names = namesAmong(ctx, accounts);
  const bounds = { overdueBefore: now - OVERDUE_AFTER_MS, failedSince: since };
  const counts = await countPosts(store, scope, bounds);
  const slowed = accounts.flatMap(({ id, name, statusReason: reason }) =>
    toldState(String(reason)) === "waits" ? [named(reason ?? "", names.get(id) ?? name)] : [],
  );
  const warnings = [
    ...(await warnOfPosts(ctx, scope, { now, overdue: counts.overdue })),
    ...(await warnOfDeletions(ctx, scope)),
    ...slowed,
    ...(await warnOfSilence(call, accounts)),
  ];
  return {
    now: toIso(now),
    timezone: ctx.settings.timezone,
    publisher: await readPublisherStatus(ctx, now),
    counts: {
      scheduled: accounts.reduce((sum, account) => sum + account.queuedCount, 0),
      overdue: counts.overdue,
      publishing: counts.publishing,
      uploaded: counts.uploaded,
      failed: counts.failed,
      unknownOutcome: await countInDoubt(store, scope),
      draftsWaiting: await countWaitingDrafts(call),
    },
    lateness: summarize(await readLateness(store, scope, { since, limit: MAX_SAMPLE })),
    lastFailures: (await readFailures(store, scope, { since, limit: SHOWN_FAILURES })).map((row) => {
      const { id, account_id: accountId, provider, scheduled_at: at, error } = row;
      return { id, accountId, provider, scheduledAt: toIso(at), error: fromStoredOrNull(error) };
    }),
    nextDueAt: toIsoOrNull(await readNextDue(ctx, scope, now)),
    accountsToReconnect: accounts
      .filter(needsAttention)
      .map(({ id, provider, status, statusReason: reason, queuedCount, ...account }) => {
        const name = names.get(id) ?? account.name;
        return { id, name, provider, status, reason, queuedCount };
      }),
    accountsPaused: accounts
      .filter(({ schedule }) => schedule?.paused === true)
      .map(({ id, provider, queuedCount, ...account }) => {
        return { id, name: names.get(id) ?? account.name, provider, queuedCount };
      }),
    setupProblems: (await readSetupProblems(ctx, now)).filter((problem) =>
      accounts.some((account) => account.provider === problem.provider),
    ),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Where publishing ends with this client, who waits for posts is told that a server has to stay. */
async function warnOfSilence({ ctx, caller }: CallContext, accounts: readonly Account[]): Promise<Said[]> {
  const isWaitedFor = accounts.some(({ queuedCount }) => queuedCount > 0);
  if (!caller.isLocal || !isWaitedFor || (await isServerRunning(ctx))) return [];
  const when = caller.isAtShell === true ? "an agent's client with Posthorn" : "this client";
  return [
    say(`No Posthorn server is running on this data folder, so posts go out only while ${when} is open.`, {
      next: [{ do: "run", command: "serve", of: null }],
    }),
  ];
}

/** Names the posts that are late, and those that may or may not be out. */
async function warnOfPosts(
  { store, settings }: AppContext,
  scope: StatusScope,
  { now, overdue }: { readonly now: number; readonly overdue: number },
): Promise<Said[]> {
  const name = (rows: readonly Parameters<typeof nameLate>[1][number][], count: number): string =>
    nameLate(settings, rows, { count, hasIds: true });
  const bounds = { overdueBefore: now - OVERDUE_AFTER_MS, limit: MAX_NAMED };
  const late = overdue === 0 ? [] : await listOverdue(store, scope, bounds);
  const unsettled = await listUnsettled(store, scope);
  const next = [{ do: "see_each" }] as const;
  return [
    ...(late.length === 0
      ? []
      : [
          say(
            `${plural(overdue, "post is", "posts are")} not live a minute after ${overdue === 1 ? "its" : "their"} time: ${name(late, overdue)}.`,
            { next },
          ),
        ]),
    ...(unsettled.length === 0
      ? []
      : [
          say(
            `${plural(unsettled.length, "post was", "posts were")} sent, and it is not known yet whether ${unsettled.length === 1 ? "it is" : "they are"} out: ${name(unsettled, unsettled.length)}.`,
            { next },
          ),
        ]),
  ];
}

/** Posts that were to be deleted, where it is not known whether they were: each says what is to be done. */
async function warnOfDeletions({ store }: AppContext, scope: StatusScope): Promise<Said[]> {
  const open = (await listNoted(store, scope)).filter(isDeletionOpen);
  const more = open.length - MAX_NAMED;
  return [
    ...open
      .slice(0, MAX_NAMED)
      .map((row) => named(fromStored(row.error ?? "", row.id), `${firstWords(row)} (${row.id})`)),
    ...(more > 0 ? [`And of ${plural(more, "more post")} it is not known whether they were deleted.`] : []),
  ];
}

/** Those that the caller may see. */
async function countWaitingDrafts({ ctx, caller }: CallContext): Promise<number> {
  const waiting = await listWaitingTargets(ctx.store, caller.ownerId);
  return waiting.filter((targets) => targets.every(({ accountId }) => canReachAccount(caller, accountId)))
    .length;
}

/** When the next waiting post goes out, late ones included. Null: none does before a person resumes or reconnects its channel. */
async function readNextDue(ctx: AppContext, scope: StatusScope, now: number): Promise<number | null> {
  const { store, settings } = ctx;
  const late = await readNextLate(store, { ...scope, now, since: now - settings.maxLatenessMs });
  const next = await readNextScheduled(store, scope, now);
  return late === null || next === null ? (late ?? next) : Math.min(late, next);
}

/** What only the person who runs this installation can mend, as posts of all owners met with it. */
export async function readSetupProblems(ctx: AppContext, now: number): Promise<SaidStatus["setupProblems"]> {
  const problems = await listSetupProblems(ctx.store, now - DAYS * DAY);
  return problems.map(({ provider, reason, at }) => ({ provider, reason, at: toIso(at) }));
}

/** The processes that publish on this data folder, for all owners. */
export async function readPublisherStatus(ctx: AppContext, now: number): Promise<SaidStatus["publisher"]> {
  const alive = (await listAlive(ctx, { now, withinMs: ALIVE_WITHIN_MS })).filter(publishes);
  return {
    running: alive.length > 0,
    heartbeatAt: toIsoOrNull(await readLastHeartbeat(ctx.store)),
    workers: alive.length,
  };
}

function summarize(lateness: readonly number[]): SaidStatus["lateness"] {
  return {
    p50Ms: percentile(lateness, 0.5),
    p95Ms: percentile(lateness, 0.95),
    maxMs: lateness.at(-1) ?? null,
    sampleSize: lateness.length,
    days: DAYS,
  };
}

/** A channel that was disconnected on purpose matters only while posts wait for it. */
function needsAttention({ status, queuedCount }: Account): boolean {
  return status === "disconnected" ? queuedCount > 0 : status !== "connected";
}

/** Whether the database answers. Its reason goes to the log. */
export async function isDatabaseReady(ctx: AppContext): Promise<boolean> {
  try {
    await readMeta(ctx.store, "generation");
    return true;
  } catch (error) {
    ctx.log.error({ err: error }, "The database does not answer");
    return false;
  }
}
