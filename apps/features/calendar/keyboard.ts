import type { App } from "./app.ts";
import { closePanel, openDay } from "./open.ts";
import { cellKey, daysOf, findPost, isInPeriod, type State } from "./state.ts";
import { addDays, type WallTime } from "../../shared/zone.ts";
import { mayMove, movePost } from "./post-work.ts";

const HOUR_MINUTES = 60;
const LAST_HOUR = 23;

/** Days and hours that an arrow goes; up and down are weeks in a month and hours in a week. */
const ARROWS: Readonly<Record<string, { across: number; down: number }>> = {
  ArrowLeft: { across: -1, down: 0 },
  ArrowRight: { across: 1, down: 0 },
  ArrowUp: { across: 0, down: -1 },
  ArrowDown: { across: 0, down: 1 },
};

/**
 * Arrows walk the grid, M takes a post up, arrows carry it, Enter puts it down, Escape leaves all as it was.
 */
export function pressKey(app: App, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || app.state === null) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const isHandled = app.state.move === null ? walk(app, event.key, target) : carry(app, app.state, event.key);
  if (isHandled) event.preventDefault();
}

function walk(app: App, key: string, target: HTMLElement | null): boolean {
  const state = app.state;
  if (state === null) return false;
  if (key === "Escape" && state.panel !== null) {
    closePanel(app);
    return true;
  }
  const cell = target?.closest<HTMLElement>(".cell") ?? null;
  if (target === null || cell === null) return false;
  if (target !== cell && key.toLowerCase() === "m") return pickUp(app, state, target.dataset["id"] ?? "");
  if (target === cell && (key === "Enter" || key === " ")) {
    const { day = "", hour } = cell.dataset;
    openDay(app, { day, hour: hour === undefined ? null : Number(hour) });
    return true;
  }
  return goTo(app, state, key);
}

function pickUp(app: App, state: State, id: string): boolean {
  const post = findPost(state, id);
  if (post === null) return false;
  if (!mayMove(app, id)) {
    app.say("Only a post that is still scheduled can be moved.");
    return true;
  }
  app.update({ move: { id, to: state.zone.read(post.scheduledAt) } }, `chip:${id}`);
  app.say(
    `Moving ${post.title}. Choose ${state.view === "month" ? "a day" : "day and hour"} with the arrow keys. Enter puts it there, Escape leaves it.`,
  );
  return true;
}

function carry(app: App, state: State, key: string): boolean {
  const { move } = state;
  if (move === null) return false;
  if (key === "Escape" || key === "Tab") {
    app.update({ move: null }, `chip:${move.id}`);
    showAgain(app, state, move.id);
    app.say("Not moved.");
    return true;
  }
  if (key === "Enter" || key === " " || key.toLowerCase() === "m") {
    void movePost(app, move.id, move.to);
    return true;
  }
  const arrow = ARROWS[key];
  if (arrow === undefined) return true;
  const to = state.view === "month" ? byDay(move.to, arrow.across + 7 * arrow.down) : byHour(move.to, arrow);
  // Beyond what is shown, the next month or week is.
  if (!daysOf(state).includes(to.day)) void app.show(state.view, to.day);
  app.update({ move: { ...move, to } }, `chip:${move.id}`);
  const at = state.view === "month" ? "" : `, ${state.formats.time(state.zone.toMs(to))}`;
  app.say(`${state.formats.longDay(to.day)}${at}`);
  return true;
}

/** The post was moved into another month or week: show that of the post again. */
function showAgain(app: App, state: State, id: string): void {
  const post = findPost(state, id);
  const day = post === null ? null : state.zone.read(post.scheduledAt).day;
  if (day !== null && !daysOf(state).includes(day)) void app.show(state.view, day, `chip:${id}`);
}

function byDay(time: WallTime, days: number): WallTime {
  return { ...time, day: addDays(time.day, days) };
}

function byHour({ day, minutes }: WallTime, { across, down }: { across: number; down: number }): WallTime {
  const moved = minutes + down * HOUR_MINUTES;
  return {
    day: addDays(day, across + Math.floor(moved / (24 * HOUR_MINUTES))),
    minutes: (moved + 24 * HOUR_MINUTES) % (24 * HOUR_MINUTES),
  };
}

function goTo(app: App, state: State, key: string): boolean {
  const { day, hour, view } = state;
  const arrow = ARROWS[key];
  const days = daysOf(state);
  if (key === "PageUp" || key === "PageDown") {
    void app.step(key === "PageUp" ? -1 : 1);
    return true;
  }
  const week = days.slice(Math.floor(days.indexOf(day) / 7) * 7).slice(0, 7);
  if (key === "Home" || key === "End")
    return activate(app, { day: (key === "Home" ? week[0] : week.at(-1)) ?? day, hour });
  if (arrow === undefined) return false;
  if (view === "month") return activate(app, { day: addDays(day, arrow.across + 7 * arrow.down), hour });
  return activate(app, {
    day: addDays(day, arrow.across),
    hour: Math.min(Math.max(hour + arrow.down, 0), LAST_HOUR),
  });
}

/** Beyond the days shown it goes on in the next month or week. */
function activate(app: App, { day, hour }: { day: string; hour: number }): boolean {
  const state = app.state;
  if (state === null) return false;
  const focus = cellKey({ day, hour: state.view === "month" ? null : hour });
  if (isInPeriod(state, day)) app.update({ day, hour }, focus);
  else void app.show(state.view, day, focus);
  return true;
}
