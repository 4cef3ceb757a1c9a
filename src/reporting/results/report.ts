import { meantBound } from "../../domain/arguments/meant-times.ts";
import { DateTime } from "luxon";
import { readPlan } from "../../domain/accounts/schedule.ts";
import { AppError } from "../../domain/errors.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { canReachAccount } from "../../domain/permissions.ts";
import { plainText, plural, quote } from "../../domain/text/plain-text.ts";
import {
  AGES,
  FEW_POSTS,
  MEDIA_TYPES,
  METRICS,
  type Metric,
  type Report,
  type ReportArgs,
  type ReportBy,
  type ReportRow,
} from "../../domain/posts/results.ts";
import { toIso } from "../../domain/time.ts";
import { parseBound } from "../../domain/parse-time.ts";
import { type AccountRow, listAccountRows } from "../../store/queries/accounts.ts";
import { findPosts, readMetadata } from "../../store/queries/posts.ts";
import {
  type PackedFigures,
  readLabelled,
  readPacked,
  readRefusals,
  type ReportScope,
} from "../../store/queries/results/reading.ts";
import { RESULTS } from "../../ports/platform-setup.ts";
import type { AppContext, CallContext } from "../../context.ts";
import {
  collectsResults,
  type PlatformSettings,
  effectiveSettings,
} from "../../channels/platform-io/effective-settings.ts";
import { meantAccountIds } from "../../channels/accounts/accounts.ts";
import { capabilitiesFor } from "../../channels/platform-io/connect-io.ts";
import { reachable } from "../../posts/list-posts.ts";
import { textOf } from "../webhooks/notices.ts";
import { Clocks, Group, hourKey, readEach, type Reading } from "./figures.ts";

const MAX_TEXT = 100;
/** A row with fewer is chance. */
const FEW_IN_ROW = 5;

/**
 * What worked: figures of posts at the same age of each, put together as asked. Out of what was collected; no
 * platform is asked. Throws `invalid` for bounds that are none.
 */
export async function getReport({ ctx, caller }: CallContext, args: ReportArgs): Promise<Report> {
  const { timezone } = ctx.settings;
  const age = AGES.find(({ name }) => name === args.at) ?? AGES[1];
  const span = readSpan(ctx, args);
  const wanted = args.accountId === undefined ? null : await meantAccountIds(ctx, caller, args.accountId);
  const accountIds = reachable(caller, wanted);
  const rows = await listAccountRows(ctx.store, caller.ownerId);
  const accounts = rows.filter(
    ({ id }) => canReachAccount(caller, id) && (accountIds === null || accountIds.includes(id)),
  );
  const scope = { ...span, ownerId: caller.ownerId, accountIds, label: args.label ?? null, age: age.column };
  const found = await readFound(ctx, scope, { ...args, accounts });
  const { metric, total } = found;
  const known = METRICS.filter((one) => one === metric || countOf(total, one) > 0);
  const best = sortBest(found.groups, metric).slice(0, args.limit);
  const shown = best.map(({ key, group }) => ({
    key,
    posts: group.posts,
    sampled: group.count(metric),
    metrics: group.show(known),
  }));
  return {
    rows: args.by === "post" ? await describePosts(ctx, caller.ownerId, shown) : shown,
    metric,
    from: toIso(span.from),
    to: toIso(span.to),
    timezone,
    note: warn(found, best, { by: args.by, age: age.name }),
    unavailable: await explainMissing(ctx, { accounts, since: span.from, found }),
  };
}

/** Without bounds the last 30 days. */
function readSpan(ctx: AppContext, args: Pick<ReportArgs, "from" | "to">): { from: number; to: number } {
  const { timezone: zone } = ctx.settings;
  const now = ctx.clock.now();
  const meant = meantBound({ now, timezone: zone });
  const to = args.to === undefined ? now : parseBound("to", args.to, zone, true, meant);
  const month = DateTime.fromMillis(Math.min(to, now), { zone })
    .minus({ days: 30 })
    .startOf("day")
    .toMillis();
  const from = args.from === undefined ? month : parseBound("from", args.from, zone, false, meant);
  if (from <= to) return { from, to };
  const is = `from: ${quote(args.from ?? toIso(from))} is after`;
  throw new AppError(
    "invalid",
    args.to === undefined
      ? `${is} now, and without to the report ends now. A report is of what is over: give an earlier day.`
      : `${is} to (${quote(args.to)}). Exchange the two.`,
  );
}

