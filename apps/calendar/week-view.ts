import { countOf, renderChip } from "./chip.ts";
import { element } from "../shared/dom.ts";
import type { CalendarPost } from "./posts.ts";
import { daysOf, isLoaded, postsByDay, type State } from "./state.ts";
import type { Day } from "../shared/zone.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

export function renderWeek(state: State): HTMLElement {
  const days = daysOf(state);
  const posts = postsByDay(state);
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
        ...days.map((day) => renderHour(state, { day, hour }, inHour(state, posts.get(day) ?? [], hour))),
      ),
    ),
  );
}

function inHour({ zone }: State, posts: readonly CalendarPost[], hour: number): readonly CalendarPost[] {
  return posts.filter((post) => Math.floor(zone.read(post.scheduledAt).minutes / 60) === hour);
}

function renderHour(
  state: State,
  { day, hour }: { day: Day; hour: number },
  posts: readonly CalendarPost[],
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
      "aria-label": `${state.formats.longDay(day)}, ${state.formats.hour(hour)}, ${isKnown ? countOf(posts) : "not loaded"}`,
    },
    ...posts.map((post) => renderChip(state, post, isActive)),
  );
}
