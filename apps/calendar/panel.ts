import { element } from "../shared/dom.ts";
import { DRAFT_STATES } from "../shared/drafts.ts";
import { nameOf } from "../shared/texts.ts";
import { standingOf } from "../shared/statuses.ts";
import {
  canMove,
  CHANGES,
  channelOf,
  inOrder,
  platformOf,
  QUESTIONS,
  type Asked,
  type CalendarDraft,
  type CalendarPost,
} from "./posts.ts";
import { writeWallTime } from "../shared/wall-time.ts";
import { findPost, isLoaded, when, type Panel, type State } from "./state.ts";

/** What lies over the calendar: one post, the posts of a day, or those that failed. */
export function renderPanel(state: State): HTMLElement | null {
  const { panel } = state;
  if (panel === null) return null;
  const posts = postsOf(state, panel);
  const drafts = draftsOf(state, panel);
  const title = titleOf(state, panel);
  return element(
    "section",
    { class: "panel", role: "dialog", "aria-label": title },
    element(
      "header",
      {},
      element("h2", { tabindex: -1, "data-key": "panel:title" }, title),
      element(
        "button",
        {
          type: "button",
          class: "tool",
          "data-key": "panel:close",
          "data-action": "close",
          "aria-label": "Close",
        },
        "×",
      ),
    ),
    ...drafts.map((draft) => renderDraft(state, draft)),
    ...(posts.length === 0 && drafts.length > 0
      ? []
      : posts.length === 0
        ? [element("p", { class: "muted" }, emptyText(state, panel))]
        : posts.map((post) => renderPost(state, post))),
  );
}

function draftsOf({ calendar, zone }: State, panel: Panel): readonly CalendarDraft[] {
  if (panel.kind === "draft") return calendar.drafts.filter(({ id }) => id === panel.id);
  return panel.kind === "day" ? calendar.drafts.filter(({ at }) => zone.read(at).day === panel.day) : [];
}

function postsOf(state: State, panel: Panel): readonly CalendarPost[] {
  const { posts } = state.calendar;
  if (panel.kind === "draft") return [];
  if (panel.kind === "post") return posts.filter((post) => post.id === panel.id);
  if (panel.kind === "failed") return inOrder(posts.filter((post) => post.status === "failed"));
  return inOrder(posts.filter((post) => state.zone.read(post.scheduledAt).day === panel.day));
}

function emptyText(state: State, panel: Panel): string {
  return panel.kind === "day" && !isLoaded(state, [panel.day])
    ? "The posts of this day were not loaded."
    : "No posts.";
}

function titleOf(state: State, panel: Panel): string {
  if (panel.kind === "failed") return "Failed posts";
  if (panel.kind === "day") return state.formats.longDay(panel.day);
  if (panel.kind === "draft") {
    const draft = state.calendar.drafts.find(({ id }) => id === panel.id);
    return draft === undefined ? "Draft" : when(state, draft.at);
  }
  const post = findPost(state, panel.id);
  return post === null ? "Post" : when(state, post.scheduledAt);
}

function renderDraft({ calendar, formats }: State, draft: CalendarDraft): HTMLElement {
  const { label, sign } = DRAFT_STATES[draft.state];
  const channels = draft.targets.map(
    ({ accountId, accountName }) => calendar.names.get(accountId) || accountName || accountId,
  );
  return element(
    "article",
    { "aria-label": draft.title },
    element(
      "p",
      { class: "facts" },
      element(
        "span",
        { class: `status ${draft.state}` },
        element("span", { class: "sign", "aria-hidden": true }, sign),
        label,
      ),
      element("span", { class: "muted", dir: "auto" }, [formats.time(draft.at), ...channels].join(" · ")),
    ),
    element("h3", { dir: "auto" }, draft.title),
    draft.text === "" ? null : element("p", { class: "text", dir: "auto", tabindex: 0 }, draft.text),
    draft.state === "waiting"
      ? element("p", { class: "muted" }, "To decide about it, ask your agent to show the drafts.")
      : null,
  );
}

