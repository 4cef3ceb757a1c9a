import { DateTime } from "luxon";
import { AppError } from "../../domain/errors.ts";
import type { Calendar, CalendarArgs } from "../../domain/posts/post-lists.ts";
import { parseBound, quote, toIso } from "../../domain/time.ts";
import { toPost } from "../../store/queries/posts.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import { meantAccountIds } from "../accounts/meant-channel.ts";
import type { AppContext, CallContext } from "../context.ts";
import { reachable } from "./list-posts.ts";

/** Most posts of one calendar: a page of list_posts, and more than anybody reads at once. */
const MAX_POSTS = 500;

/**
 * The posts of a time window, earliest first; without bounds those of the current month, with `limit` those to
 * come. Throws `invalid` for too many.
 */
export async function showCalendar(call: CallContext, args: CalendarArgs): Promise<Calendar> {
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
  const rows = await ctx.store.search.first(filter, args.limit ?? MAX_POSTS + 1);
  if (rows.length > MAX_POSTS) {
    throw new AppError(
      "invalid",
      `from, to: more than ${MAX_POSTS} posts lie between ${toIso(from)} and ${toIso(to)}. Choose a shorter time, give accountId or limit, or page through list_posts.`,
    );
  }
  const ids = [...new Set(rows.map((row) => row.account_id))];
  const names = Object.fromEntries(await namesOfAccounts(call, ids));
  const providers = [...new Set(rows.map(({ provider }) => provider))];
  const platforms = Object.fromEntries(
    providers.map((provider) => [provider, ctx.platforms.get(provider)?.title ?? provider]),
  );
  return { posts: rows.map(toPost), names, platforms, from: toIso(from), to: toIso(to), timezone };
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** One bound makes a window of a month, or of a year where the number is limited. Both are included. */
function readWindow(ctx: AppContext, args: CalendarArgs): Window {
  const { timezone } = ctx.settings;
  const from = args.from === undefined ? null : parseBound("from", args.from, timezone, false);
  const to = args.to === undefined ? null : parseBound("to", args.to, timezone, true);
  const span = args.limit === undefined ? { months: 1 } : { years: 1 };
  const at = (ms: number): DateTime => DateTime.fromMillis(ms, { zone: timezone });
  if (from === null && to === null) {
    const now = at(ctx.clock.now());
    if (args.limit !== undefined) return { from: now.toMillis(), to: now.plus(span).toMillis() };
    return { from: now.startOf("month").toMillis(), to: now.endOf("month").toMillis() };
  }
  const window = {
    from:
      from ??
      at(to ?? 0)
        .minus(span)
        .plus({ milliseconds: 1 })
        .toMillis(),
    to:
      to ??
      at(from ?? 0)
        .plus(span)
        .minus({ milliseconds: 1 })
        .toMillis(),
  };
  if (window.from <= window.to) return window;
  throw new AppError(
    "invalid",
    `from: ${quote(args.from ?? "")} is after to (${quote(args.to ?? "")}). Exchange the two, or leave one out.`,
  );
}
