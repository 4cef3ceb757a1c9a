import { hash } from "node:crypto";
import pLimit from "p-limit";
import { AppError } from "../../domain/errors.ts";
import { FILE_MEDIA, type MediaType, nextSnapshot, packFigures } from "../../domain/posts/results.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import { DAY, deadline, HOUR, MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { type AccountRow, findAccountById, listAccountIds } from "../../store/queries/accounts.ts";
import { readMeta, replaceMeta } from "../../store/queries/meta.ts";
import { findPost } from "../../store/queries/posts.ts";
import {
  changeResult,
  columnOf,
  deleteOldResults,
  insertResults,
  listDueResults,
  listUnplanned,
  listUnplannedAccounts,
  type NewLivePost,
  type NewResult,
  putOffResults,
  type ResultRow,
} from "../../store/queries/results/collecting.ts";
import type { AppContext, MaintenanceJob } from "../../context.ts";
import { capabilitiesFor } from "../../channels/platform-io/connect-io.ts";
import { fitAnalytics } from "../../channels/platform-io/fit-answers.ts";
import {
  collectsResults,
  FOLLOWERS,
  effectiveSettings,
} from "../../channels/platform-io/effective-settings.ts";
import { createPlatformIo } from "../../channels/connecting/account-io.ts";
import { askInsights } from "../../posts/posts.ts";

/* What platforms tell of live posts is written down at four ages of each, and a channel's followers daily. */

export const RESULTS_JOB: MaintenanceJob = { name: "results", everyMs: MINUTE, run: collectResults };

/** Under which name the database remembers until when one process collects, for all. */
const PASS = "results_pass";
const PASS_MS = 50 * SECOND;

/** What was claimed is free again after that: the process has ended. One reading takes 20 seconds at most. */
const LEASE_MS = 5 * MINUTE;
const ASK_TIMEOUT_MS = 20 * SECOND;

/** Of one platform. A channel is asked one thing at a time. */
const CHANNELS_AT_A_TIME = 2;
const PER_MINUTE = 30;
/** So many of one channel in a pass: after a downtime the others have their turn, too. */
const PER_CHANNEL = 5;

/** A platform that is out of reach is asked again after that; one that a person must mend, after an hour. */
const AGAIN_MS = 15 * MINUTE;

const PLANNED_AT_A_TIME = 500;
/** Posts that went live since then are looked for in each pass; all, once a day. */
const LOOK_BACK_MS = 2 * DAY;

const MAX_REASON_CHARS = 300;
const DEFAULT_RETENTION_MS = 730 * DAY;

/** When a process last looked at everything. */
const lookedAt = new WeakMap<AppContext["store"], number>();

/** One pass a minute over all processes and hosts, so that a platform is asked no more often than its data say. */
export async function collectResults(ctx: AppContext, signal: AbortSignal): Promise<void> {
  if (!(await takePass(ctx))) return;
  const set = await effectiveSettings(ctx);
  const platforms = [...ctx.platforms.values()].filter((platform) => collectsResults(set, platform));
  await plan(ctx, platforms, signal);
  const endsAt = ctx.clock.monotonic() + PASS_MS - ASK_TIMEOUT_MS;
  const isOver = (): boolean => signal.aborted || ctx.clock.monotonic() > endsAt;
  await Promise.all(platforms.map((platform) => collectFrom(ctx, platform, isOver)));
}

async function takePass({ store, clock }: AppContext): Promise<boolean> {
  const now = clock.now();
  const from = await readMeta(store, PASS);
  const until = Number(from ?? 0);
  // Further ahead than any process sets it: the clock was put back.
  if (until > now && until <= now + PASS_MS) return false;
  return store.write((tx) => replaceMeta(tx, PASS, { from, to: String(now + PASS_MS) }));
}

