import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newContext } from "../../support/browser.ts";
import { startService, type Service } from "../../support/service.ts";

const WIDTHS = [320, 390, 768, 1_280];

let service: Service;
let base: string;
beforeAll(async () => {
  service = await startService();
  base = `http://127.0.0.1:${service.port}`;
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** Opens a page and notes what the browser complains of. */
async function open(address: string, width: number): Promise<{ page: Page; faults: string[] }> {
  const page = await (await newContext({ viewport: { width, height: 800 } })).newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(address);
  return { page, faults };
}

/** Runs in the page. */
const widthOf = (root: any): number => root.scrollWidth;

describe("the pages", () => {
  it.each(WIDTHS)("fit into a window of %i pixels", async (width) => {
    const feed = await service.addFeed();
    const connection = await service.call("connect_channel", { provider: "bluesky" });
    for (const path of [`/feed/${feed}.html`, new URL(connection.url).pathname]) {
      const { page, faults } = await open(base + path, width);
      expect([path, await page.locator("html").evaluate(widthOf), faults]).toEqual([path, width, []]);
      await page.close();
    }
  });

  it("take a person from the server's bare address to the page, and to its description", async () => {
    for (const [path, target] of [
      ["/", "/app"],
      ["/docs", "/api/v1/docs"],
    ] as const) {
      const { page } = await open(base + path, 1_280);
      expect(page.url()).toBe(base + target);
      await page.close();
      expect((await service.ask(`GET ${path}`, { key: null })).status).toBe(404);
    }
  });
});
