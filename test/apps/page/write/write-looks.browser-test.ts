import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { pngOf } from "../../../support/media.ts";
import { addAccount } from "../../../support/post-rows.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const LOOKS = [WIDTHS[0], { name: "small", width: 360 }] as const;

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
  await addAccount(host.ctx.store, { id: "acc_blog", name: "Blog" });
  await addAccount(host.ctx.store, { id: "acc_sky", name: "Alpine Club", provider: "bluesky" });
  await addAccount(host.ctx.store, { id: "acc_tube", name: "Alpine Films", provider: "youtube" });
});
afterAll(() => host?.[Symbol.asyncDispose]());

/** Each state, from one where nothing stands to one where all is open. */
const STATES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  empty: (page) => page.getByText("Choose a channel to see").waitFor(),
  full: async (page) => {
    for (const name of ["Blog", "Alpine Club", "Alpine Films"])
      await page.getByRole("checkbox", { name }).press("Space");
    await page.getByLabel("Text", { exact: true }).fill("Sunrise over the Karwendel. ".repeat(12));
    const files = [20, 21].map((size) => ({
      name: `${size}.png`,
      mimeType: "image/png",
      buffer: pngOf(size, size),
    }));
    await page.locator('input[type="file"]').first().setInputFiles(files);
    await page.getByRole("button", { name: "Move picture 2 up" }).waitFor();
    await page.getByRole("button", { name: "Thread part" }).click();
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await page.getByText("More fields").click();
    await page.getByRole("button", { name: "Customize" }).first().click();
    await page.getByLabel("Another text").check();
    await page.getByLabel("Another time").check();
    await page.getByText("More for Bluesky").click();
    await page.getByText("More for YouTube").click();
    await page.getByText("Labels, note and name (not published)").click();
    await page.getByRole("radio", { name: "Repeat" }).press("Space");
    await page.getByRole("button", { name: "Let texts take turns" }).click();
    await page.getByLabel("Text 2", { exact: true }).fill("Sunset.");
    await page
      .getByText(/too long/)
      .first()
      .waitFor();
    // Both files are there and saved: what changes later takes the refusal away.
    await page.getByRole("article", { name: "Blog" }).locator(".picture").nth(1).waitFor();
    await page.getByRole("button", { name: "Start the series" }).click();
    await page.getByText(/something to mend/).waitFor();
  },
  files: async (page) => {
    await page
      .getByRole("button", { name: /^From your files/ })
      .first()
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "20.png" }).first().waitFor();
  },
  conflict: async (page) => {
    await page.getByRole("checkbox", { name: "Blog" }).press("Space");
    await page.getByLabel("Text", { exact: true }).fill("Mine");
    await page.getByText(/^Saved /).waitFor();
    const id = new URL(page.url()).searchParams.get("draft");
    await host.call("save_draft", { id, revision: 1, caption: "Theirs" });
    await page.getByLabel("Text", { exact: true }).fill("Mine again");
    await page.getByRole("button", { name: "Keep mine as a copy" }).waitFor();
  },
  ask: async (page) => {
    await page.getByRole("checkbox", { name: "Blog" }).press("Space");
    await page.getByLabel("Text", { exact: true }).fill("Now");
    await page.getByRole("radio", { name: "Now" }).press("Space");
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByRole("dialog").waitFor();
  },
};

describe.each(LOOKS)("in a $name window", ({ name, width }) => {
  it.each(Object.entries(STATES))("%s has nothing that axe objects to", async (state, reach) => {
    const page = await host.open({ path: "/app/write", width });
    await reach(page);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `write-${state}-${name}-${theme}`);
      expect([theme, await objectionsTo(page)]).toEqual([theme, []]);
    }
    await page.context().close();
  });
});
