import { element } from "../shared/dom.ts";
import type { Draft } from "../shared/drafts.ts";
import { isPast, isUndecided, obstacleOf } from "./readiness.ts";
import { countPosts } from "../shared/texts.ts";
import { type Decision, nextWaiting, type State, when } from "./state.ts";

/** What a person may do, always in sight below the draft. Null: nothing. */
export function renderDecide(state: State, draft: Draft): HTMLElement | null {
  if (!state.abilities.callsTools) return null;
  const doing = state.busy.get(draft.id);
  if (doing !== undefined) return bar(element("p", { class: "muted" }, doing));
  if (isUndecided(draft)) return renderUndecided(state, draft);
  if (draft.state === "repeating")
    return state.asking === "stop"
      ? question(
          ["End this series?", "Its waiting posts are cancelled."],
          [yes("stop", "Yes, end it"), leave("Let it go on")],
        )
      : bar(ask("stop", "End series"), ...renderNext(state));
  const next = renderNext(state);
  return next.length === 0 ? null : bar(...next);
}

function renderUndecided(state: State, draft: Draft): HTMLElement {
  if (state.asking === "approve") return renderApproval(state, draft);
  if (state.asking === "changes") return renderChanges();
  if (state.asking === "discard")
    return question(
      ["Discard this draft?", "Nothing of it goes out."],
      [yes("discard", "Yes, discard it"), leave("Keep it")],
    );
  const obstacle = obstacleOf(draft) ?? (state.cut.has(draft.id) ? tellUnseen(draft) : null);
  return bar(
    obstacle === null
      ? ask("approve", "Approve", "tool main accent")
      : element("p", { class: "muted" }, obstacle),
    ask("changes", "Ask for changes"),
    ask("discard", "Discard"),
  );
}

/** What was not shown whole is no thing to agree to here. */
function tellUnseen({ id }: Draft): string {
  return `It cannot be approved here, because a part of it is not shown. Read and approve it on the command line: posthorn drafts --json, posthorn approve ${id}`;
}

function renderApproval(state: State, draft: Draft): HTMLElement {
  const count = countPosts(draft.targets.length);
  if (draft.repeat !== null)
    return question(
      ["Start this series?", `${draft.repeat}.`],
      [yes("approve", "Yes, start it"), leave("Not yet")],
    );
  if (isPast(draft, state.now)) {
    const time = element("input", { id: "time", type: "datetime-local", "data-key": "time" });
    const label = element("label", { for: "time" }, `New time (${state.zone.name})`);
    return question(
      [`Schedule ${count}?`, "The time has gone by. Give another for all."],
      [label, time, yes("approve", "Yes, schedule"), leave("Not yet")],
    );
  }
  const times = new Set(draft.targets.map(({ scheduledAt }) => scheduledAt));
  const [at = null] = times;
  if (times.size === 1 && at === null && draft.isNextSlot)
    return question(
      [`Schedule ${count}?`, "In the next free slot of each channel."],
      [yes("approve", "Yes, schedule"), leave("Not yet")],
    );
  if (times.size === 1 && at === null)
    return question(
      [`Publish ${count} now?`, "They go out at once."],
      [yes("approve", "Yes, publish now"), leave("Not yet")],
    );
  const time =
    times.size === 1 && at !== null ? `${when(state, at)} (${state.zone.name}).` : "At their own times.";
  return question([`Schedule ${count}?`, time], [yes("approve", "Yes, schedule"), leave("Not yet")]);
}

function renderChanges(): HTMLElement {
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": "Ask for changes" },
    element("label", { for: "note" }, "What should change?"),
    element("textarea", {
      id: "note",
      rows: 3,
      dir: "auto",
      maxlength: 2_000,
      required: true,
      "data-key": "note",
    }),
    yes("changes", "Send back"),
    leave("Not now"),
  );
}

function renderNext(state: State): readonly HTMLElement[] {
  const next = nextWaiting(state);
  if (next === null) return [];
  const attributes = {
    type: "button",
    class: "tool main",
    "data-action": "select",
    "data-id": next.id,
  } as const;
  return [
    element(
      "button",
      { ...attributes, "data-key": "next", dir: "auto", title: next.title },
      `Next: ${next.title}`,
    ),
  ];
}

function bar(...children: readonly HTMLElement[]): HTMLElement {
  return element("div", { class: "actions" }, ...children);
}

/** A sandboxed page may open no dialog of the browser's. */
function question([asked, told]: readonly [string, string], answers: readonly HTMLElement[]): HTMLElement {
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": asked },
    element("p", {}, element("strong", {}, asked), ` ${told}`),
    ...answers,
  );
}

function ask(what: Decision, text: string, look = "tool main"): HTMLElement {
  return element(
    "button",
    { type: "button", class: look, "data-action": "ask", "data-what": what, "data-key": `ask:${what}` },
    text,
  );
}

function yes(what: Decision, text: string): HTMLElement {
  return element(
    "button",
    { type: "button", class: "tool main accent", "data-action": what, "data-key": `yes:${what}` },
    text,
  );
}

function leave(text: string): HTMLElement {
  return element(
    "button",
    { type: "button", class: "tool main", "data-action": "leave", "data-key": "leave" },
    text,
  );
}
