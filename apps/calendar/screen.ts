import type { Screen } from "./app.ts";
import { element, part, replaceKeepingFocus } from "./dom.ts";
import { forPeople } from "./for-people.ts";
import { renderMonth } from "./month-view.ts";
import { renderPanel } from "./panel.ts";
import type { State } from "./state.ts";
import { renderText } from "./text-view.ts";
import { renderLegend, renderToolbar } from "./toolbar.ts";
import { renderWeek } from "./week-view.ts";

/** The page itself. Everything is rendered anew after a change; focus and scroll position stay. */
export function createScreen(): Screen {
  const app = part("app");
  const complaint = part("complaint");
  let shownWeek = "";
  return {
    render(state, focus) {
      const grid = part("grid");
      const scrolled = grid.scrollTop;
      const typed = typedTimes(app);
      replaceKeepingFocus(app, () => fill(state), focus);
      for (const [id, value] of typed) restoreTime(app, id, value);
      app.classList.toggle("loading", state.isLoading);
      app.classList.toggle("moving", state.move !== null);
      const week = state.view === "week" ? `${state.calendar.from} ${state.day} ${state.layout.isText}` : "";
      grid.scrollTop = scrolled;
      if (week !== "" && !shownWeek.startsWith("week")) scrollToHour(grid, state.hour);
      shownWeek = week === "" ? "" : "week";
    },
    showText(text) {
      for (const id of ["toolbar", "panel", "legend"]) part(id).replaceChildren();
      part("grid").replaceChildren(element("p", { class: "alone" }, text));
    },
    complain(sentence) {
      complaint.hidden = sentence === null;
      part("complaint-text").textContent = forPeople(sentence ?? "");
    },
    say(sentence) {
      part("live").textContent = sentence;
    },
  };
}

function fill(state: State): void {
  const { isText } = state.layout;
  part("toolbar").replaceChildren(...(isText ? [] : renderToolbar(state)));
  // The lines alone have nothing in them that the Tab key could scroll to.
  if (isText) part("grid").tabIndex = 0;
  else part("grid").removeAttribute("tabindex");
  part("grid").replaceChildren(
    isText ? renderText(state) : state.view === "month" ? renderMonth(state) : renderWeek(state),
  );
  part("legend").replaceChildren(...(isText ? [] : renderLegend(state)));
  const panel = isText ? null : renderPanel(state);
  part("panel").replaceChildren(...(panel === null ? [] : [panel]));
}

function scrollToHour(grid: HTMLElement, hour: number): void {
  const row = grid.querySelector<HTMLElement>(`[data-row="${Math.max(hour - 1, 0)}"]`);
  const head = grid.querySelector<HTMLElement>(".head");
  if (row !== null) grid.scrollTop = row.offsetTop - (head?.offsetHeight ?? 0);
}

/** A time that is being typed must survive news about other posts. */
function typedTimes(app: HTMLElement): ReadonlyMap<string, string> {
  const inputs = [...app.querySelectorAll<HTMLInputElement>("input[data-time]")];
  return new Map(
    inputs
      .filter((input) => input.value !== input.defaultValue)
      .map((input) => [input.dataset["time"] ?? "", input.value]),
  );
}

function restoreTime(app: HTMLElement, id: string, value: string): void {
  for (const input of app.querySelectorAll<HTMLInputElement>("input[data-time]"))
    if (input.dataset["time"] === id) input.value = value;
}
