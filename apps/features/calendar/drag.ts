import type { App } from "./app.ts";
import { findPost } from "./state.ts";
import type { WallTime } from "../../shared/zone.ts";
import { mayMove, movePost } from "./post-work.ts";

/** A press that stays within this is a click. */
const CLICK_PX = 5;

interface Drag {
  readonly id: string;
  readonly pointer: number;
  readonly x: number;
  readonly y: number;
  ghost: HTMLElement | null;
}

/**
 * Mouse and pen carry a post to another cell. A finger scrolls; for it the panel has a field for the time.
 */
export function listenToDrags(app: App, root: HTMLElement): void {
  let drag: Drag | null = null;
  let hasDropped = false;
  const end = (): void => {
    drag?.ghost?.remove();
    drag = null;
    mark(root, null);
  };
  root.addEventListener("pointerdown", (event) => {
    const chip = event.target instanceof Element ? event.target.closest<HTMLElement>(".chip") : null;
    const id = chip?.dataset["id"] ?? "";
    if (event.button !== 0 || event.pointerType === "touch" || !mayMove(app, id)) return;
    drag = { id, pointer: event.pointerId, x: event.clientX, y: event.clientY, ghost: null };
  });
  root.addEventListener("pointermove", (event) => {
    if (drag === null || event.pointerId !== drag.pointer) return;
    if (drag.ghost === null && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < CLICK_PX) return;
    if (drag.ghost === null) {
      drag.ghost = makeGhost(app, drag.id);
      root.append(drag.ghost);
      root.setPointerCapture(drag.pointer);
    }
    drag.ghost.style.translate = `${event.clientX + 8}px ${event.clientY + 8}px`;
    mark(root, cellAt(event));
  });
  root.addEventListener("pointerup", (event) => {
    const dropped = drag;
    const cell = cellAt(event);
    end();
    if (dropped === null || dropped.ghost === null) return;
    hasDropped = true;
    setTimeout(() => (hasDropped = false));
    const to = cell === null ? null : placeOf(app, dropped.id, cell);
    if (to !== null) void movePost(app, dropped.id, to);
  });
  root.addEventListener("pointercancel", end);
  // The browser makes a click of every drop.
  root.addEventListener("click", (event) => hasDropped && event.stopImmediatePropagation(), {
    capture: true,
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") end();
  });
}

function makeGhost(app: App, id: string): HTMLElement {
  const ghost = document.createElement("div");
  ghost.className = "ghost";
  ghost.dir = "auto";
  ghost.ariaHidden = "true";
  ghost.textContent = (app.state === null ? null : findPost(app.state, id))?.title ?? "";
  return ghost;
}

function cellAt(event: PointerEvent): HTMLElement | null {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>(".cell") ?? null;
}

function mark(root: HTMLElement, cell: HTMLElement | null): void {
  for (const one of root.querySelectorAll(".over")) if (one !== cell) one.classList.remove("over");
  cell?.classList.add("over");
}

/** In a month the time of day stays, in a week the minutes of the hour. */
function placeOf(app: App, id: string, cell: HTMLElement): WallTime | null {
  const post = app.state === null ? null : findPost(app.state, id);
  const { day, hour } = cell.dataset;
  if (app.state === null || post === null || day === undefined) return null;
  const { minutes } = app.state.zone.read(post.scheduledAt);
  return { day, minutes: hour === undefined ? minutes : Number(hour) * 60 + (minutes % 60) };
}
