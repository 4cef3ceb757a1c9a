import { element } from "../shared/dom.ts";
import { type Draft, DRAFT_STATES, OUTCOMES } from "../shared/drafts.ts";
import { channelName, shortTime, type State } from "./state.ts";

/** State and outcome in a word and a shape. */
export function badgeOf({ state, outcome }: Draft): { label: string; sign: string; colour: string } {
  if (outcome !== null && state === "scheduled") {
    const { label, sign, status } = OUTCOMES[outcome];
    return { label, sign, colour: status };
  }
  return { ...DRAFT_STATES[state], colour: state };
}

export function renderBadge(draft: Draft): HTMLElement {
  const { label, sign, colour } = badgeOf(draft);
  return element(
    "span",
    { class: `status ${colour}` },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    label,
  );
}

export function renderToolbar(state: State): readonly Node[] {
  const { drafts, selected, layout, abilities } = state;
  const at = drafts.findIndex(({ id }) => id === selected);
  const waiting = drafts.filter(({ state: one }) => one === "waiting").length;
  const hasMore = abilities.callsTools && state.nextCursor !== null;
  return [
    element(
      "h1",
      {},
      waiting === 0 ? "Drafts" : waiting === 1 ? "1 draft waits for you" : `${waiting} drafts wait for you`,
    ),
    element("span", { class: "space" }),
    drafts.length < 2
      ? null
      : element(
          "div",
          { class: "pager group", role: "group", "aria-label": "Drafts, one by one" },
          step("‹", "Previous draft", drafts[at - 1]),
          element("span", { class: "place" }, `${at + 1} of ${drafts.length}`),
          step("›", "Next draft", drafts[at + 1]),
        ),
    hasMore ? tool("more", state.isLoading ? "Loading…" : "More", "More drafts") : null,
    layout.canFullscreen
      ? tool(
          "fullscreen",
          layout.isFullscreen ? "↙" : "↗",
          layout.isFullscreen ? "Leave full screen" : "Full screen",
        )
      : null,
  ].filter((node) => node !== null);
}

function tool(action: string, text: string, label: string): HTMLElement {
  const attributes = {
    type: "button",
    class: "tool",
    "data-action": action,
    "aria-label": label,
    title: label,
  } as const;
  return element("button", { ...attributes, "data-key": `tool:${action}` }, text);
}

/** Without a draft in that direction it stands there and does nothing, so that the focus stays on it. */
function step(text: string, label: string, to: Draft | undefined): HTMLElement {
  const button = tool("select", text, label);
  button.dataset["key"] = `item:${label}`;
  if (to === undefined) button.setAttribute("aria-disabled", "true");
  else button.dataset["id"] = to.id;
  return button;
}

export function renderList(state: State): HTMLElement {
  return element("ul", {}, ...state.drafts.map((draft) => element("li", {}, renderItem(state, draft))));
}

function renderItem(state: State, draft: Draft): HTMLElement {
  const { label, sign, colour } = badgeOf(draft);
  return element(
    "button",
    {
      type: "button",
      class: `item ${colour}`,
      "data-action": "select",
      "data-id": draft.id,
      "data-key": `item:${draft.id}`,
      "aria-current": draft.id === state.selected,
    },
    element("span", { class: "title", dir: "auto" }, draft.title),
    " ",
    element("span", { class: "state" }, element("span", { class: "sign", "aria-hidden": true }, sign), label),
    " ",
    element("span", { class: "muted" }, shortTime(state, draft)),
  );
}

/** The drafts in a few lines, for a host that gives little room. */
export function renderText(state: State): HTMLElement {
  const waiting = state.drafts.filter(({ state: one }) => one === "waiting").length;
  return element(
    "div",
    { class: "brief" },
    element("h1", {}, "Drafts"),
    element(
      "p",
      {},
      state.drafts.length === 0
        ? "No drafts."
        : `${waiting} of ${state.drafts.length} wait for you (${state.zone.name})`,
    ),
    element("ul", {}, ...state.drafts.map((draft) => renderLine(state, draft))),
  );
}

function renderLine(state: State, draft: Draft): HTMLElement {
  const { label, sign, colour } = badgeOf(draft);
  const channels = draft.targets.map(({ accountId, accountName }) =>
    channelName(state, accountId, accountName),
  );
  return element(
    "li",
    { class: colour },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    `${label} · ${shortTime(state, draft)} `,
    element("span", { dir: "auto" }, draft.title),
    element(
      "span",
      { class: "muted", dir: "auto" },
      channels.length === 0 ? "" : ` (${channels.join(", ")})`,
    ),
  );
}
