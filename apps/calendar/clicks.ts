import type { App } from "./app.ts";
import { QUESTIONS, type Asked } from "./posts.ts";
import { activeAt, findPost, isLoaded, type Panel, type State } from "./state.ts";
import { readWallTime } from "../shared/wall-time.ts";

/** What a click on an element with `data-action` does. */
export function listenToClicks(app: App, root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const target =
      event.target instanceof Element ? event.target.closest<HTMLElement>("[data-action]") : null;
    if (target !== null) act(app, target, root);
  });
}

function act(app: App, target: HTMLElement, root: HTMLElement): void {
  const { action = "", id = "", day = "" } = target.dataset;
  const state = app.state;
  if (action === "dismiss") return app.closeComplaint();
  if (state === null) return;
  const actions: Readonly<Record<string, () => unknown>> = {
    previous: () => app.step(-1),
    next: () => app.step(1),
    today: () => app.showToday(),
    month: () => app.show("month", state.day),
    week: () => app.show("week", state.day),
    fullscreen: () => app.toggleFullscreen(),
    failed: () => app.update({ panel: { kind: "failed" } }, "panel:title"),
    close: () => closePanel(app),
    day: () => openDay(app, target),
    post: () => openPost(app, id),
    draft: () => openDraft(app, id),
    slot: () => openSlot(state, target),
    retry: () => app.change(id, "retry"),
    ask: () => ask(app, { id, what: target.dataset["what"] }),
    keep: () => change(app, { asking: null }, `ask:${id}`),
    cancel: () => app.change(id, "cancel"),
    takeDown: () => app.change(id, "takeDown"),
    putAway: () => app.change(id, "putAway"),
    write: () => app.write(id),
    unwrite: () => change(app, { writing: null }, `write:${id}`),
    save: () => saveTyped(app, id, root),
    open: () => openLink(app, id),
    move: () => moveToTyped(app, id, root),
  };
  if (day !== "" || action !== "") actions[action]?.();
}

/** The day's posts; a day that was not loaded is turned to instead. */
export function openDay(app: App, cell: HTMLElement): void {
  const { day = "", hour = "0" } = cell.dataset;
  const state = app.state;
  if (state === null) return;
  if (!isLoaded(state, [day]) && state.abilities.callsTools)
    return void app.show(state.view, day, cell.dataset["key"] ?? null);
  const active = activeAt(state, { day, minutes: Number(hour) * 60 });
  if (state.options.onOpen === undefined)
    return app.update({ ...active, panel: { kind: "day", day }, move: null }, "panel:title");
  app.update({ ...active, move: null });
  state.options.onOpen({ kind: "day", day });
}

function openSlot({ options }: State, { dataset }: HTMLElement): void {
  options.onOpen?.({ kind: "slot", accountId: dataset["account"] ?? "", at: Number(dataset["at"]) });
}

function openPost(app: App, id: string): void {
  const state = app.state;
  const post = state === null ? null : findPost(state, id);
  if (state === null || post === null) return;
  openIn(app, state, { kind: "post", id }, post.scheduledAt);
}

function openDraft(app: App, id: string): void {
  const state = app.state;
  const draft = state?.calendar.drafts.find((one) => one.id === id);
  if (state === null || draft === undefined) return;
  openIn(app, state, { kind: "draft", id }, draft.at);
}

/** In the panel, or where the page around the calendar opens it. */
function openIn(app: App, state: State, opened: { kind: "post" | "draft"; id: string }, at: number): void {
  const active = activeAt(state, state.zone.read(at));
  if (state.options.onOpen === undefined)
    return app.update({ ...active, panel: opened, move: null }, "panel:title");
  // First, so that a page that keeps the day in its address changes that once. A draft has a page of its own.
  state.options.onOpen({ ...opened, day: active.day });
  app.update(opened.kind === "draft" ? { move: null } : { ...active, move: null });
}

/** Before something is done that does not come back; the focus goes to what changes nothing. */
function ask(app: App, { id, what }: { readonly id: string; readonly what: string | undefined }): void {
  if (what !== undefined && isAsked(what)) change(app, { asking: { id, what } }, `keep:${id}`);
}

function isAsked(what: string): what is Asked {
  return Object.hasOwn(QUESTIONS, what);
}

function change(app: App, changes: Partial<Panel>, focus: string): void {
  const panel = app.state?.panel ?? null;
  if (panel !== null) app.update({ panel: { ...panel, ...changes } as Panel }, focus);
}

function saveTyped(app: App, id: string, root: HTMLElement): void {
  const field = [...root.querySelectorAll<HTMLTextAreaElement>("textarea[data-text]")].find(
    (one) => one.dataset["text"] === id,
  );
  if (field !== undefined) void app.reword(id, field.value);
}

/** The focus goes back to where the panel was opened from. */
export function closePanel(app: App): void {
  const panel = app.state?.panel ?? null;
  if (app.state === null || panel === null) return;
  app.update({ panel: null }, openerOf(app.state, panel));
}

function openerOf({ view, hour }: State, panel: Panel): string {
  if (panel.kind === "post" || panel.kind === "draft") return `chip:${panel.id}`;
  if (panel.kind === "failed") return "tool:failed";
  return view === "month" ? `cell:${panel.day}` : `cell:${panel.day}T${hour}`;
}

function openLink(app: App, id: string): void {
  const url = app.state === null ? null : findPost(app.state, id)?.platformUrl;
  if (url !== null && url !== undefined) app.openLink(url);
}

function moveToTyped(app: App, id: string, root: HTMLElement): void {
  const input = [...root.querySelectorAll<HTMLInputElement>("input[data-time]")].find(
    (one) => one.dataset["time"] === id,
  );
  const to = readWallTime(input?.value ?? "");
  if (to === null) return app.say("Give a date and a time.");
  void app.move(id, to);
}