interface KeyedGroup {
  readonly key: string;
  readonly group: Group;
}

/** How many posts have each of METRICS, and, as the last number, how many there are. */
type Counts = Uint32Array;
const ALL = METRICS.length;

interface ReportFigures {
  readonly groups: KeyedGroup[];
  readonly metric: Metric;
  /** By the ids of their channels. */
  readonly counts: ReadonlyMap<string, Counts>;
  readonly total: Counts;
}

interface Wish extends Pick<ReportArgs, "by" | "metric" | "limit"> {
  readonly accounts: readonly AccountRow[];
}

async function readFound(ctx: AppContext, scope: ReportScope, wish: Wish): Promise<ReportFigures> {
  const { by, accounts } = wish;
  const packed = await readPacked(ctx.store, scope, { ids: by === "post" || by === "label" });
  const labels = by === "label" ? await readLabels(ctx, scope) : new Map<string, string[]>();
  const zones = new Map(accounts.map((account) => [account.id, zoneOf(ctx, account)]));
  const clocks = new Clocks();
  const groups = new Map<string, Group>();
  const counts = new Map<string, Counts>();
  for (const row of packed) {
    const zone = zones.get(row.account_id) ?? ctx.settings.timezone;
    const own = counts.get(row.account_id) ?? noCounts();
    counts.set(row.account_id, own);
    readEach(row.packed, (reading) => {
      addTo(own, reading);
      if (by === "post") return;
      const keys =
        by === "label"
          ? (labels.get(reading.id) ?? [])
          : by === "account"
            ? [row.account_id]
            : [by === "mediaType" ? typeOf(reading) : hourKey(clocks.read(reading.at, zone))];
      for (const key of keys) {
        let group = groups.get(key);
        if (group === undefined) groups.set(key, (group = new Group()));
        group.add(reading);
      }
    });
  }
  const total = noCounts();
  for (const own of counts.values())
    for (const [at, count] of own.entries()) total[at] = (total[at] ?? 0) + count;
  const metric = wish.metric ?? mostCommon(ctx, total, accounts);
  const found = by === "post" ? bestPosts(packed, metric, wish.limit) : groups;
  return { groups: [...found].map(([key, group]) => ({ key, group })), metric, counts, total };
}

function noCounts(): Counts {
  return new Uint32Array(METRICS.length + 1);
}

function addTo(counts: Counts, { values }: Reading): void {
  for (let at = 0; at < ALL; at += 1) if ((values[at] ?? -1) >= 0) counts[at] = (counts[at] ?? 0) + 1;
  counts[ALL] = (counts[ALL] ?? 0) + 1;
}

function countOf(counts: Counts | undefined, metric: Metric): number {
  return counts?.[METRICS.indexOf(metric)] ?? 0;
}

/** Those with most of the metric, without an object for each of the others. */
function bestPosts(packed: readonly PackedFigures[], metric: Metric, limit: number): Map<string, Group> {
  const place = METRICS.indexOf(metric);
  let best: { value: number; id: string; group: Group }[] = [];
  let floor = -Infinity;
  const cut = (): void => {
    best.sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
    best = best.slice(0, limit);
    if (best.length === limit) floor = best.at(-1)?.value ?? floor;
  };
  for (const row of packed)
    readEach(row.packed, (reading) => {
      const value = reading.values[place] ?? -1;
      if (value < floor) return;
      const group = new Group();
      group.add(reading);
      best.push({ value, id: reading.id, group });
      if (best.length >= 4 * limit) cut();
    });
  cut();
  return new Map(best.map(({ id, group }) => [id, group]));
}

/** Of each post that has some. */
async function readLabels(ctx: AppContext, scope: ReportScope): Promise<ReadonlyMap<string, string[]>> {
  const labels = new Map<string, string[]>();
  for (const { label, ids } of await readLabelled(ctx.store, scope))
    for (const id of ids.split(";")) {
      const known = labels.get(id);
      if (known === undefined) labels.set(id, [label]);
      else known.push(label);
    }
  return labels;
}

function typeOf({ media }: Reading): string {
  return MEDIA_TYPES.find((type) => type.startsWith(media)) ?? "other";
}

export function zoneOf({ settings }: AppContext, { schedule }: Pick<AccountRow, "schedule">): string {
  return schedule === null ? settings.timezone : readPlan(schedule).timezone;
}

