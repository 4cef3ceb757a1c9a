import { countOf, renderChip } from "./chip.ts";
import { element } from "../shared/dom.ts";
import type { CalendarPost } from "./posts.ts";
import { daysOf, isLoaded, postsByDay, type State } from "./state.ts";
import { monthOf, type Day } from "../shared/zone.ts";

/** As many as a cell has room for. */
const CHIPS_SHOWN = { inline: 2, fullscreen: 3 } as const;

export function renderMonth(state: State): HTMLElement {
  const days = daysOf(state);
  const posts = postsByDay(state);
  const weeks = Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
  return element(
    "div",
    {
      class: "month",
      role: "grid",
      "aria-label": state.formats.month(state.day),
      "aria-busy": state.isLoading,
    },
    element(
      "div",
      { class: "row head", role: "row" },
      ...days.slice(0, 7).map((day) => element("div", { role: "columnheader" }, state.formats.weekday(day))),
    ),
    ...weeks.map((week) =>
      element(
        "div",
        { class: "row", role: "row" },
        ...week.map((day) => renderDay(state, day, posts.get(day) ?? [])),
      ),
    ),
  );
}

function renderDay(state: State, day: Day, posts: readonly CalendarPost[]): HTMLElement {
  const isActive = day === state.day;
  const isToday = day === state.zone.read(state.now).day;
  const isKnown = isLoaded(state, [day]);
  const shown = posts.slice(0, state.layout.isFullscreen ? CHIPS_SHOWN.fullscreen : CHIPS_SHOWN.inline);
  const hidden = posts.length - shown.length;
  const classes = [
    "cell",
    posts.length === 1 && "lone",
    monthOf(day) !== monthOf(state.day) && "other",
    isToday && "today",
    !isKnown && "unknown",
  ];
  return element(
    "div",
    {
      class: [...classes, state.move?.to.day === day && "target"].filter((one) => one !== false).join(" "),
      role: "gridcell",
      "data-key": `cell:${day}`,
      "data-action": "day",
      "data-day": day,
      tabindex: isActive ? 0 : -1,
      "aria-label": `${state.formats.longDay(day)}, ${isKnown ? countOf(posts) : "not loaded"}`,
      "aria-current": isToday ? "date" : null,
    },
    element(
      "div",
      { class: "date" },
      element("span", { class: "number" }, String(Number(day.slice(8)))),
      hidden > 0
        ? element("span", { class: "more" }, `+${hidden}`, element("span", { class: "word" }, " more"))
        : null,
    ),
    ...shown.map((post) => renderChip(state, post, isActive)),
  );
}
