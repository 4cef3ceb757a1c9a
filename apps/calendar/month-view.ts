import { type Cell, countOf, renderChip, renderDots, renderDraftChip, renderSlot } from "./chip.ts";
import { element } from "../shared/dom.ts";
import { pressingFirst } from "./posts.ts";
import { daysOf, draftsByDay, isLoaded, postsByDay, slotsByDay, type State } from "./state.ts";
import { monthOf, type Day } from "../shared/zone.ts";

/** As many as a cell has room for. */
const CHIPS_SHOWN = { inline: 2, fullscreen: 3 } as const;

function roomOf({ options, layout }: State): number {
  if (options.hasDots === true) return 0;
  return layout.isFullscreen ? CHIPS_SHOWN.fullscreen : CHIPS_SHOWN.inline;
}

export function renderMonth(state: State): HTMLElement {
  const days = daysOf(state);
  const posts = postsByDay(state);
  const drafts = draftsByDay(state);
  const slots = slotsByDay(state);
  const cellOf = (day: Day): Cell => ({
    posts: posts.get(day) ?? [],
    drafts: drafts.get(day) ?? [],
    slots: slots.get(day) ?? [],
  });
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
      element("div", { class: "row", role: "row" }, ...week.map((day) => renderDay(state, day, cellOf(day)))),
    ),
  );
}

function renderDay(state: State, day: Day, cell: Cell): HTMLElement {
  const { posts, drafts, slots } = cell;
  const isActive = day === state.day;
  const isToday = day === state.zone.read(state.now).day;
  const isKnown = isLoaded(state, [day]);
  const room = roomOf(state);
  const count = drafts.length + posts.length;
  // Drafts first: they are for a person to look at.
  const all = count > room ? pressingFirst(cell, state.move?.id) : [...drafts, ...posts];
  const shown = all
    .slice(0, room)
    .map((one) =>
      "status" in one ? renderChip(state, one, isActive) : renderDraftChip(state, one, isActive),
    );
  const hidden = room === 0 ? 0 : count - shown.length;
  const shownSlots = state.options.tiles === undefined ? [] : slots.slice(0, room - shown.length);
  const hiddenSlots = slots.length - shownSlots.length;
  const classes = [
    "cell",
    count === 1 && "lone",
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
      "aria-current": isToday ? "date" : null,
    },
    element(
      "div",
      { class: "date" },
      element(
        "span",
        { class: "unseen" },
        `${state.formats.longDay(day)}, ${isKnown ? countOf(cell) : "not loaded"}`,
      ),
      element("span", { class: "number", "aria-hidden": true }, String(Number(day.slice(8)))),
      hiddenSlots > 0
        ? element(
            "span",
            { class: "free", "aria-hidden": true },
            String(hiddenSlots),
            element("span", { class: "word" }, " free"),
          )
        : null,
      hidden > 0
        ? element(
            "span",
            { class: "more", "aria-hidden": true },
            `+${hidden}`,
            element("span", { class: "word" }, " more"),
          )
        : null,
    ),
    ...shown,
    ...shownSlots.map((slot) => renderSlot(state, slot, isActive)),
    room === 0 && count > 0 ? renderDots(cell) : null,
  );
}
