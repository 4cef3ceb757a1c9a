import { meantBound } from "../domain/arguments/meant-times.ts";
import { ended, join, named, type Said, say, withSteps } from "../domain/sentences.ts";
import { warnOfHeldChannels, withWaits } from "./waits.ts";
import { findPlatform } from "../channels/platform-io/list-platforms.ts";
import { decodeCursor, encodeCursor, unknownCursor } from "../domain/cursor.ts";
import { AppError } from "../domain/errors.ts";
import { plainText, quote } from "../domain/text/plain-text.ts";
import type { Caller } from "../domain/permissions.ts";
import type { CalendarArgs, ListPostsArgs, SaidCalendar, SaidPostPage } from "../domain/posts/post-lists.ts";
import { MINUTE, formatTime, toIso } from "../domain/time.ts";
import { parseBound } from "../domain/parse-time.ts";
import type { Position, PostFilter } from "../store/engine/search.ts";
import {
  isDismissed,
  isTakenDown,
  isUnknown,
  MAY_BE_OUT,
  type PostStatus,
} from "../domain/posts/post-states.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import type { ShownRow } from "../store/schema/tables.ts";
import { findPlans } from "../store/queries/plans.ts";
import { toPost } from "../store/queries/posts.ts";
import { listAccountRows } from "../store/queries/accounts.ts";
import { type LateFilter, listLate } from "../store/queries/publishing/waiting-posts.ts";
import { capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { listFreeSlots } from "./slots.ts";
import { parseSearch } from "../domain/text/compare-words.ts";
import { meantAccountIds, namesOfAccounts } from "../channels/accounts/accounts.ts";
import { firstWords } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { DateTime } from "luxon";

/** A page of the caller's posts, newest scheduled time first. */
export async function listPosts(call: CallContext, args: ListPostsArgs): Promise<SaidPostPage> {
  const { ctx, caller } = call;
  const filters = await readFilters(ctx, caller, args);
  const before = args.cursor === undefined ? null : readPosition(args.cursor, filters);
  const accountIds = reachable(caller, filters.accountIds);
  const filter = { ...filters, accountIds, ownerId: caller.ownerId };
  const page = await ctx.store.search.page(filter, {
    before,
    limit: args.limit,
    now: () => ctx.clock.monotonic(),
  });
  const late = before === null ? await warnOfLate(call, args, filters) : [];
  const warnings = [
    ...late,
    ...(await warnOfHeldChannels(call, page.rows)),
    ...describeTakenDown(ctx, page.rows),
    ...describeDismissed(page.rows),
  ];
  return {
    posts: (await withWaits(ctx, page.rows)).map(toPost),
    nextCursor:
      page.next === null ? null : encodeCursor(`${page.next.at} ${page.next.id}`, fingerprinted(filters)),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** So many are named. */
const MAX_NAMED = 3;

/** Those of a page that were live: they look like others that are cancelled, with addresses that lead nowhere. */
function describeTakenDown({ settings }: AppContext, rows: readonly ShownRow[]): string[] {
  const gone = rows.filter(isTakenDown);
  if (gone.length === 0) return [];
  const named = gone
    .slice(0, MAX_NAMED)
    .map((row) => `${firstWords(row)} (${row.id}) on ${formatTime(row.updated_at, settings.timezone)}`);
  const more = gone.length > MAX_NAMED ? `; and ${gone.length - MAX_NAMED} more` : "";
  const which =
    gone.length === 1 ? "1 post here was live and was" : `${gone.length} posts here were live and were`;
  return [`${which} taken down: ${named.join("; ")}${more}.`];
}

/** Their errors ask for what is not to be done any more, but where one may be live. */
function describeDismissed(rows: readonly ShownRow[]): Said[] {
  const unknown = rows.filter((row) => isDismissed(row) && isUnknown(row));
  const away = rows.filter((row) => isDismissed(row) && !isUnknown(row));
  const open = unknown
    .slice(0, MAX_NAMED)
    .map((row) =>
      named(
        say(MAY_BE_OUT, { next: [{ do: "settle", postId: row.id, of: "presence" }] }),
        `${firstWords(row)} (${row.id})`,
      ),
    );
  if (away.length === 0) return open;
  const names = away.slice(0, MAX_NAMED).map((row) => `${firstWords(row)} (${row.id})`);
  const more = away.length > MAX_NAMED ? `; and ${away.length - MAX_NAMED} more` : "";
  const which =
    away.length === 1 ? "1 post here had failed and was" : `${away.length} posts here had failed and were`;
  return [
    ...open,
    `${which} dismissed, so nothing that the error asks for is to be done: ${names.join("; ")}${more}.`,
  ];
}

/** A list goes by the planned time. What is late goes out within its bounds, and stands before them. */
async function warnOfLate(
  call: CallContext,
  { search, draftId, ...args }: ListPostsArgs,
  { from, to, providers }: Filters,
): Promise<Said[]> {
  const isNarrowed = search !== undefined || draftId !== undefined;
  if (isNarrowed || (args.from === undefined && args.to === undefined)) return [];
  const isWithin = (at: number): boolean => at >= (from ?? -Infinity) && at <= (to ?? Infinity);
  const late = (await listLatePosts(call, args)).filter(
    ({ provider, scheduledAt }) =>
      !isWithin(Date.parse(scheduledAt)) && (providers === null || providers.includes(provider)),
  );
  if (late.length === 0) return [];
  const names = await namesOfAccounts(call);
  const { timezone } = call.ctx.settings;
  const named = late.slice(0, MAX_NAMED).map(({ id, accountId, caption, mediaUrl, scheduledAt, error }) => {
    const words = firstWords({ caption, media_url: mediaUrl });
    const due = formatTime(Date.parse(scheduledAt), timezone);
    const why = error ?? "It goes out as soon as it is its turn.";
    const which = `${words} on ${plainText(names.get(accountId) ?? accountId, MAX_NAME)}, which was due on ${due}.`;
    return withSteps(join(which, ended(why)), { do: "read", postId: id });
  });
  const more = late.length > MAX_NAMED ? `And ${late.length - MAX_NAMED} more.` : "";
  const posts =
    late.length === 1
      ? "1 post whose time is over still waits"
      : `${late.length} posts whose time is over still wait`;
  return [join(`${posts}, and may go out within from and to:`, ...named, more)];
}

const MAX_NAME = 100;

/** Statuses of posts that are not live yet. */
const PENDING: readonly PostStatus[] = ["scheduled", "publishing", "uploaded"];

type Filters = Omit<PostFilter, "ownerId">;

/**
 * Posts whose time has passed and that go out within these bounds all the same: at once, when they are tried next, or
 * when their channel may be used again. Earliest first.
 */
export async function listLatePosts(
  call: CallContext,
  args: Omit<ListPostsArgs, "limit" | "cursor" | "search" | "draftId" | "provider">,
): Promise<SaidPost[]> {
  const { ctx, caller } = call;
  const filters = await readFilters(ctx, caller, { ...args, limit: 1 });
  const accountIds = reachable(caller, filters.accountIds);
  return (await withWaits(ctx, await findLate(call, { ...filters, accountIds }))).map(toPost);
}

function findLate(
  { ctx, caller }: CallContext,
  { statuses, ...filter }: Pick<Filters, "accountIds" | "statuses" | "labels" | "from" | "to">,
): Promise<ShownRow[]> {
  const wanted = PENDING.filter((status) => statuses === null || statuses.includes(status));
  const now = ctx.clock.now();
  const due = { ownerId: caller.ownerId, now, since: now - ctx.settings.maxLatenessMs };
  const late: LateFilter = { ...filter, ...due, statuses: wanted };
  return listLate(ctx.store, late, MAX_POSTS + 1);
}

/** Rows of both, each once, earliest first. */
function inOrder(...lists: readonly (readonly ShownRow[])[]): ShownRow[] {
  const rows = new Map(lists.flat().map((row) => [row.id, row]));
  return [...rows.values()].sort((a, b) => a.scheduled_at - b.scheduled_at || (a.id < b.id ? -1 : 1));
}

async function readFilters(ctx: AppContext, caller: Caller, args: ListPostsArgs): Promise<Filters> {
  const { timezone } = ctx.settings;
  const meant = meantBound({ now: ctx.clock.now(), timezone });
  const from = args.from === undefined ? null : parseBound("from", args.from, timezone, false, meant);
  const to = args.to === undefined ? null : parseBound("to", args.to, timezone, true, meant);
  if (args.from !== undefined && args.to !== undefined && from !== null && to !== null && from > to) {
    throw new AppError(
      "invalid",
      `from: ${quote(args.from)} is after to (${quote(args.to)}), so no post can fit. Exchange the two, or leave one out.`,
    );
  }
  const providers = knownProviders(ctx, listOf(args.provider));
  const accountIds =
    args.accountId === undefined ? undefined : await meantAccountIds(ctx, caller, args.accountId);
  return {
    accountIds: listOf(accountIds),
    providers,
    statuses: listOf(args.status),
    labels: listOf(args.label),
    draftId: args.draftId ?? null,
    terms: args.search === undefined ? [] : parseSearch(args.search),
    from,
    to,
  };
}

/** Each value once and in order, so that a cursor does not depend on how a list was written. */
function listOf<T extends string>(values: readonly T[] | undefined): readonly T[] | null {
  return values === undefined ? null : [...new Set(values)].sort();
}

function knownProviders(ctx: AppContext, providers: readonly string[] | null): readonly string[] | null {
  return providers === null ? null : listOf(providers.map((provider) => findPlatform(ctx, provider).name));
}

/** A limited key sees only its accounts, whatever it asks for. */
export function reachable(
  { accountIds: allowed }: Caller,
  wanted: readonly string[] | null,
): readonly string[] | null {
  if (allowed === null || wanted === null) return wanted ?? allowed;
  return wanted.filter((id) => allowed.includes(id));
}

function fingerprinted({ terms, ...rest }: Filters): unknown {
  const { accountIds, providers, statuses, from, to, labels = null, draftId = null } = rest;
  const planned = labels === null && draftId === null ? [] : [labels, draftId];
  return [accountIds, providers, statuses, from, to, terms.map((term) => term.text), ...planned];
}

const POSITION = /^(?<at>-?\d{1,15}) (?<id>\w+)$/;

function readPosition(cursor: string, filters: Filters): Position {
  const { at, id } = POSITION.exec(decodeCursor(cursor, fingerprinted(filters)))?.groups ?? {};
  if (at === undefined || id === undefined) throw unknownCursor();
  return { at: Number(at), id };
}

/** Most posts of one calendar: a page of list_posts, and more than a person reads at once. */
const MAX_POSTS = 500;

/**
 * The posts of a time window, earliest first; without bounds those of the current month, with `limit` those to
 * come. Throws `invalid` for too many.
 */
export async function showCalendar(call: CallContext, args: CalendarArgs): Promise<SaidCalendar> {
  const { ctx, caller } = call;
  const { timezone } = ctx.settings;
  const { from, to } = readWindow(ctx, args);
  const wanted = args.accountId === undefined ? null : await meantAccountIds(ctx, caller, args.accountId);
  const filter = {
    ownerId: caller.ownerId,
    accountIds: reachable(caller, wanted),
    providers: null,
    statuses: args.status === undefined ? null : [...new Set(args.status)],
    from,
    to,
  };
  const found = await ctx.store.search.first(filter, args.limit ?? MAX_POSTS + 1);
  const rows = inOrder(await findLate(call, filter), found).slice(0, args.limit);
  if (rows.length > MAX_POSTS) {
    throw new AppError(
      "invalid",
      say(
        `more than ${MAX_POSTS} posts lie between ${toIso(from)} and ${toIso(to)}. Choose a shorter time, or give accountId or limit.`,
        { field: "from, to", next: [{ do: "see", of: "posts" }] },
      ),
    );
  }
  const shownRows = rows.length === args.limit ? await withCopies(ctx, filter, rows) : rows;
  const window = { accountIds: filter.accountIds, from, to };
  const freeSlots = await findFreeSlots(call, window, args.limit ?? MAX_SLOTS);
  const ids = [
    ...new Set([...shownRows.map((row) => row.account_id), ...freeSlots.map(({ accountId }) => accountId)]),
  ];
  const all = await namesOfAccounts(call);
  const names = Object.fromEntries(ids.map((id) => [id, all.get(id) ?? id]));
  const providers = [...new Set(shownRows.map(({ provider }) => provider))];
  const platforms = Object.fromEntries(
    providers.map((provider) => [provider, ctx.platforms.get(provider)?.title ?? provider]),
  );
  const shown = { from: toIso(from), to: toIso(to), timezone };
  const warnings = await warnOfHeldChannels(call, shownRows);
  return {
    posts: (await withWaits(ctx, shownRows)).map(toPost),
    freeSlots,
    names,
    platforms,
    ...shown,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** What is next is a post, not a channel: copies that go out together with the last one are told, too. */
async function withCopies(
  ctx: AppContext,
  filter: Omit<PostFilter, "terms">,
  rows: readonly ShownRow[],
): Promise<readonly ShownRow[]> {
  const at = rows.at(-1)?.scheduled_at;
  if (at === undefined) return rows;
  const together = await ctx.store.search.first({ ...filter, from: at, to: at }, MAX_POSTS);
  const plans = await findPlans(
    ctx.store,
    together.map(({ id }) => id),
  );
  const namesOf = ({ id, media_url: mediaUrl, caption }: ShownRow): string[] => [
    plans.get(id)?.draft_id ?? id,
    JSON.stringify([mediaUrl, caption]),
  ];
  const shown = new Set(rows.map(({ id }) => id));
  const known = new Set(together.filter(({ id }) => shown.has(id)).flatMap(namesOf));
  const isCopy = (row: ShownRow): boolean => namesOf(row).some((name) => known.has(name));
  return [...rows, ...together.filter((row) => !shown.has(row.id) && isCopy(row))];
}

const MAX_SLOTS = 500;

/** Of the accounts (null: all), earliest first. A channel without access has none. */
async function findFreeSlots(
  { ctx, caller }: CallContext,
  window: { readonly accountIds: readonly string[] | null; readonly from: number; readonly to: number },
  limit: number,
): Promise<SaidCalendar["freeSlots"]> {
  const { accountIds, to } = window;
  const now = ctx.clock.now();
  const found: { accountId: string; at: number }[] = [];
  for (const account of await listAccountRows(ctx.store, caller.ownerId)) {
    if (accountIds?.includes(account.id) === false || account.status === "disconnected") continue;
    // Nothing goes out there at its times.
    if (account.paused === 1) continue;
    const lead = capabilitiesFor(ctx, account, null).leadMinutes.default * MINUTE;
    const from = Math.max(window.from, now + lead + 1);
    const slots = await listFreeSlots(ctx.store, account, { from, to, limit });
    found.push(...slots.map((at) => ({ accountId: account.id, at })));
  }
  return found
    .sort((a, b) => a.at - b.at)
    .slice(0, limit)
    .map(({ accountId, at }) => ({ accountId, at: toIso(at) }));
}

/** One bound makes a window of a month, or of a year where the number is limited. Both are included. */
function readWindow(ctx: AppContext, args: CalendarArgs): { readonly from: number; readonly to: number } {
  const { timezone } = ctx.settings;
  const meant = meantBound({ now: ctx.clock.now(), timezone });
  const from = args.from === undefined ? null : parseBound("from", args.from, timezone, false, meant);
  const to = args.to === undefined ? null : parseBound("to", args.to, timezone, true, meant);
  const span = args.limit === undefined ? { months: 1 } : { years: 1 };
  const at = (ms: number): DateTime => DateTime.fromMillis(ms, { zone: timezone });
  if (from === null && to === null) {
    const now = at(ctx.clock.now());
    if (args.limit !== undefined) return { from: now.toMillis(), to: now.plus(span).toMillis() };
    return { from: now.startOf("month").toMillis(), to: now.endOf("month").toMillis() };
  }
  const before = (end: number): number => at(end).minus(span).toMillis() + 1;
  const after = (start: number): number => at(start).plus(span).toMillis() - 1;
  const window = { from: from ?? before(to ?? 0), to: to ?? after(from ?? 0) };
  if (window.from <= window.to) return window;
  throw new AppError(
    "invalid",
    `from: ${quote(args.from ?? "")} is after to (${quote(args.to ?? "")}). Exchange the two, or leave one out.`,
  );
}
