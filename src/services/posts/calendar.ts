import { DateTime } from "luxon";
import { AppError } from "../../domain/errors.ts";
import type { Calendar, CalendarArgs } from "../../domain/posts/post-lists.ts";
import { parseBound, quote, toIso } from "../../domain/time.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { listPosts } from "./list-posts.ts";

/** Most posts of one calendar: a page of list_posts, and more than anybody reads at once. */
const MAX_POSTS = 500;

/**
 * The posts of a time window, earliest first; without bounds those of the current month. Throws `invalid` for
 * too many.
 */
export async function showCalendar(call: CallContext, args: CalendarArgs): Promise<Calendar> {
  const { ctx } = call;
  const { timezone } = ctx.settings;
  const { from, to } = readWindow(ctx, args);
  const page = await listPosts(call, {
    accountId: args.accountId,
    from: toIso(from),
    to: toIso(to),
    limit: MAX_POSTS,
  });
  if (page.nextCursor !== null) {
    throw new AppError(
      "invalid",
      `from, to: more than ${MAX_POSTS} posts lie between ${toIso(from)} and ${toIso(to)}. Choose a shorter time, give accountId, or page through list_posts.`,
    );
  }
  const ids = [...new Set(page.posts.map((post) => post.accountId))];
  const names = Object.fromEntries(await namesOfAccounts(call, ids));
  return { posts: page.posts.toReversed(), names, from: toIso(from), to: toIso(to), timezone };
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** One bound alone makes a window of a month; both are included. */
function readWindow(ctx: AppContext, args: CalendarArgs): Window {
  const { timezone } = ctx.settings;
  const from = args.from === undefined ? null : parseBound("from", args.from, timezone, false);
  const to = args.to === undefined ? null : parseBound("to", args.to, timezone, true);
  const at = (ms: number): DateTime => DateTime.fromMillis(ms, { zone: timezone });
  if (from === null && to === null) {
    const now = at(ctx.clock.now());
    return { from: now.startOf("month").toMillis(), to: now.endOf("month").toMillis() };
  }
  const window = {
    from:
      from ??
      at(to ?? 0)
        .minus({ months: 1 })
        .plus({ milliseconds: 1 })
        .toMillis(),
    to:
      to ??
      at(from ?? 0)
        .plus({ months: 1 })
        .minus({ milliseconds: 1 })
        .toMillis(),
  };
  if (window.from <= window.to) return window;
  throw new AppError(
    "invalid",
    `from: ${quote(args.from ?? "")} is after to (${quote(args.to ?? "")}). Exchange the two, or leave one out.`,
  );
}