/** The metric that most posts have; where none has any, the one that most channels offer. */
function mostCommon(ctx: AppContext, total: Counts, accounts: readonly AccountRow[]): Metric {
  const offered = accounts.map((account) => capabilitiesFor(ctx, account, null).analytics.post);
  const rank = (metric: Metric): number =>
    countOf(total, metric) +
    offered.filter((metrics) => metrics.includes(metric)).length / (offered.length + 1);
  return METRICS.reduce((best, metric) => (rank(metric) > rank(best) ? metric : best));
}

/** By the median, then by the sum; what is not known stands last. */
function sortBest(groups: readonly KeyedGroup[], metric: Metric): KeyedGroup[] {
  const ranked = groups.map((keyed) => ({
    keyed,
    median: keyed.group.median(metric) ?? -1,
    sum: keyed.group.sum(metric),
  }));
  ranked.sort((a, b) => b.median - a.median || b.sum - a.sum || (a.keyed.key < b.keyed.key ? -1 : 1));
  return ranked.map(({ keyed }) => keyed);
}

/** What is not to be concluded from it. */
function warn(
  { metric, total }: ReportFigures,
  best: readonly KeyedGroup[],
  { by, age }: { readonly by: ReportBy; readonly age: string },
): string | null {
  const sampled = countOf(total, metric);
  const posts = total[ALL] ?? 0;
  if (sampled === 0 && posts > 0)
    return `None of ${posts === 1 ? "the 1 post" : `the ${posts} posts`} has stored ${metric} of ${age} yet: figures are stored ${AGES.map(({ name }) => name).join(", ")} after a post went live. Its insights tell what a post has now.`;
  if (sampled < FEW_POSTS)
    return `Too few to say what works: ${sampled} of ${posts} posts have ${metric}, and it takes ${FEW_POSTS}.`;
  const first = best[0]?.group.count(metric) ?? 0;
  if (by === "post" || first >= FEW_IN_ROW) return null;
  return `The first row rests on ${first} of ${plural(sampled, "post")}, which may be chance. Compare rows with ${FEW_IN_ROW} or more.`;
}

async function describePosts(
  ctx: AppContext,
  ownerId: string,
  rows: readonly ReportRow[],
): Promise<ReportRow[]> {
  const ids = rows.map(({ key }) => key);
  const posts = ids.length === 0 ? [] : await findPosts(ctx.store, ownerId, ids);
  const found = new Map(posts.map((post) => [post.id, post]));
  return rows.map((row) => {
    const post = found.get(row.key);
    if (post === undefined) return row;
    const { account_id: accountId, caption, media_url: mediaUrl, platform_url: platformUrl } = post;
    return {
      ...row,
      post: {
        accountId,
        publishedAt: toIso(post.published_at ?? post.scheduled_at),
        text: plainText(textOf({ caption, metadata: readMetadata(post), mediaUrl }), MAX_TEXT),
        mediaUrl,
        platformUrl,
      },
    };
  });
}

interface Missing {
  readonly accounts: readonly AccountRow[];
  readonly since: number;
  readonly found: ReportFigures;
}

/** The channels without the metric, and why: each once. Where figures are only not there yet, nothing is said. */
async function explainMissing(
  ctx: AppContext,
  { accounts, since, found: { metric, counts } }: Missing,
): Promise<Report["unavailable"]> {
  const set = await effectiveSettings(ctx);
  const without = accounts.filter(
    ({ id, status }) => status !== "disconnected" && countOf(counts.get(id), metric) === 0,
  );
  const ids = without.map(({ id }) => id);
  const refusals = await readRefusals(ctx.store, { accountIds: ids, since });
  return without.flatMap((account) => {
    const reason = reasonOf(ctx, account, { metric, set }) ?? refusals.get(account.id);
    return reason === undefined ? [] : [{ accountId: account.id, metric, reason }];
  });
}

function reasonOf(
  ctx: AppContext,
  account: AccountRow,
  { metric, set }: { readonly metric: Metric; readonly set: PlatformSettings },
): string | null {
  const platform = ctx.platforms.get(account.provider);
  if (platform === undefined) return "Its platform is not there any more.";
  const { title, name, results } = platform;
  if (!capabilitiesFor(ctx, account, null).analytics.post.includes(metric))
    return `${title} does not offer it.`;
  if (collectsResults(set, platform)) return null;
  return `${results?.price ?? ""} ${settingName(name, RESULTS)}=on collects them.`;
}
