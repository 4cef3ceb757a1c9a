import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Frame, Page } from "playwright-core";
import { newContext } from "./browser.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const WIDTHS = [
  { name: "wide", width: 1_280 },
  { name: "phone", width: 375 },
] as const;

/** A page is opened once, and looked at in both. */
export const THEMES = ["light", "dark"] as const;

export function newWindow({ width }: { readonly width: number }): Promise<BrowserContext> {
  return newContext({ viewport: { width, height: 800 }, reducedMotion: "reduce" });
}

/**
 * What axe-core objects to, by all its rules but the experimental ones; and that something is wider than the
 * window.
 */
export async function objectionsTo(at: Page | Frame): Promise<string[]> {
  // What is being read anew is paler for that moment.
  const loading = at.locator(".plan-grid.loading");
  await loading.waitFor({ state: "detached", timeout: 2_000 }).catch(() => {});
  const found: any = await at.evaluate(`${AXE};axe.run(document)`);
  const wider: any = await at.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  return [
    ...found.violations.flatMap(({ id, nodes }: any) =>
      nodes.map((node: any) => `${id}: ${node.html} ${node.failureSummary}`),
    ),
    ...(wider[0] > wider[1] ? [`The page is ${wider[0]} pixels wide in a window of ${wider[1]}.`] : []),
  ];
}

/** Keeps a picture of the page in the folder PICTURES, where that is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["PICTURES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