/** Notes when what is new will be asked. Once a day also what was missed, and old figures go. */
async function plan(ctx: AppContext, platforms: readonly AnyPlatform[], signal: AbortSignal): Promise<void> {
  const now = ctx.clock.now();
  const { store } = ctx;
  const asked = new Set(platforms.map(({ name }) => name));
  const kept = now - (ctx.settings.resultsRetentionMs ?? DEFAULT_RETENTION_MS);
  const planPosts = async (accountId: string | null, since: number): Promise<void> => {
    for (let isMore = true; isMore && !signal.aborted;) {
      const posts = await listUnplanned(store, { accountId, since, limit: PLANNED_AT_A_TIME });
      await insert(
        ctx,
        posts.map((post) => planPost(post, asked.has(post.provider), now)),
      );
      isMore = posts.length === PLANNED_AT_A_TIME;
    }
  };
  if (now - (lookedAt.get(store) ?? -Infinity) >= DAY) {
    await store.write((tx) => deleteOldResults(tx, kept));
    // Account by account: SQLite reads while nothing else of this process runs.
    for (const { id } of await listAccountIds(store)) await planPosts(id, kept);
    lookedAt.set(store, now);
  } else await planPosts(null, now - LOOK_BACK_MS);
  const providers = platforms.flatMap(({ name, analytics }) => (analytics === undefined ? [] : [name]));
  const day = Math.floor(now / DAY) * DAY;
  const accounts = await listUnplannedAccounts(store, { providers, day, limit: PLANNED_AT_A_TIME });
  await insert(
    ctx,
    accounts.map((account) => planAccount(ctx, account, day)),
  );
}

async function insert({ store }: AppContext, rows: readonly NewResult[]): Promise<void> {
  if (rows.length > 0) await store.write((tx) => insertResults(tx, rows));
}

function planPost(post: NewLivePost, isAsked: boolean, now: number): NewResult {
  const { id, account_id, provider, published_at: at } = post;
  const next = isAsked ? nextSnapshot({ at, spread: spreadOf(id) }, 0, now) : null;
  const media = mediaTypeOf(post).charAt(0);
  return {
    account_id,
    at,
    post_id: id,
    provider,
    media,
    next_at: next?.nextAt ?? null,
    step: next?.step ?? 0,
  };
}

/** Some time of the day, always the same of a channel. */
function planAccount(ctx: AppContext, account: AccountRow, day: number): NewResult {
  const { id, provider } = account;
  const isOffered = capabilitiesFor(ctx, account, null).analytics.account.includes(FOLLOWERS);
  const next_at = isOffered ? day + Math.floor(spreadOf(id) * (DAY - HOUR)) : null;
  return { account_id: id, at: day, post_id: "", provider, media: "", next_at, step: 0 };
}

/** From 0 to 1: posts that went live together are not asked about together. */
function spreadOf(id: string): number {
  return Number.parseInt(hash("sha256", id).slice(0, 8), 16) / 2 ** 32;
}

function mediaTypeOf({ media_url: url, metadata, type }: NewLivePost): MediaType {
  if (url === "") return "text";
  const more = (JSON.parse(metadata ?? "{}") as { moreMedia?: unknown }).moreMedia;
  if (Array.isArray(more) && more.length > 0) return "several";
  return FILE_MEDIA.find((one) => one === type) ?? typeByName(url);
}

const ENDINGS = {
  image: ["jpg", "jpeg", "png", "gif", "webp", "avif"],
  video: ["mp4", "mov", "webm", "m4v", "mkv"],
  audio: ["mp3", "m4a", "wav", "ogg", "flac"],
  document: ["pdf"],
} as const;

