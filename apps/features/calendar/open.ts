import type { App } from "./app.ts";
import type { CalendarDraft, CalendarPost } from "./posts.ts";
import { activeAt, cellKey, isLoaded, type Panel, type Place, type State } from "./state.ts";

/** The day's posts; a day that was not loaded is turned to instead. */
export function openDay(app: App, place: Place): void {
  const { day, hour } = place;
  const state = app.state;
  if (state === null) return;
  if (!isLoaded(state, [day]) && state.abilities.callsTools)
    return void app.show(state.view, day, cellKey(place));
  const active = activeAt(state, { day, minutes: (hour ?? 0) * 60 });
  if (state.options.onOpen === undefined)
    return app.update({ ...active, panel: { kind: "day", day }, move: null }, "panel:title");
  app.update({ ...active, move: null });
  state.options.onOpen({ kind: "day", day });
}

/** In the panel, or where the page around the calendar opens it. */
export function openOne(app: App, one: CalendarPost | CalendarDraft): void {
  const state = app.state;
  if (state === null) return;
  const [kind, at] = "status" in one ? (["post", one.scheduledAt] as const) : (["draft", one.at] as const);
  const active = activeAt(state, state.zone.read(at));
  const opened = { kind, id: one.id };
  if (state.options.onOpen === undefined)
    return app.update({ ...active, panel: opened, move: null }, "panel:title");
  // First, so that a page that keeps the day in its address changes that once. A draft has a page of its own.
  state.options.onOpen({ ...opened, day: active.day });
  app.update(kind === "draft" ? { move: null } : { ...active, move: null });
}

/** Something else of the same panel, as a question about one of its posts. */
export function changePanel(app: App, changes: Pick<Panel, "asking" | "writing">, focus: string): void {
  const panel = app.state?.panel ?? null;
  if (panel !== null) app.update({ panel: { ...panel, ...changes } }, focus);
}

/** The focus goes back to where the panel was opened from. */
export function closePanel(app: App): void {
  const panel = app.state?.panel ?? null;
  if (app.state !== null && panel !== null) app.update({ panel: null }, openerOf(app.state, panel));
}

function openerOf({ view, hour }: State, panel: Panel): string {
  if (panel.kind === "post" || panel.kind === "draft") return `chip:${panel.id}`;
  if (panel.kind === "failed") return "tool:failed";
  return cellKey({ day: panel.day, hour: view === "month" ? null : hour });
}
