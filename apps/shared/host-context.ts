import { isJson, jsonOf, textOf, type Json } from "./json.ts";
import { usableLocale } from "./formats.ts";
import { isZone } from "./zone.ts";

/** Inline the calendar takes no more of a conversation than this. */
const MAX_INLINE_HEIGHT = 500;

/** Below this a grid shows nothing; a few lines of text do. */
const MIN_GRID_HEIGHT = 280;
const MIN_GRID_WIDTH = 240;

/** How the host wants the page to look. */
export interface Layout {
  readonly locale: string;
  readonly isText: boolean;
  readonly isFullscreen: boolean;
  readonly canFullscreen: boolean;
}

export function readLayout(context: Json): Layout {
  const mode = textOf(context["displayMode"]);
  const { height, width } = roomOf(context);
  const modes = context["availableDisplayModes"];
  return {
    locale: usableLocale(textOf(context["locale"])),
    isText:
      mode === "pip" ||
      (height ?? MIN_GRID_HEIGHT) < MIN_GRID_HEIGHT ||
      (width ?? MIN_GRID_WIDTH) < MIN_GRID_WIDTH,
    isFullscreen: mode === "fullscreen",
    canFullscreen: Array.isArray(modes) && modes.includes("fullscreen") && modes.includes("inline"),
  };
}

/** Puts theme, room and the host's own colours and fonts on the page. */
export function applyContext(root: HTMLElement, context: Json): void {
  const theme = textOf(context["theme"]);
  root.style.colorScheme = theme === "light" || theme === "dark" ? theme : "light dark";
  const { height, isFixed } = roomOf(context);
  root.classList.toggle("fills", isFixed || textOf(context["displayMode"]) === "fullscreen");
  root.style.setProperty("--max-height", `${Math.min(height ?? MAX_INLINE_HEIGHT, MAX_INLINE_HEIGHT)}px`);
  const insets = jsonOf(context["safeAreaInsets"]);
  for (const side of ["top", "right", "bottom", "left"]) {
    const inset = insets[side];
    root.style.setProperty(`--inset-${side}`, `${typeof inset === "number" ? inset : 0}px`);
  }
  for (const [name, value] of Object.entries(jsonOf(jsonOf(context["styles"])["variables"]))) {
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
  }
}

function roomOf(context: Json): { height: number | null; width: number | null; isFixed: boolean } {
  const room = context["containerDimensions"];
  if (!isJson(room)) return { height: null, width: null, isFixed: false };
  const number = (name: string): number | null => (typeof room[name] === "number" ? room[name] : null);
  return {
    height: number("height") ?? number("maxHeight"),
    width: number("width") ?? number("maxWidth"),
    isFixed: number("height") !== null,
  };
}

/** The person's time zone as the host tells it, else the browser's. */
export function zoneOf(context: Json): string {
  const told = textOf(context["timeZone"]);
  return isZone(told) ? told : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