/** Of a file that lies elsewhere, by the end of its address. */
function typeByName(url: string): MediaType {
  const [path = ""] = url.split(/[?#]/);
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return FILE_MEDIA.find((type) => ENDINGS[type].some((one) => one === ending)) ?? "other";
}

/** Asks one platform for what is due. Whatever it does, the others are asked meanwhile. */
async function collectFrom(ctx: AppContext, platform: AnyPlatform, isOver: () => boolean): Promise<void> {
  const limit = platform.results?.perMinute ?? PER_MINUTE;
  const rows = await listDueResults(ctx.store, { provider: platform.name, now: ctx.clock.now(), limit });
  const byAccount = new Map<string, ResultRow[]>();
  for (const row of rows) byAccount.set(row.account_id, [...(byAccount.get(row.account_id) ?? []), row]);
  const inTurn = pLimit(CHANNELS_AT_A_TIME);
  let isHeld = false;
  const collect = async (id: string, due: readonly ResultRow[]): Promise<void> => {
    const account = await findAccountById(ctx.store, id);
    for (const row of due.slice(0, PER_CHANNEL)) {
      if (isOver() || isHeld) return;
      const outcome = await snapshot(ctx, platform, { row, account });
      if (outcome === "platform") isHeld = true;
      if (outcome !== "next") return;
    }
  };
  await Promise.all([...byAccount].map(([id, due]) => inTurn(() => collect(id, due))));
}

interface DueResult {
  readonly row: ResultRow;
  readonly account: AccountRow | undefined;
}

/** Takes one snapshot. Tells what may be asked after it: the channel's next, no more of the channel, or of the platform. */
async function snapshot(
  ctx: AppContext,
  platform: AnyPlatform,
  { row, account }: DueResult,
): Promise<"next" | "channel" | "platform"> {
  const now = ctx.clock.now();
  const due = stepOf(row, now);
  if (due.step !== row.step || due.next_at === null || account === undefined) {
    await ctx.store.write((tx) => changeResult(tx, row, account === undefined ? { next_at: null } : due));
    return "next";
  }
  if (account.status !== "connected") return putOff(ctx, { accountId: account.id }, now + HOUR);
  const taken = { ...row, next_at: now + LEASE_MS };
  if (!(await ctx.store.write((tx) => changeResult(tx, row, { next_at: taken.next_at })))) return "next";
  try {
    const told = await within(ASK_TIMEOUT_MS, ask(ctx, platform, { row, account }));
    const further =
      told === null || told.isGone ? { next_at: null } : stepOf({ ...row, step: row.step + 1 }, now);
    const figures = told === null || told.isGone ? {} : { [columnOf(row.step)]: told.figures, reason: null };
    await ctx.store.write((tx) => changeResult(tx, taken, { ...further, ...figures }));
    return "next";
  } catch (error) {
    return explain(ctx, taken, error);
  }
}

/** Where it is now: what cannot be asked in time any more is left out. */
function stepOf(row: ResultRow, now: number): Pick<ResultRow, "step" | "next_at"> {
  const { at, post_id: id, next_at, step } = row;
  // A channel has one a day.
  if (id === "") return { step, next_at: step === 0 && now < at + DAY ? next_at : null };
  const next = nextSnapshot({ at, spread: spreadOf(id) }, step, now);
  return {
    step: next?.step ?? step,
    next_at: next === null ? null : Math.max(next.nextAt, next.step === step ? (next_at ?? 0) : 0),
  };
}

interface FigureSnapshot {
  readonly figures: string;
  /** It is there no more, and is not asked about again. */
  readonly isGone: boolean;
}

/** Null: there is nothing to ask about. */
async function ask(
  ctx: AppContext,
  platform: AnyPlatform,
  { row, account }: { readonly row: ResultRow; readonly account: AccountRow },
): Promise<FigureSnapshot | null> {
  if (row.post_id === "") {
    const io = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
    const date = toIso(row.at).slice(0, 10);
    const told = await platform.analytics?.({ from: date, to: date }, io);
    const followers = told === undefined ? undefined : fitAnalytics(told).totals[FOLLOWERS];
    return followers === undefined ? null : { figures: String(Math.round(followers)), isGone: false };
  }
  const post = await findPost(ctx.store, account.owner_id, row.post_id);
  if (post === null || post.status !== "published" || post.platform_post_id === null) return null;
  const { state, metrics } = await askInsights(ctx, platform, { row: post, account });
  return { figures: packFigures(metrics), isGone: state === "removed" || state === "rejected" };
}

/** Also where a platform's file does not listen to its signal. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const signal = deadline(ms);
  return Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    }),
  ]);
}

async function explain(
  ctx: AppContext,
  row: ResultRow,
  error: unknown,
): Promise<"next" | "channel" | "platform"> {
  const now = ctx.clock.now();
  const { account_id: accountId, provider } = row;
  const fault = error instanceof PlatformFault ? error : null;
  ctx.log.debug({ accountId, provider, err: error }, "figures could not be read");
  if (fault?.kind === "rejected") {
    // It will not say so another time: this figure stays unknown.
    const further = stepOf({ ...row, step: row.step + 1 }, now);
    const reason = plainText(fault.message, MAX_REASON_CHARS);
    await ctx.store.write((tx) => changeResult(tx, row, { ...further, reason }));
    return "next";
  }
  const isSlow = fault?.kind === "setup" || fault?.kind === "auth" || error instanceof AppError;
  const until = now + (fault?.kind === "rate" ? (fault.retryAfterMs ?? AGAIN_MS) : isSlow ? HOUR : AGAIN_MS);
  return fault?.kind === "rate" && fault.scope === "app"
    ? putOff(ctx, { provider }, until)
    : putOff(ctx, { accountId }, until);
}

async function putOff(
  { store }: AppContext,
  of: Parameters<typeof putOffResults>[1],
  until: number,
): Promise<"channel" | "platform"> {
  await store.write((tx) => putOffResults(tx, of, until));
  return "provider" in of ? "platform" : "channel";
}
