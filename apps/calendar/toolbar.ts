import { element } from "../shared/dom.ts";
import { DRAFT_STATES } from "../shared/drafts.ts";
import { STATUSES } from "../shared/statuses.ts";
import {
  countByStatus,
  periodDrafts,
  periodPosts,
  periodTitle,
  type State,
  tellComing,
  type View,
} from "./state.ts";

export function renderToolbar(state: State): readonly Node[] {
  const { layout, abilities } = state;
  const failed = state.calendar.posts.filter((post) => post.status === "failed").length;
  const period = state.view;
  return [
    element(
      "div",
      { class: "group" },
      abilities.callsTools ? tool("previous", "‹", `Previous ${period}`) : null,
      abilities.callsTools ? tool("next", "›", `Next ${period}`) : null,
      abilities.callsTools ? tool("today", "Today", null) : null,
    ),
    element("h1", { "aria-live": "polite" }, periodTitle(state)),
    element(
      "span",
      { class: "zone", title: "Time zone of the calendar" },
      state.isLoading ? "Loading…" : state.zone.name,
    ),
    failed > 0
      ? element(
          "button",
          { type: "button", class: "tool bad", "data-key": "tool:failed", "data-action": "failed" },
          element("span", { "aria-hidden": true }, `${STATUSES.failed.sign} `),
          `${failed} failed`,
        )
      : null,
    element(
      "div",
      { class: "group", role: "group", "aria-label": "View" },
      viewTool(state, "month"),
      viewTool(state, "week"),
    ),
    layout.canFullscreen
      ? tool(
          "fullscreen",
          layout.isFullscreen ? "↙" : "↗",
          layout.isFullscreen ? "Leave full screen" : "Full screen",
        )
      : null,
  ].filter((node) => node !== null);
}

/** What to press while a post is carried, for those who see. */
export function renderCarrying({ view, move, formats, zone }: State): HTMLElement | null {
  if (move === null) return null;
  const time = view === "month" ? "" : `, ${formats.time(zone.toMs(move.to))}`;
  const key = (name: string): HTMLElement => element("kbd", {}, name);
  return element(
    "p",
    // It is said besides.
    { class: "carrying", "aria-hidden": true },
    element("strong", {}, `${formats.longDay(move.to.day)}${time}`),
    element("span", {}, key("← ↑ ↓ →"), ` choose a ${view === "month" ? "day" : "day and an hour"}`),
    element("span", {}, key("Enter"), " puts it there"),
    element("span", {}, key("Esc"), " leaves it"),
  );
}

function tool(action: string, text: string, label: string | null): HTMLElement {
  return element(
    "button",
    {
      type: "button",
      class: "tool",
      "data-key": `tool:${action}`,
      "data-action": action,
      "aria-label": label,
      title: label,
    },
    text,
  );
}

function viewTool(state: State, view: View): HTMLElement {
  const text = view === "month" ? "Month" : "Week";
  const attributes = {
    type: "button",
    class: "tool",
    "data-key": `tool:${view}`,
    "data-action": view,
  } as const;
  return element("button", { ...attributes, "aria-pressed": String(state.view === view) }, text);
}

/** Says what the shapes and colours mean, with the number of posts of each. */
export function renderLegend(state: State): readonly Node[] {
  const counts = countByStatus(periodPosts(state));
  const drafts = Map.groupBy(periodDrafts(state), (draft) => draft.state);
  const coming = tellComing(state).map((line) => element("span", { class: "none", dir: "auto" }, line));
  if (counts.length === 0 && drafts.size === 0)
    return [element("span", { class: "none" }, `No posts in this ${state.view}.`), ...coming];
  return [
    // Days of other months around it are shown and not counted.
    element("span", { class: "none" }, `In this ${state.view}:`),
    ...counts.map(([status, count]) => renderCount(status, STATUSES[status], count)),
    ...[...drafts].map(([one, { length }]) =>
      renderCount(
        one,
        { ...DRAFT_STATES[one], ...(one === "waiting" && { label: "waiting for you" }) },
        length,
      ),
    ),
    ...coming,
  ];
}

function renderCount(
  look: string,
  { label, sign }: { label: string; sign: string },
  count: number,
): HTMLElement {
  return element(
    "span",
    { class: `legend ${look}` },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    `${count} ${label.toLowerCase()}`,
  );
}
