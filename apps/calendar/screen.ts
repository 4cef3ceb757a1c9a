import type { Screen } from "./app.ts";
import { element, part, replaceKeepingTyped } from "../shared/dom.ts";
import { complain, hint, say } from "../shared/messages.ts";
import { renderMonth } from "./month-view.ts";
import type { CalendarOptions } from "./options.ts";
import { renderPanel } from "./panel.ts";
import type { State } from "./state.ts";
import { renderText } from "./text-view.ts";
import { renderCarrying, renderLegend, renderToolbar } from "./toolbar.ts";
import { renderWeek } from "./week-view.ts";

/** The parts of the calendar, in their places. Everything is rendered anew after a change; focus and scroll position stay. */
export function createScreen(root: HTMLElement, options: CalendarOptions): Screen {
  root.replaceChildren(...makeParts());
  let shownWeek = "";
  return {
    render(state, focus) {
      const grid = part("grid", root);
      const scrolled = grid.scrollTop;
      replaceKeepingTyped(root, () => fill(root, state), focus);
      // A text comes into view with the buttons below it.
      if (focus?.startsWith("text:") === true)
        root.querySelector(".actions:has(textarea)")?.scrollIntoView({ block: "nearest" });
      root.classList.toggle("loading", state.isLoading);
      root.classList.toggle("moving", state.move !== null);
      const week = state.view === "week" ? `${state.calendar.from} ${state.day} ${state.layout.isText}` : "";
      grid.scrollTop = scrolled;
      if (week !== "" && !shownWeek.startsWith("week")) scrollToHour(grid, state.hour);
      shownWeek = week === "" ? "" : "week";
    },
    showText(text) {
      for (const id of ["toolbar", "panel", "legend"]) part(id, root).replaceChildren();
      part("grid", root).replaceChildren(element("p", { class: "alone" }, text));
    },
    complain(sentence) {
      if (options.onComplaint === undefined) complain(sentence, root);
      else if (sentence !== null) options.onComplaint(sentence);
    },
    hint(sentence) {
      if (options.onHint === undefined) hint(sentence, root);
      else options.onHint(sentence);
    },
    say: (sentence) => say(sentence, root),
  };
}

function makeParts(): readonly HTMLElement[] {
  const close = { type: "button", class: "tool", "data-action": "dismiss" } as const;
  return [
    element("div", { id: "toolbar" }),
    element("div", { id: "carrying" }),
    element(
      "div",
      { id: "body" },
      element("div", { id: "grid" }, element("p", { class: "alone" }, "Loading the calendar…")),
      element("div", { id: "legend" }),
      element("div", { id: "panel" }),
    ),
    element(
      "div",
      { id: "complaint", hidden: true },
      element("p", { id: "complaint-text", role: "alert" }),
      element("button", { ...close, "aria-label": "Close this message" }, "×"),
    ),
    element("div", { id: "live", class: "unseen", role: "status", "aria-live": "polite" }),
  ];
}

function fill(root: HTMLElement, state: State): void {
  const { isText } = state.layout;
  const hasFrame = !isText && state.options.onOpen === undefined;
  const grid = part("grid", root);
  part("toolbar", root).replaceChildren(...(hasFrame ? renderToolbar(state) : []));
  part("carrying", root).replaceChildren(...[renderCarrying(state)].filter((node) => node !== null));
  // The lines alone have nothing in them that the Tab key could scroll to.
  if (isText) grid.tabIndex = 0;
  else grid.removeAttribute("tabindex");
  grid.replaceChildren(
    isText ? renderText(state) : state.view === "month" ? renderMonth(state) : renderWeek(state),
  );
  part("legend", root).replaceChildren(...(isText ? [] : renderLegend(state)));
  const panel = hasFrame ? renderPanel(state) : null;
  part("panel", root).replaceChildren(...(panel === null ? [] : [panel]));
}

function scrollToHour(grid: HTMLElement, hour: number): void {
  const row = grid.querySelector<HTMLElement>(`[data-row="${Math.max(hour - 1, 0)}"]`);
  const head = grid.querySelector<HTMLElement>(".head");
  if (row !== null) grid.scrollTop = row.offsetTop - (head?.offsetHeight ?? 0);
}
