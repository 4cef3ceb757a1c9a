import { meantBound } from "../../domain/arguments/meant-times.ts";
import { deadline, SECOND, toIso } from "../../domain/time.ts";
import { parseBound } from "../../domain/parse-time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { type Said, say } from "../../domain/sentences.ts";
import type { AnalyticsArgs, SaidAnalytics } from "../../domain/accounts/analytics.ts";
import { DateTime } from "luxon";
import { AppError } from "../../domain/errors.ts";
import type { PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import { type EndedPost, readEnded } from "../../store/queries/channel-posts.ts";
import { readFollowers } from "../../store/queries/results/reading.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { capabilitiesFor } from "../../channels/platform-io/connect-io.ts";
import { fitAnalytics } from "../../channels/platform-io/fit-answers.ts";
import { createPlatformIo } from "../../channels/connecting/account-io.ts";
import { METRICS } from "../../domain/posts/results.ts";
import { percentile } from "../../domain/health/percentile.ts";
import { findPlatform } from "../../channels/platform-io/set-up.ts";

/** What platforms may offer of a channel; each that one does not is named with the reason. */
const PLATFORM_METRICS = ["followers", ...METRICS] as const;

const MAX_DAYS = 366;
const ASK_TIMEOUT_MS = 20 * SECOND;

type Numbers = Readonly<Record<string, number | null>>;

/**
 * A channel's numbers by day: what this service knows itself, and what the platform offers. A platform out of
 * reach is an answer too: its metrics stand under `unavailable`.
 */
export async function getAccountAnalytics(
  { ctx, caller }: CallContext,
  args: AnalyticsArgs,
): Promise<SaidAnalytics> {
  const days = readDays(ctx, args);
  const account = await findAccount(ctx, caller, args.accountId);
  const bounds = { from: days[0]?.toMillis() ?? 0, to: days.at(-1)?.endOf("day").toMillis() ?? 0 };
  const ended = await readEnded(ctx.store, { ownerId: account.owner_id, id: account.id }, bounds);
  const range = { from: dateOf(days[0]), to: dateOf(days.at(-1)) };
  const theirs = await askPlatform(ctx, account, range);
  const byDay = new Map(theirs.days.map(({ date, metrics }) => [date, metrics]));
  const followersOn = new Map(
    (await readFollowers(ctx.store, account, bounds)).map(({ at, h1 }) => [
      toIso(at).slice(0, 10),
      Number(h1),
    ]),
  );
  const postsOf = groupByDay(ended, ctx.settings.timezone);
  return {
    accountId: account.id,
    provider: account.provider,
    ...range,
    granularity: args.granularity,
    fetchedAt: toIso(ctx.clock.now()),
    // Ours last: a platform's number of the same name must not stand in for what was really sent.
    totals: { ...theirs.totals, ...ownNumbers(ended) },
    series:
      args.granularity === "total"
        ? []
        : days.map((day) => {
            const date = dateOf(day);
            const followers = followersOn.get(date);
            return {
              // As it was stored that day, where the platform tells no days.
              ...(followers !== undefined && { followers }),
              ...byDay.get(date),
              ...ownNumbers(postsOf.get(date) ?? []),
              date,
            };
          }),
    unavailable: theirs.unavailable.map(({ metric, reason }) => ({ metric, reason })),
  };
}

/** The days from `from` to `to` in the configured zone, none of them in the future. */
function readDays(ctx: AppContext, args: AnalyticsArgs): DateTime[] {
  const { timezone: zone } = ctx.settings;
  const today = DateTime.fromMillis(ctx.clock.now(), { zone }).startOf("day");
  const dayAt = (ms: number): DateTime => DateTime.fromMillis(ms, { zone }).startOf("day");
  const meant = meantBound({ now: ctx.clock.now(), timezone: zone });
  const first = dayAt(parseBound("from", args.from, zone, false, meant));
  const wanted = args.to === undefined ? today : dayAt(parseBound("to", args.to, zone, true, meant));
  if (first > today) {
    throw new AppError(
      "invalid",
      `from: ${quote(args.from)} is in the future. On this server it is ${dateOf(today)} (${zone}).`,
    );
  }
  if (first > wanted)
    throw new AppError(
      "invalid",
      `from: ${quote(args.from)} is after to (${quote(args.to ?? "")}). Exchange the two.`,
    );
  const last = DateTime.min(wanted, today);
  const count = Math.round(last.diff(first, "days").days) + 1;
  if (count > MAX_DAYS)
    throw new AppError(
      "invalid",
      `from: the range has ${count} days, but at most ${MAX_DAYS} are answered. Ask for a part of it.`,
    );
  return Array.from({ length: count }, (_, at) => first.plus({ days: at }));
}

function dateOf(day: DateTime | undefined): string {
  return day?.toISODate() ?? "";
}

function groupByDay(posts: readonly EndedPost[], zone: string): Map<string, EndedPost[]> {
  const days = new Map<string, EndedPost[]>();
  for (const post of posts) {
    const date = dateOf(DateTime.fromMillis(post.scheduled_at, { zone }));
    const known = days.get(date);
    if (known === undefined) days.set(date, [post]);
    else known.push(post);
  }
  return days;
}

function ownNumbers(posts: readonly EndedPost[]): Numbers {
  const live = posts.filter((post) => post.status === "published");
  const lateness = live
    .map((post) => Math.max(0, (post.published_at ?? post.scheduled_at) - post.scheduled_at))
    .sort((a, b) => a - b);
  return {
    postsPublished: live.length,
    postsFailed: posts.length - live.length,
    latenessP50Ms: percentile(lateness, 0.5),
    latenessMaxMs: lateness.at(-1) ?? null,
  };
}

async function askPlatform(
  ctx: AppContext,
  account: AccountRow,
  range: { from: string; to: string },
): Promise<PlatformAnalytics> {
  const platform = findPlatform(ctx, account.provider);
  const offered = capabilitiesFor(ctx, account, null).analytics.account;
  if (platform.analytics === undefined)
    return withMissing(offered, NOTHING, `${platform.title} offers no numbers for a channel.`);
  if (account.status !== "connected")
    return withMissing(
      offered,
      NOTHING,
      say("The channel must be reconnected first.", { next: [{ do: "see", of: "accounts" }] }),
    );
  try {
    const io = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
    const told = fitAnalytics(await platform.analytics(range, io));
    return withMissing(offered, told, `${platform.title} does not offer it.`);
  } catch (error) {
    ctx.log.warn({ accountId: account.id, err: error }, "analytics could not be read");
    const isTold = error instanceof PlatformFault || error instanceof AppError;
    const reason = isTold ? error.message : `${platform.title} could not be asked. Try again later.`;
    return withMissing(offered, NOTHING, reason);
  }
}

const NOTHING: PlatformAnalytics = { totals: {}, days: [], unavailable: [] };

/** Names what is neither there nor accounted for, so that a missing number is never taken for a zero. */
function withMissing(offered: readonly string[], answer: PlatformAnalytics, reason: Said): PlatformAnalytics {
  const told = new Set(answer.unavailable.map(({ metric }) => metric));
  const names = new Set<string>([...offered, ...PLATFORM_METRICS]);
  const missing = [...names].filter((metric) => answer.totals[metric] === undefined && !told.has(metric));
  return {
    ...answer,
    unavailable: [...answer.unavailable, ...missing.map((metric) => ({ metric, reason }))],
  };
}
