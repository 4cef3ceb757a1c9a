import type { Screen } from "./app.ts";
import { element, part, replaceKeepingTyped } from "../shared/dom.ts";
import { complain, say } from "../shared/messages.ts";
import { renderMonth } from "./month-view.ts";
import { renderPanel } from "./panel.ts";
import type { State } from "./state.ts";
import { renderText } from "./text-view.ts";
import { renderLegend, renderToolbar } from "./toolbar.ts";
import { renderWeek } from "./week-view.ts";

/** The page itself. Everything is rendered anew after a change; focus and scroll position stay. */
export function createScreen(): Screen {
  const app = part("app");
  let shownWeek = "";
  return {
    render(state, focus) {
      const grid = part("grid");
      const scrolled = grid.scrollTop;
      replaceKeepingTyped(app, () => fill(state), focus);
      // A text comes into view with the buttons below it.
      if (focus?.startsWith("text:") === true)
        app.querySelector(".actions:has(textarea)")?.scrollIntoView({ block: "nearest" });
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
    complain,
    say,
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
