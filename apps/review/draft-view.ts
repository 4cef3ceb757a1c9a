import { element } from "../shared/dom.ts";
import type { Draft } from "../shared/drafts.ts";
import { renderCard } from "./card.ts";
import { renderBadge } from "./list-view.ts";
import { countPosts } from "../shared/texts.ts";
import { type State, when } from "./state.ts";

const DECIDED: Readonly<Record<string, string>> = {
  approved: "approved it",
  changes: "asked for changes",
  discarded: "discarded it",
  stopped: "ended the series",
};

/** One draft: what, when, by whom, and a card for each channel. */
export function renderDraft(state: State, draft: Draft): HTMLElement {
  return element(
    "article",
    { "aria-label": draft.title },
    element(
      "p",
      { class: "facts" },
      renderBadge(draft),
      draft.writtenBy === "" ? null : element("span", { class: "muted", dir: "auto" }, draft.writtenBy),
      ...draft.labels.map((label) => element("span", { class: "label", dir: "auto" }, label)),
    ),
    element("h2", { tabindex: -1, dir: "auto", "data-key": "draft:title" }, draft.title),
    element("p", { class: "when" }, tellTime(state, draft)),
    draft.texts.length === 0
      ? null
      : element(
          "ol",
          { class: "text", "aria-label": "Texts that take turns" },
          ...draft.texts.map((text) => element("li", { dir: "auto" }, text)),
        ),
    draft.note === null ? null : element("p", { class: "note", dir: "auto" }, draft.note),
    renderDecision(state, draft),
    state.cut.has(draft.id)
      ? element("p", { class: "error" }, "Texts are too long to be shown whole here: they end with “…”.")
      : null,
    draft.targets.length === 0
      ? element("p", { class: "text", dir: "auto" }, draft.text)
      : element(
          "ul",
          { class: "cards", "aria-label": "As each channel will show it" },
          ...draft.targets.map((target) => renderCard(state, draft, target)),
        ),
  );
}

function tellTime(state: State, { repeat, scheduledAt, isNextSlot, targets, posts }: Draft): string {
  const count = countPosts(posts.length > 0 ? posts.length : targets.length);
  if (repeat !== null) return repeat;
  const times = new Set(targets.map((target) => target.scheduledAt));
  if (times.size > 1) return `${count}, at different times (${state.zone.name})`;
  const at = [...times][0] ?? scheduledAt;
  if (at === null) return isNextSlot ? `${count}, in the next free slots` : `${count}, at once when approved`;
  return `${when(state, at)} (${state.zone.name}) · ${count}`;
}

function renderDecision(state: State, { decision }: Draft): HTMLElement | null {
  if (decision === null) return null;
  const at = decision.at === null ? "" : ` (${when(state, decision.at)})`;
  const done = DECIDED[decision.what] ?? decision.what;
  const by = decision.by === "" ? "Somebody" : decision.by;
  return element(
    "p",
    { class: "decision", dir: "auto" },
    `${by} ${done}${at}${decision.note === null ? "." : `: ${decision.note}`}`,
  );
}
