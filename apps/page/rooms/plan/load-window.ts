import type { DraftCalendar } from "../../../../src/domain/drafts/calendar.ts";
import { type Json, textOf } from "../../../shared/json.ts";
import { addDays, type Day } from "../../../shared/zone.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../wire.ts";
import { type PlanFilters, statusesOf } from "./plan-query.ts";

/** What the server says where a window holds more posts than one answer. */
const TOO_MANY = /^from, to: more than/;
const MOST_LABELLED = 500;
const ONE_DAY_MS = 86_400_000;

/** The days of the plan that fit the filters. A window with too many posts is asked for in halves. */
export async function loadWindow(days: Json, filters: PlanFilters): Promise<DraftCalendar> {
  const args = {
    from: textOf(days["from"]),
    to: textOf(days["to"]),
    ...(filters.channels.length > 0 && { accountId: filters.channels }),
  };
  const [calendar, labelled] = await Promise.all([
    loadWhole(args),
    filters.label === "" ? null : loadLabelled(filters.label, args),
  ]);
  return filterCalendar(calendar, filters, labelled);
}

interface Window {
  readonly from: Day;
  readonly to: Day;
}

async function loadWhole(args: Window): Promise<DraftCalendar> {
  try {
    return await call("show_calendar", { ...args });
  } catch (error) {
    const halves = halvesOf(args);
    if (halves === null || !(error instanceof CallError && TOO_MANY.test(error.message))) throw error;
    const [first, second] = await Promise.all(halves.map((half) => loadWhole({ ...args, ...half })));
    if (first === undefined || second === undefined) throw error;
    return joinCalendars(first, second);
  }
}

/** Null: it is one day. */
export function halvesOf({ from, to }: Window): readonly [Window, Window] | null {
  const days = (Date.parse(to) - Date.parse(from)) / ONE_DAY_MS;
  if (!(days >= 1)) return null;
  const middle = addDays(from, Math.floor(days / 2));
  return [
    { from, to: middle },
    { from: addDays(middle, 1), to },
  ];
}

export function joinCalendars(first: DraftCalendar, second: DraftCalendar): DraftCalendar {
  // A draft for several times may lie in both.
  const known = new Set(first.drafts.map(({ id }) => id));
  return {
    ...first,
    to: second.to,
    posts: [...first.posts, ...second.posts],
    drafts: [...first.drafts, ...second.drafts.filter(({ id }) => !known.has(id))],
    freeSlots: [...first.freeSlots, ...second.freeSlots],
    names: { ...first.names, ...second.names },
    platforms: { ...first.platforms, ...second.platforms },
  };
}

async function loadLabelled(label: string, window: Window): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: { posts: readonly { id: string }[]; nextCursor: string | null } = await call("list_posts", {
      ...window,
      label: [label],
      limit: MOST_LABELLED,
      ...(cursor !== null && { cursor }),
    });
    for (const { id } of page.posts) ids.add(id);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

/** `labelled`: the posts with the label that is asked for. Free times have neither state nor label. */
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
  };
}
