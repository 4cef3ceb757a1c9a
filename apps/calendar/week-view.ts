import { type Cell, countOf, renderChip, renderDraftChip, renderSlot } from "./chip.ts";
import { element } from "../shared/dom.ts";
import type { FreeSlot } from "./posts.ts";
import { daysOf, draftsByDay, isLoaded, postsByDay, slotsByDay, type State } from "./state.ts";
import type { Day } from "../shared/zone.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

export function renderWeek(state: State): HTMLElement {
  const days = daysOf(state);
  const posts = postsByDay(state);
  const drafts = draftsByDay(state);
  const slots = slotsByDay(state);
  const hourOf = (ms: number): number => Math.floor(state.zone.read(ms).minutes / 60);
  const cells = new Map(
    days.map((day) => {
      const postsByHour = Map.groupBy(posts.get(day) ?? [], ({ scheduledAt }) => hourOf(scheduledAt));
      const draftsByHour = Map.groupBy(drafts.get(day) ?? [], ({ at }) => hourOf(at));
      const slotsByHour = Map.groupBy(slots.get(day) ?? [], ({ at }) => hourOf(at));
      return [day, { posts: postsByHour, drafts: draftsByHour, slots: slotsByHour }];
    }),
  );
  const cellOf = (day: Day, hour: number): Cell => ({
    posts: cells.get(day)?.posts.get(hour) ?? [],
    drafts: cells.get(day)?.drafts.get(hour) ?? [],
    slots: cells.get(day)?.slots.get(hour) ?? [],
  });
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
        ...days.map((day) => renderHour(state, { day, hour }, cellOf(day, hour))),
      ),
    ),
  );
}

/** The free slots of an hour: one mark a time. */
function renderSlots({ formats, calendar }: State, slots: readonly FreeSlot[]): readonly HTMLElement[] {
  return [...Map.groupBy(slots, ({ at }) => at)].map(([at, ones]) =>
    element(
      "span",
      {
        class: "slot",
        title: ones.map(({ accountId }) => calendar.names.get(accountId) ?? accountId).join(", "),
      },
      element("span", { class: "time" }, formats.time(at)),
      element("span", { class: "word" }, ones.length === 1 ? " free" : ` ${ones.length} free`),
    ),
  );
}

function renderHour(state: State, { day, hour }: { day: Day; hour: number }, cell: Cell): HTMLElement {
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
    },
    element(
      "span",
      { class: "unseen" },
      `${state.formats.longDay(day)}, ${state.formats.hour(hour)}, ${isKnown ? countOf(cell) : "not loaded"}`,
    ),
    ...cell.drafts.map((draft) => renderDraftChip(state, draft, isActive)),
    ...cell.posts.map((post) => renderChip(state, post, isActive)),
    ...(state.options.tiles === undefined
      ? renderSlots(state, cell.slots)
      : cell.slots.map((slot) => renderSlot(state, slot, isActive))),
  );
}
