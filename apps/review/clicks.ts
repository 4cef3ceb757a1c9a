import type { App } from "./app.ts";
import { isPast } from "./readiness.ts";
import { type Decision, selectedDraft } from "./state.ts";

/** What a click on an element with `data-action` does, and the Escape key to a question. */
export function listenToClicks(app: App, root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const target =
      event.target instanceof Element ? event.target.closest<HTMLElement>("[data-action]") : null;
    if (target !== null) act(app, target, root);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || (app.state?.asking ?? null) === null) return;
    event.preventDefault();
    leave(app);
  });
}

function act(app: App, target: HTMLElement, root: HTMLElement): void {
  const { action = "", id = "", url = "" } = target.dataset;
  const what = target.dataset["what"] as Decision | undefined;
  const actions: Readonly<Record<string, () => unknown>> = {
    dismiss: () => app.closeComplaint(),
    select: () => app.select(id, target.dataset["key"]?.startsWith("item:") === true ? null : "draft:title"),
    more: () => app.more(),
    fullscreen: () => app.toggleFullscreen(),
    ask: () => what !== undefined && ask(app, what),
    leave: () => leave(app),
    approve: () => approve(app, root),
    changes: () => askForChanges(app, root),
    discard: () => app.decide("discard"),
    stop: () => app.decide("stop"),
    open: () => app.openLink(url),
  };
  actions[action]?.();
}

/** The focus goes to what is typed, else to what changes nothing. */
function ask(app: App, what: Decision): void {
  const draft = app.state === null ? null : selectedDraft(app.state);
  if (app.state === null || draft === null) return;
  const isTimed = what === "approve" && isPast(draft, app.state.now);
  app.update({ asking: what }, what === "changes" ? "note" : isTimed ? "time" : "leave");
}

/** Back to the button that asked. */
function leave(app: App): void {
  app.update({ asking: null }, `ask:${app.state?.asking ?? ""}`);
}

function askForChanges(app: App, root: HTMLElement): void {
  const field = root.querySelector<HTMLTextAreaElement>("textarea[data-key=note]");
  const note = field?.value.trim() ?? "";
  if (note !== "") return void app.decide("changes", { note });
  app.say("Say what to change.");
  field?.setAttribute("aria-invalid", "true");
  field?.focus();
}

/** A time that has gone by is given anew. */
function approve(app: App, root: HTMLElement): void {
  const state = app.state;
  const field = root.querySelector<HTMLInputElement>("input[data-key=time]");
  if (state === null || field === null) return void app.decide("approve");
  const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(field.value);
  if (found === null) {
    app.say("Give a date and a time.");
    return field.focus();
  }
  const [, day = "", hours = "", minutes = ""] = found;
  const at = state.zone.toMs({ day, minutes: Number(hours) * 60 + Number(minutes) });
  void app.decide("approve", { scheduledAt: new Date(at).toISOString() });
}