function renderPost(state: State, post: CalendarPost): HTMLElement {
  const { label, sign } = standingOf(post, state.now);
  const doing = state.busy.get(post.id) ?? null;
  const channel = channelOf(state.calendar, post);
  const time =
    state.panel?.kind === "failed" ? when(state, post.scheduledAt) : state.formats.time(post.scheduledAt);
  return element(
    "article",
    { "aria-label": post.title },
    element(
      "p",
      { class: "facts" },
      element(
        "span",
        { class: `status ${post.status}` },
        element("span", { class: "sign", "aria-hidden": true }, sign),
        label,
      ),
      element(
        "span",
        { class: "muted", dir: "auto" },
        state.panel?.kind === "post" ? channel : `${time} · ${channel}`,
      ),
    ),
    element("h3", { dir: "auto" }, post.title),
    post.text === "" ? null : element("p", { class: "text", dir: "auto", tabindex: 0 }, post.text),
    post.mediaUrl === "" ? null : element("p", { class: "muted" }, `Media: ${nameOf(post.mediaUrl)}`),
    post.error === null || post.status === "cancelled"
      ? null
      : element("p", { class: "error", dir: "auto" }, post.error),
    doing === null ? renderActions(state, post) : element("p", { class: "muted" }, doing),
  );
}

function renderActions(state: State, post: CalendarPost): HTMLElement | null {
  const { asking, writing } = state.panel ?? {};
  const open =
    state.abilities.opensLinks && post.platformUrl !== null
      ? [action("open", post, `Open on ${platformOf(state.calendar, post)}`)]
      : [];
  if (state.abilities.callsTools && writing?.id === post.id) return renderWriting(post, writing.text);
  const isAsked = asking?.id === post.id && CHANGES[asking.what].from === post.status;
  if (state.abilities.callsTools && isAsked) return renderQuestion(post, asking.what);
  const actions = [...open, ...(state.abilities.callsTools ? changesOf(state, post) : [])];
  return actions.length === 0 ? null : element("div", { class: "actions" }, ...actions);
}

/** What a person may do to it here. */
function changesOf(state: State, post: CalendarPost): readonly HTMLElement[] {
  const write = action("write", post, "Edit text");
  if (post.status === "failed")
    return [action("retry", post, "Send again"), write, askAction("putAway", post)];
  if (post.status === "published") return [askAction("takeDown", post)];
  return canMove(post) ? [...moveFields(state, post), write, askAction("cancel", post)] : [];
}

function askAction(what: Asked, post: CalendarPost): HTMLElement {
  const button = action("ask", post, QUESTIONS[what].button);
  button.dataset["what"] = what;
  return button;
}

/** A sandboxed page may open no dialog of the browser's. */
function renderQuestion(post: CalendarPost, what: Asked): HTMLElement {
  const { question, text, yes, no } = QUESTIONS[what];
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": question },
    element("p", {}, `${question} ${text}`),
    action(what, post, yes),
    action("keep", post, no),
  );
}

function renderWriting(post: CalendarPost, text: string): HTMLElement {
  const id = `text-${post.id}`;
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": `Text of ${post.title}` },
    element("label", { for: id }, "Text"),
    element(
      "textarea",
      { id, rows: 4, dir: "auto", "data-key": `text:${post.id}`, "data-text": post.id },
      text,
    ),
    action("save", post, post.status === "failed" ? "Send again" : "Save"),
    action("unwrite", post, "Leave it"),
  );
}

function action(name: string, post: CalendarPost, text: string): HTMLElement {
  const attributes = { type: "button", class: "tool main", "data-action": name, "data-id": post.id } as const;
  return element(
    "button",
    { ...attributes, "data-key": `${name}:${post.id}`, "aria-label": `${text}: ${post.title}` },
    text,
  );
}

function moveFields(state: State, post: CalendarPost): readonly HTMLElement[] {
  const id = `time-${post.id}`;
  return [
    element("label", { for: id }, "New time"),
    element("input", {
      id,
      type: "datetime-local",
      value: writeWallTime(state.zone.read(post.scheduledAt)),
      "data-key": `time:${post.id}`,
      "data-time": post.id,
      "aria-label": `New time of ${post.title} (${state.zone.name})`,
    }),
    action("move", post, "Move"),
  ];
}
