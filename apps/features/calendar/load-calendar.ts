import type { ToolAnswer } from "../../shared/bridge.ts";
import type { Json } from "../../shared/json.ts";
import { readCalendar, type Calendar } from "./posts.ts";
import type { Day } from "../../shared/zone.ts";

/** A calendar, or the reason why there is none. `note`: what is missing from it. */
type CalendarAnswer =
  | { readonly calendar: Calendar; readonly note: string | null }
  | { readonly calendar: null; readonly sentence: string };

/** Before the first answer: its window holds no day. */
export const NOTHING_LOADED = {
  posts: [],
  drafts: [],
  freeSlots: [],
  series: [],
  names: new Map(),
  shortNames: new Map(),
  platforms: new Map(),
  from: 0,
  to: -1,
} as const;

export const NO_CALENDAR = "The answer holds no calendar.";

/**
 * Asks for the posts of these days. An answer is no longer than a model can read: what does not fit is asked
 * for in halves.
 */
export async function loadCalendar(
  call: (args: Json) => Promise<ToolAnswer>,
  filters: Json,
  days: readonly Day[],
): Promise<CalendarAnswer> {
  const answer = await call({ ...filters, from: days[0], to: days.at(-1) });
  const calendar = answer.isError ? null : readCalendar(answer.structured);
  if (calendar === null) return { calendar, sentence: answer.isError ? answer.text : NO_CALENDAR };
  if (answer.note === null || days.length < 2) return { calendar, note: answer.note };
  const half = Math.ceil(days.length / 2);
  const first = await loadCalendar(call, filters, days.slice(0, half));
  if (first.calendar === null) return first;
  const second = await loadCalendar(call, filters, days.slice(half));
  if (second.calendar === null) return second;
  const posts = [...first.calendar.posts, ...second.calendar.posts];
  // A draft for several times may be in both halves.
  const known = new Set(first.calendar.drafts.map(({ id }) => id));
  const drafts = [...first.calendar.drafts, ...second.calendar.drafts.filter(({ id }) => !known.has(id))];
  const freeSlots = [...first.calendar.freeSlots, ...second.calendar.freeSlots];
  // A series in both halves has an entry in each, with the times of that half.
  const series = [...first.calendar.series, ...second.calendar.series];
  const names = new Map([...first.calendar.names, ...second.calendar.names]);
  return {
    calendar: { ...first.calendar, to: second.calendar.to, posts, drafts, freeSlots, series, names },
    note: first.note ?? second.note,
  };
}

/** The complete part of a calendar whose end was cut: posts come earliest first. */
export function certainPart(calendar: Calendar): Calendar {
  return { ...calendar, to: (calendar.posts.at(-1)?.scheduledAt ?? calendar.from) - 1 };
}
