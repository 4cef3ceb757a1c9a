import type { HostAbilities } from "../../shared/bridge.ts";
import { createFormats, type Formats } from "../../shared/formats.ts";
import { readLayout, type Layout } from "../../shared/host-context.ts";
import { STATUSES, type Status } from "../../shared/statuses.ts";
import {
  canMove,
  inOrder,
  type CalendarDraft,
  type FreeSlot,
  type Calendar,
  type CalendarPost,
  type ComingPost,
} from "./posts.ts";
import { type ComingSentence, comingSentence } from "./coming.ts";
import type { CalendarOptions } from "./options.ts";
import { createZone, daysShown, monthOf, type Day, type WallTime, type Zone } from "../../shared/zone.ts";
import type { AskedChange } from "../post/post-changes.ts";

export type View = "month" | "week";

/** What lies over the calendar. */
export type Panel = (
  | { readonly kind: "post"; readonly id: string }
  | { readonly kind: "draft"; readonly id: string }
  | { readonly kind: "day"; readonly day: Day }
  | { readonly kind: "failed" }
) & {
  /** The post that something would be done to, while the person is asked. */
  readonly asking?: { readonly id: string; readonly what: AskedChange } | null;
  /** The post whose text is being written, and the text as it was; `readAt`: when the post was changed last by then. */
  readonly writing?: { readonly id: string; readonly text: string; readonly readAt: string } | null;
};

/** A post that the person has taken up, and where it would go. */
interface Move {
  readonly id: string;
  readonly to: WallTime;
}

export interface State {
  readonly calendar: Calendar;
  readonly zone: Zone;
  readonly formats: Formats;
  readonly layout: Layout;
  readonly abilities: HostAbilities;
  readonly view: View;
  /** The active cell. */
  readonly day: Day;
  readonly hour: number;
  readonly panel: Panel | null;
  readonly move: Move | null;
  /** Posts on their way to the server, with what is being done. */
  readonly busy: ReadonlyMap<string, string>;
  readonly isLoading: boolean;
  readonly now: number;
  readonly options: CalendarOptions;
}

interface StateInput {
  readonly calendar: Calendar;
  readonly abilities: HostAbilities;
  readonly context: Readonly<Record<string, unknown>>;
  readonly now: number;
  readonly options: CalendarOptions;
}

const DAY_MS = 86_400_000;

/** A window of a week is shown as one, anything longer as a month. */
export function createState({ calendar, abilities, context, now, options }: StateInput): State {
  const zone = createZone(calendar.timezone);
  const layout = readLayout(context);
  const { from, to, posts } = calendar;
  const start = now >= from && now <= to ? now : (inOrder(posts)[0]?.scheduledAt ?? from + (to - from) / 2);
  const view = to - from <= 8 * DAY_MS ? "week" : "month";
  const formats = createFormats(layout.locale, calendar.timezone);
  const base = {
    calendar,
    zone,
    formats,
    layout,
    abilities,
    view,
    panel: null,
    move: null,
    busy: new Map(),
    isLoading: false,
    now,
    options,
  } as const;
  const state: State = { ...base, day: zone.read(start).day, hour: 9 };
  return { ...state, hour: firstHour(state) };
}

/** The hour at which a week begins to be of interest. */
export function firstHour(state: State): number {
  const days = daysOf(state);
  const times = state.calendar.posts
    .map((post) => state.zone.read(post.scheduledAt))
    .filter((time) => days.includes(time.day));
  return times.length === 0 ? 9 : Math.floor(Math.min(...times.map((time) => time.minutes)) / 60);
}

export function daysOf({ view, day, formats }: Pick<State, "view" | "day" | "formats">): readonly Day[] {
  return daysShown(view, day, formats.firstWeekday);
}

export function findPost(state: State, id: string): CalendarPost | null {
  return state.calendar.posts.find((post) => post.id === id) ?? null;
}

/** Whether the person may take the post up now. */
export function isMovable({ abilities, busy, options }: State, post: CalendarPost): boolean {
  return canMove(post) && abilities.callsTools && options.mayMove !== false && !busy.has(post.id);
}

/** The posts as shown: one that is being moved stands where it would go, before the others. */
function shownPosts({ calendar, zone, move }: State): readonly CalendarPost[] {
  const posts = inOrder(calendar.posts);
  if (move === null) return posts;
  const moved = posts
    .filter((post) => post.id === move.id)
    .map((post) => ({ ...post, scheduledAt: zone.toMs(move.to) }));
  return [...moved, ...posts.filter((post) => post.id !== move.id)];
}

/** The content of a day, or of one of its hours. */
export interface Cell {
  readonly posts: readonly CalendarPost[];
  readonly drafts: readonly CalendarDraft[];
  readonly slots: readonly FreeSlot[];
  /** What series bring that has no post yet. */
  readonly coming: readonly ComingPost[];
}

