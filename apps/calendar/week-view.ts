import { renderChip, renderFree, sayCell } from "./chip.ts";
import { element } from "./dom.ts";
import type { CalendarPost, FreeSlot } from "./posts.ts";
import { daysOf, isLoaded, postsByDay, slotsByDay, type State } from "./state.ts";
import type { Day } from "./zone.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

export function renderWeek(state: State): HTMLElement {
  const days = daysOf(state);
  const posts = postsByDay(state);
  const slots = slotsByDay(state);
  const today = state.zone.read(state.now).day;
  return element(
    "div",
    { class: "week", role: "grid", "aria-label": "Week by hours", "aria-busy": state.isLoading },
    element(
      "div",
      { class: "row head", role: "row" },
      element("div", { role: "columnheader", class: "hour" }, element("span", { class: "unseen" }, "Hour")),
      ...days.map((day) =>
        element(
          "div",
          {
            role: "columnheader",
            class: day === today ? "today" : null,
            "aria-current": day === today ? "date" : null,
          },
          element("span", { class: "name" }, state.formats.weekday(day)),
          " ",
          element("span", { class: "number" }, String(Number(day.slice(8)))),
        ),
      ),
    ),
    ...HOURS.map((hour) =>
      element(
        "div",
        { class: "row", role: "row", "data-row": hour },
        element("div", { role: "rowheader", class: "hour" }, state.formats.hour(hour)),
        ...days.map((day) =>
          renderHour(
            state,
            { day, hour },
            {
              posts: inHour(state, posts.get(day) ?? [], (post) => post.scheduledAt, hour),
              slots: inHour(state, slots.get(day) ?? [], (slot) => slot.at, hour),
            },
          ),
        ),
      ),
    ),
  );
}

function inHour<T>(
  { zone }: State,
  all: readonly T[],
  timeOf: (one: T) => number,
  hour: number,
): readonly T[] {
  return all.filter((one) => Math.floor(zone.read(timeOf(one)).minutes / 60) === hour);
}

function renderHour(
  state: State,
  { day, hour }: { day: Day; hour: number },
  { posts, slots }: { readonly posts: readonly CalendarPost[]; readonly slots: readonly FreeSlot[] },
): HTMLElement {
  const isActive = day === state.day && hour === state.hour;
  const target = state.move?.to;
  const isTarget = target?.day === day && Math.floor(target.minutes / 60) === hour;
  const isKnown = isLoaded(state, [day]);
  return element(
    "div",
    {
      class: ["cell", isTarget && "target", !isKnown && "unknown"].filter((one) => one !== false).join(" "),
      role: "gridcell",
      "data-key": `cell:${day}T${hour}`,
      "data-action": "day",
      "data-day": day,
      "data-hour": hour,
      tabindex: isActive ? 0 : -1,
      "aria-label": `${state.formats.longDay(day)}, ${state.formats.hour(hour)}, ${isKnown ? sayCell(posts, slots) : "not loaded"}`,
    },
    ...posts.map((post) => renderChip(state, post, isActive)),
    renderFree(state, slots),
  );
}
