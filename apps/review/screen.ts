import { element, part, replaceKeepingTyped } from "../shared/dom.ts";
import { complain, say } from "../shared/messages.ts";
import type { Screen } from "./app.ts";
import { renderDecide } from "./decide-bar.ts";
import { renderDraft } from "./draft-view.ts";
import { renderList, renderText, renderToolbar } from "./list-view.ts";
import { selectedDraft, type State } from "./state.ts";

/** The page itself. Everything is rendered anew after a change; focus, typed texts and scroll position stay. */
export function createScreen(): Screen {
  const app = part("app");
  let shown: string | null = null;
  return {
    render(state, focus) {
      const places = [part("draft"), part("list")];
      const scrolled = places.map((place) => place.scrollTop);
      replaceKeepingTyped(app, () => fill(state), focus);
      places.forEach((place, at) => (place.scrollTop = scrolled[at] ?? 0));
      if (shown !== state.selected) part("draft").scrollTop = 0;
      shown = state.selected;
      app.classList.toggle("loading", state.isLoading);
    },
    showText(text) {
      for (const id of ["toolbar", "list", "decide"]) part(id).replaceChildren();
      part("draft").replaceChildren(element("p", { class: "alone" }, text));
    },
    complain,
    say,
  };
}

function fill(state: State): void {
  const { isText } = state.layout;
  const draft = selectedDraft(state);
  part("toolbar").replaceChildren(...(isText ? [] : renderToolbar(state)));
  part("list").replaceChildren(...(isText || state.drafts.length < 2 ? [] : [renderList(state)]));
  // What scrolls is reached with the Tab key, also where it has no buttons.
  part("draft").tabIndex = 0;
  part("draft").replaceChildren(
    isText
      ? renderText(state)
      : draft === null
        ? element("p", { class: "alone" }, "No drafts..")
        : renderDraft(state, draft),
  );
  const decide = isText || draft === null ? null : renderDecide(state, draft);
  part("decide").replaceChildren(...(decide === null ? [] : [decide]));
}
