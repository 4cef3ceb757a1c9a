import { App } from "./app.ts";
import { listenToClicks } from "./clicks.ts";
import { listenToDrags } from "./drag.ts";
import { listenToKeys } from "./keyboard.ts";
import type { CalendarOptions } from "./options.ts";
import { createScreen } from "./screen.ts";
import { Host } from "../shared/host.ts";

/**
 * The calendar within an element. It listens nowhere else, so that it is gone with that element.
 * `themed`: what takes the host's theme and colours.
 */
export function mountCalendar(
  root: HTMLElement,
  options: CalendarOptions = {},
  themed: HTMLElement = root,
): { readonly app: App; showText(text: string): void } {
  const screen = createScreen(root, options);
  const app = new App(screen, new Host(themed), options);
  listenToDrags(app, root);
  listenToClicks(app, root);
  listenToKeys(app, root);
  return { app, showText: (text) => screen.showText(text) };
}
