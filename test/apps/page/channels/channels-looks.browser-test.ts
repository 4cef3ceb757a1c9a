import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queryOf } from "../../../support/handles.ts";
import { objectionsTo, picture, THEMES } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const WIDTHS = [1_280, 360] as const;

let host: PageHost;
let busy = "";
beforeAll(async () => {
  host = await startPageHost();
  busy = (await host.call("connect_channel", { provider: "feed", name: "Busy" })).account.id;
  const broken = (await host.call("connect_channel", { provider: "feed", name: "Broken" })).account.id;
  const slots = [{ days: ["mon", "thu"], times: ["09:00", "17:30"] }];
  await host.call("update_account", { accountId: busy, schedule: { timezone: "UTC", slots }, paused: true });
  for (const caption of ["One", "Two"])
    await host.call("schedule_post", { accountId: busy, caption, slot: "next" });
  await queryOf(host.ctx.store)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: "The password was changed. Enter the new one." })
    .where("id", "=", broken)
    .execute();
});
afterAll(() => host?.[Symbol.asyncDispose]());

interface View {
  readonly path: string;
  reach(page: Page): Promise<void>;
}

const VIEWS: Readonly<Record<string, View>> = {
  list: {
    path: "",
    reach: (page) => page.getByText("The password was changed. Enter the new one.").waitFor(),
  },
  "one channel": {
    path: "?account=BUSY",
    reach: async (page) => {
      await page.getByText("Files, limits and what works on Feed").click();
      await page.getByText("Add times on several days").click();
      await page.getByRole("button", { name: "Add a time on Friday" }).click();
      await page.getByLabel("New time on Friday").fill("10:00");
      await page.keyboard.press("Enter");
      await page.getByText("not saved yet").waitFor();
    },
  },
  "posts to move": {
    path: "?account=BUSY",
    reach: async (page) => {
      await page.getByRole("button", { name: "09:00, Thursday: take away" }).click();
      await page.getByRole("button", { name: "09:00, Monday: take away" }).click();
      await page.getByRole("button", { name: "Save slots" }).click();
      await page.getByRole("dialog", { name: "Move posts" }).waitFor();
    },
  },
  gallery: {
    path: "?connect=",
    reach: (page) => page.getByText("You need").first().waitFor(),
  },
  "an app": {
    path: "?connect=youtube",
    reach: (page) => page.getByRole("heading", { name: "Enter the app" }).waitFor(),
  },
  "an app of Meta": {
    path: "?connect=instagram",
    reach: (page) => page.getByRole("heading", { name: "Enter the app" }).waitFor(),
  },
  "a token": {
    path: "?connect=slack",
    reach: (page) =>
      page
        .getByRole("link", { name: /^https:\/\/api\.slack\.com\/apps\?…$/ })
        .first()
        .waitFor(),
  },
  waiting: {
    path: "?connect=telegram",
    reach: async (page) => {
      const opening = page.context().waitForEvent("page");
      await page.getByRole("button", { name: "Open the page to connect" }).click();
      await (await opening).close();
      await page.getByText("Waiting for you").waitFor();
    },
  },
};

describe("the room of the channels", () => {
  it.each(Object.keys(VIEWS).flatMap((name) => WIDTHS.map((width) => ({ name, width }))))(
    "has nothing that axe objects to: $name, $width pixels wide",
    async ({ name, width }) => {
      const view = VIEWS[name];
      const path = `/app/channels${view?.path.replace("BUSY", busy) ?? ""}`;
      const page = await host.open({ path, width });
      await view?.reach(page);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await picture(page, `channels-${name.replaceAll(" ", "-")}-${width}-${theme}`);
        expect([theme, await objectionsTo(page)]).toEqual([theme, []]);
      }
      await page.context().close();
    },
  );
});
