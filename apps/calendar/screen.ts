import type { Screen } from "./app.ts";
import { element, part, replaceKeepingFocus } from "../shared/dom.ts";
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
      const typed = typedFields(app);
      replaceKeepingFocus(app, () => fill(state), focus);
      for (const [key, value] of typed) restoreField(app, key, value);
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

type Field = HTMLInputElement | HTMLTextAreaElement;

const fieldsOf = (app: HTMLElement): readonly Field[] => [
  ...app.querySelectorAll<Field>("input[data-time], textarea[data-text]"),
];

/** A time or a text that is being typed must survive news about other posts. */
function typedFields(app: HTMLElement): ReadonlyMap<string, string> {
  const changed = fieldsOf(app).filter((field) => field.value !== field.defaultValue);
  return new Map(changed.map((field) => [field.dataset["key"] ?? "", field.value]));
}

function restoreField(app: HTMLElement, key: string, value: string): void {
  for (const field of fieldsOf(app)) if (field.dataset["key"] === key) field.value = value;
}
