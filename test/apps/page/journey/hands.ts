import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";

/** How a person uses the page. All find what they use by its role and its name. */
export interface Hands {
  readonly window: {
    readonly viewport: { readonly width: number; readonly height: number };
    readonly hasTouch?: true;
    readonly isMobile?: true;
  };
  /** Uses a button, a link or a check box. */
  use(target: Locator): Promise<void>;
  /** Puts this text into a field, in the place of what stands there. */
  write(target: Locator, text: string): Promise<void>;
  /** Looks round where a step has ended. */
  look(page: Page, step: string): Promise<void>;
}

const WIDE = { viewport: { width: 1_280, height: 800 } } as const;
/** More than any room has. */
const MOST_STOPS = 150;

interface Focus {
  readonly where: string;
  readonly isLost: boolean;
  readonly isSeen: boolean;
}

/** Where the focus is, and whether it can be seen. What runs in the browser is a text. */
async function focusOf(page: Page): Promise<Focus> {
  const found: any = await page.evaluate(`(() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return { where: "body", isLost: true, isSeen: false };
    const box = at.getBoundingClientRect();
    const isInWindow = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    // A check box that is drawn by its label has its ring there.
    const drawn = [at, at.parentElement, at.parentElement?.parentElement].filter(Boolean);
    const hasRing = drawn.some((one) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    });
    // Its parts are stops of their own, whose ring the browser draws.
    const hasParts = at.matches("[type=datetime-local]");
    return { where: at.outerHTML.slice(0, 160), isLost: false, isSeen: isInWindow && (hasRing || hasParts) };
  })()`);
  return found;
}

const isFocused = (element: any): boolean => element === element.ownerDocument.activeElement;

/** Goes on by Tab until it is there. Each stop on the way can be seen. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    if (await target.evaluate(isFocused)) return;
    await page.keyboard.press("Tab");
    const { where, isLost, isSeen } = await focusOf(page);
    // After the last stop the browser itself has the focus for one press.
    if (!isLost) expect([where, isSeen]).toEqual([where, true]);
  }
  throw new Error(`No number of tabs leads to ${String(target)}.`);
}

/** Keys alone. What a step leads to has the focus, or it stays where it was. */
export const keyboard: Hands = {
  window: WIDE,
  async use(target) {
    const page = target.page();
    await tabTo(page, target);
    const isBox = await target.evaluate((element: any) => element.tagName === "INPUT");
    await page.keyboard.press(isBox ? "Space" : "Enter");
  },
  async write(target, text) {
    const page = target.page();
    await tabTo(page, target);
    if ((await target.getAttribute("type")) === "datetime-local") return target.fill(text);
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
  },
  async look(page, step) {
    await expect.poll(async () => [step, (await focusOf(page)).isLost]).toEqual([step, false]);
  },
};

/** The tree that a screen reader reads. */
export const reader: Hands = {
  window: WIDE,
  use: async (target) => target.press((await target.getAttribute("type")) === "checkbox" ? "Space" : "Enter"),
  write: (target, text) => target.fill(text),
  async look(page, step) {
    const dialog = page.getByRole("dialog");
    const place = (await dialog.count()) > 0 ? dialog.last() : page;
    if (place === page) {
      expect([step, await page.getByRole("main").count()]).toEqual([step, 1]);
      expect([step, await page.getByRole("heading", { level: 1 }).count()]).toEqual([step, 1]);
      expect([step, await page.getByRole("navigation", { name: "Rooms" }).count()]).toEqual([step, 1]);
    }
    const levels = await place
      .getByRole("heading")
      .evaluateAll((all: any[]) =>
        all.map((one) => Number(one.getAttribute("aria-level") ?? one.tagName.slice(1))),
      );
    const jumps = levels.flatMap((level, at) =>
      at > 0 && level > (levels[at - 1] ?? 0) + 1 ? [levels] : [],
    );
    expect([step, jumps]).toEqual([step, []]);
    expect([step, await page.getByRole("status").count()]).not.toEqual([step, 0]);
  },
};

/** A finger on a small telephone. */
export const finger: Hands = {
  window: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  use: (target) => target.tap(),
  write: (target, text) => target.fill(text),
  async look(page, step) {
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `journey-${step}-${theme}`);
      // What is being loaded anew is paler for that moment.
      await page.locator(".plan-grid.loading").waitFor({ state: "detached" });
      expect([step, theme, await objectionsTo(page)]).toEqual([step, theme, []]);
    }
    await page.emulateMedia({ colorScheme: "light" });
  },
};