/** A day of a month, or an hour of a week. */
export interface Place {
  readonly day: Day;
  readonly hour: number | null;
}

/** What focus and tests find a cell by. */
export function cellKey({ day, hour }: Place): string {
  return hour === null ? `cell:${day}` : `cell:${day}T${hour}`;
}

/** What all cells hold: of days, or of their hours. */
export function cellsOf(state: State, by: "day" | "hour"): (place: Place) => Cell {
  const { calendar, zone } = state;
  const keyAt = (ms: number): string => {
    const { day, minutes } = zone.read(ms);
    return cellKey({ day, hour: by === "day" ? null : Math.floor(minutes / 60) });
  };
  const posts = Map.groupBy(shownPosts(state), ({ scheduledAt }) => keyAt(scheduledAt));
  const drafts = Map.groupBy(inTime(calendar.drafts), ({ at }) => keyAt(at));
  const slots = Map.groupBy(inTime(calendar.freeSlots), ({ at }) => keyAt(at));
  const times = calendar.series.flatMap(({ draftId, title, coming }) =>
    coming.map((at) => ({ draftId, title, at })),
  );
  const coming = Map.groupBy(inTime(times), ({ at }) => keyAt(at));
  return (place) => {
    const key = cellKey(place);
    return {
      posts: posts.get(key) ?? [],
      drafts: drafts.get(key) ?? [],
      slots: slots.get(key) ?? [],
      coming: coming.get(key) ?? [],
    };
  };
}

/** What is in a cell, in words. */
export function countOf({ posts, drafts, slots, coming }: Cell): string {
  const counts = [
    posts.length === 1 ? "1 post" : `${posts.length === 0 ? "no" : posts.length} posts`,
    drafts.length === 0 ? null : drafts.length === 1 ? "1 draft" : `${drafts.length} drafts`,
    slots.length === 0 ? null : `${slots.length} free`,
    coming.length === 0 ? null : `${coming.length} from series, not made yet`,
  ];
  return counts.filter((count) => count !== null).join(", ");
}

function inTime<T extends { readonly at: number }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => a.at - b.at);
}

/** The drafts of the month or week itself. */
export function periodDrafts(state: State): readonly CalendarDraft[] {
  return inTime(state.calendar.drafts).filter(({ at }) => isInPeriod(state, state.zone.read(at).day));
}

/** What series bring to the month or week, beside the posts that are made: a line each. */
export function comingLines(state: State): readonly ComingSentence[] {
  return state.calendar.series.flatMap((one) => {
    const days = one.coming.map((at) => state.zone.read(at).day).filter((day) => isInPeriod(state, day));
    return days.length === 0 ? [] : [comingSentence(one, days, state.formats.shortDay)];
  });
}

/** Whether the day lies in the month or week that is shown; days of other months around it do not. */
export function isInPeriod(state: State, day: Day): boolean {
  return daysOf(state).includes(day) && (state.view === "week" || monthOf(day) === monthOf(state.day));
}

/** The active cell after something was done at a time: that of the time, unless it would turn the page. */
export function activeAt(state: State, { day, minutes }: WallTime): Pick<State, "day" | "hour"> {
  return isInPeriod(state, day)
    ? { day, hour: Math.floor(minutes / 60) }
    : { day: state.day, hour: state.hour };
}

/** Whether the server was asked about the whole of these days. */
export function isLoaded({ calendar, zone }: State, days: readonly Day[]): boolean {
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return true;
  return (
    zone.toMs({ day: first, minutes: 0 }) >= calendar.from &&
    zone.toMs({ day: last, minutes: 24 * 60 }) - 1 <= calendar.to
  );
}

/** The posts of the month or week itself, without the days of other months around it. */
export function periodPosts(state: State): readonly CalendarPost[] {
  const days = new Set(daysOf(state).filter((day) => isInPeriod(state, day)));
  return state.calendar.posts.filter((post) => days.has(state.zone.read(post.scheduledAt).day));
}

export function countByStatus(posts: readonly CalendarPost[]): readonly (readonly [Status, number])[] {
  const statuses = Object.keys(STATUSES).filter((status): status is Status =>
    Object.hasOwn(STATUSES, status),
  );
  return statuses
    .map((status) => [status, posts.filter((post) => post.status === status).length] as const)
    .filter(([, count]) => count > 0);
}

export function periodTitle({ view, day, formats }: State): string {
  if (view === "month") return formats.month(day);
  const days = daysShown("week", day, formats.firstWeekday);
  return formats.range(days[0] ?? day, days.at(-1) ?? day);
}

export function when(state: State, ms: number): string {
  return `${state.formats.longDay(state.zone.read(ms).day)}, ${state.formats.time(ms)}`;
}
