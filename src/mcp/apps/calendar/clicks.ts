import type { App } from "./app.ts";
import { findPost } from "./state.ts";
import type { WallTime } from "./zone.ts";

/** What a click on an element with `data-action` does. */
export function listenToClicks(app: App, root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-action]") : null;
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
    retry: () => app.retry(id),
    open: () => openLink(app, id),
    move: () => moveToTyped(app, id, root),
  };
  if (day !== "" || action !== "") actions[action]?.();
}

/** The day's posts, with the cell as the active one. */
export function openDay(app: App, cell: HTMLElement): void {
  const { day = "", hour } = cell.dataset;
  app.update({ day, ...(hour === undefined ? {} : { hour: Number(hour) }), panel: { kind: "day", day }, move: null }, "panel:title");
}

function openPost(app: App, id: string): void {
  const post = app.state === null ? null : findPost(app.state, id);
  if (app.state === null || post === null) return;
  const { day, minutes } = app.state.zone.read(post.scheduledAt);
  app.update({ day, hour: Math.floor(minutes / 60), panel: { kind: "post", id }, move: null }, "panel:title");
}

/** The focus goes back to where the panel was opened from. */
export function closePanel(app: App): void {
  const state = app.state;
  if (state === null) return;
  const { panel, view, day, hour } = state;
  const cell = view === "month" ? `cell:${day}` : `cell:${day}T${hour}`;
  app.update({ panel: null }, panel?.kind === "post" ? `chip:${panel.id}` : panel?.kind === "failed" ? "tool:failed" : cell);
}

function openLink(app: App, id: string): void {
  const url = app.state === null ? null : findPost(app.state, id)?.platformUrl;
  if (url !== null && url !== undefined) app.openLink(url);
}

function moveToTyped(app: App, id: string, root: HTMLElement): void {
  const input = [...root.querySelectorAll<HTMLInputElement>("input[data-time]")].find((one) => one.dataset["time"] === id);
  const to = readTyped(input?.value ?? "");
  if (to === null) return app.say("Give a date and a time.");
  void app.move(id, to);
}

function readTyped(value: string): WallTime | null {
  const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(value);
  if (found === null) return null;
  const [, day = "", hours = "", minutes = ""] = found;
  return { day, minutes: Number(hours) * 60 + Number(minutes) };
}
