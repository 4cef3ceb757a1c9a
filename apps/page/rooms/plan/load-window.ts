import type { DraftCalendar } from "../../../../src/domain/drafts/calendar.ts";
import { type Json, textOf } from "../../../shared/json.ts";
import { LARGEST_PAGE, listAllPosts } from "../../data/list-posts.ts";
import { call } from "../../data/tools.ts";
import { type PlanFilters, statusesOf } from "./plan-query.ts";

type Posts = DraftCalendar["posts"];

/** What channels and platforms are called that are not in the first answer. */
interface Names {
  channelName(accountId: string): string;
  platformTitle(provider: string): string;
}

/** The days of the plan that fit the filters. */
export async function loadWindow(days: Json, filters: PlanFilters, names: Names): Promise<DraftCalendar> {
  const args = {
    from: textOf(days["from"]),
    to: textOf(days["to"]),
    ...(filters.channels.length > 0 && { accountId: filters.channels }),
  };
  const [calendar, labelled] = await Promise.all([
    loadWhole(args, names),
    filters.label === "" ? null : listAllPosts({ ...args, label: [filters.label] }),
  ]);
  return filterCalendar(calendar, filters, labelled && new Set(labelled.map(({ id }) => id)));
}

/** A calendar with more posts than one answer holds gets them a page at a time. */
async function loadWhole(args: Json, names: Names): Promise<DraftCalendar> {
  const calendar = await call("show_calendar", { ...args, limit: LARGEST_PAGE });
  return calendar.posts.length < LARGEST_PAGE
    ? calendar
    : withPosts(calendar, await listAllPosts(args), names);
}

/** `posts`: the latest first, as they are listed. */
export function withPosts(calendar: DraftCalendar, posts: Posts, known: Names): DraftCalendar {
  const names = Object.fromEntries(posts.map(({ accountId }) => [accountId, known.channelName(accountId)]));
  const platforms = Object.fromEntries(
    posts.map(({ provider }) => [provider, known.platformTitle(provider)]),
  );
  return {
    ...calendar,
    posts: posts.toReversed(),
    names: { ...names, ...calendar.names },
    platforms: { ...platforms, ...calendar.platforms },
  };
}

/** `labelled`: the posts with the label that is asked for. Free times and what series bring have neither state nor label. */
export function filterCalendar(
  calendar: DraftCalendar,
  { states, label }: PlanFilters,
  labelled: ReadonlySet<string> | null,
): DraftCalendar {
  const statuses = statusesOf(states);
  const hasFree = states.length === 0 && label === "";
  const hasDrafts = states.length === 0 || states.includes("draft");
  return {
    ...calendar,
    posts: calendar.posts.filter(
      ({ id, status }) => statuses?.includes(status) !== false && labelled?.has(id) !== false,
    ),
    drafts: calendar.drafts.filter(({ labels }) => hasDrafts && (label === "" || labels.includes(label))),
    freeSlots: hasFree ? calendar.freeSlots : [],
    series: hasFree ? calendar.series : [],
  };
}
