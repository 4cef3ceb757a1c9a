import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createOutbound } from "../../../../src/media/outbound/outbound.ts";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { startReceiver, type Receiver } from "../../../support/webhook-receiver.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });

let host: PageHost;
let receiver: Receiver;
beforeAll(async () => {
  [host, receiver] = await Promise.all([startPageHost("Europe/Berlin", { outbound }), startReceiver()]);
  await host.addFeed();
});
afterAll(async () => {
  for (const one of [host, receiver, outbound]) await one?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id } of (await host.call("list_webhooks", {})).webhooks)
    await host.call("delete_webhook", { id });
});

async function open(options: Partial<Parameters<PageHost["open"]>[0]> = {}): Promise<Page> {
  const page = await host.open({ path: "/app/settings", ...options });
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  return page;
}

const list = (page: Page, id: string) => page.locator(`#${id} > .rows > li`);
const sheet = (page: Page) => page.getByRole("dialog");
const KEY = /phk_[0-9a-z]{26}_[0-9a-f]{64}/;

describe("assistants and keys", () => {
  it("an assistant gets a key that writes drafts, which is shown once and works", async () => {
    const page = await open();
    await page.getByRole("button", { name: /^Claude Code/ }).click();
    expect(await sheet(page).getByRole("radio", { name: "Writes drafts" }).isChecked()).toBe(true);
    await sheet(page).getByRole("button", { name: "Make the key" }).click();
    const command = (await sheet(page).locator("pre").textContent()) ?? "";
    expect(command).toContain(`claude mcp add --scope user --transport http posthorn ${host.address}/mcp`);
    const [key = ""] = KEY.exec(command) ?? [];
    const tried = await fetch(`${host.address}/api/v1/accounts`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(tried.status).toBe(200);
    await sheet(page).getByRole("button", { name: "Done" }).click();
    await sheet(page).waitFor({ state: "detached" });
    await list(page, "keys")
      .filter({ hasText: "Claude Code" })
      .getByText("Writes drafts, you approve")
      .waitFor();
    await expect.poll(() => page.content()).not.toMatch(KEY);
    await page.context().close();
  });

  it("offers links where an assistant takes them", async () => {
    const page = await open();
    await page.getByRole("button", { name: /^Cursor/ }).click();
    await sheet(page).getByRole("button", { name: "Make the key" }).click();
    const link = sheet(page).getByRole("link", { name: "Add to Cursor" });
    expect(await link.getAttribute("href")).toMatch(
      /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=/,
    );
    await page.context().close();
  });

  it("needs no key for what starts on the same machine", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Claude Desktop" }).click();
    await sheet(page).getByText("posthorn install claude-desktop").waitFor();
    await page.context().close();
  });

  it("makes a key for some channels and a time by keyboard alone, and revokes it", async () => {
    const page = await open();
    await page.getByRole("button", { name: "New key" }).focus();
    await page.keyboard.press("Enter");
    await sheet(page).getByRole("radio", { name: "Writes drafts" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Shop");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await sheet(page).getByRole("button", { name: "Make the key" }).focus();
    await page.keyboard.press("Enter");
    await sheet(page).getByRole("alert").getByText("Choose at least one").waitFor();
    await sheet(page).getByRole("checkbox", { name: "Feed of default" }).focus();
    await page.keyboard.press("Space");
    await sheet(page).getByLabel("Good for how long").selectOption("For 30 days");
    await sheet(page).getByRole("button", { name: "Make the key" }).focus();
    await page.keyboard.press("Enter");
    await sheet(page).getByText(KEY).waitFor();
    await sheet(page).getByRole("button", { name: "Done" }).focus();
    await page.keyboard.press("Enter");
    const row = list(page, "keys").filter({ hasText: "Shop" });
    await row.getByText("Publishes by itself · Feed of default").waitFor();
    await row.getByText("Never used · Ends 21 Dec 2026").waitFor();
    await row.getByRole("button", { name: "Revoke Shop" }).focus();
    await page.keyboard.press("Enter");
    await sheet(page).getByRole("button", { name: "Revoke" }).focus();
    await page.keyboard.press("Enter");
    await row.waitFor({ state: "detached" });
    await page.getByText(/no longer works?$/).click();
    await page.locator("details .rows > li").filter({ hasText: "Shop" }).getByText("Revoked").waitFor();
    await page.context().close();
  });

  it("is absent, and said once, for who may not", async () => {
    const page = await open({ permissions: ["read"] });
    await page.getByText("may not manage assistants, keys and notices").waitFor();
    for (const id of ["assistants", "keys", "notices"]) expect(await page.locator(`#${id}`).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Download" }).count()).toBe(0);
    await page.getByText("Europe/Berlin").first().waitFor();
    await page.context().close();
  });
});

describe("notices", () => {
  it("are made, tested and deleted", async () => {
    const page = await open();
    await page.getByText("Nobody is told yet").waitFor();
    await page.getByRole("button", { name: "New notice" }).click();
    await sheet(page).getByText("Slack").click();
    await sheet(page).getByLabel("Address of the webhook").fill(receiver.url);
    await sheet(page).getByRole("checkbox", { name: "A post went live" }).check();
    await sheet(page).getByRole("button", { name: "Make it" }).click();
    const row = list(page, "notices").filter({ hasText: "Slack" });
    await row.getByText("A post went live").waitFor();
    await row.getByRole("button", { name: "Test Slack" }).click();
    await row.getByRole("status").getByText("Slack took the test message.").waitFor();
    expect(receiver.deliveries.at(-1)?.body).toContain("text");
    receiver.replies.push({ status: 404 });
    await row.getByRole("button", { name: "Test Slack" }).click();
    await row.getByRole("status").getByText("did not get through").waitFor();
    await row.getByRole("button", { name: "Delete Slack" }).click();
    await sheet(page).getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("say what is wrong with an address, and keep what was typed", async () => {
    const page = await open();
    await page.getByRole("button", { name: "New notice" }).click();
    await sheet(page).getByLabel("Address of the topic").fill("https://ntfy.sh/");
    await sheet(page).getByRole("button", { name: "Make it" }).click();
    await sheet(page).getByRole("alert").getByText("names no topic").waitFor();
    expect(await sheet(page).getByLabel("Address of the topic").inputValue()).toBe("https://ntfy.sh/");
    await page.context().close();
  });

  it("a program's secret is shown once", async () => {
    const page = await open();
    await page.getByRole("button", { name: "New webhook" }).click();
    await sheet(page).getByLabel("Address").fill(receiver.url);
    await sheet(page).getByRole("button", { name: "Make it" }).click();
    await sheet(page)
      .getByText(/^whsec_/)
      .waitFor();
    await sheet(page).getByRole("button", { name: "Done" }).click();
    await list(page, "notices").getByText("Everything that happens").waitFor();
    await expect.poll(() => page.content()).not.toContain("whsec_");
    await page.context().close();
  });
});

it("another browser is signed out", async () => {
  const other = await open();
  const page = await open();
  const rows = list(page, "this-page");
  await rows.getByText("This one").waitFor();
  const others = await rows.getByRole("button", { name: "Sign out" }).count();
  expect(others).toBeGreaterThan(0);
  // Last seen first or last: whichever it is, one of them goes.
  await rows.getByRole("button", { name: "Sign out" }).first().click();
  await sheet(page).getByRole("button", { name: "Sign out" }).click();
  await sheet(page).waitFor({ state: "detached" });
  await expect.poll(() => rows.getByRole("button", { name: "Sign out" }).count()).toBe(others - 1);
  await Promise.all([other, page].map((one) => one.context().close()));
});

it("an address leads to its section", async () => {
  const page = await open({ path: "/app/settings#this-page", height: 500 });
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0);
  await page.context().close();
});

describe.each([WIDTHS[0], { name: "narrow", width: 360 }])("in a $name window", ({ name, width }) => {
  it("axe objects to nothing, in both themes", async () => {
    await host.call("create_webhook", { url: receiver.url, format: "discord" });
    const page = await open({ width });
    await list(page, "notices").first().waitFor();
    await list(page, "this-page").first().waitFor();
    await look(page, `settings-${name}`);
    await page.getByRole("button", { name: /^VS Code/ }).click();
    await look(page, `settings-key-${name}`);
    await sheet(page).getByRole("button", { name: "Make the key" }).click();
    await sheet(page).getByRole("link", { name: "Add to VS Code" }).waitFor();
    await look(page, `settings-made-${name}`);
    await sheet(page).getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New notice" }).click();
    await look(page, `settings-notice-${name}`);
    await page.context().close();
  });
});

async function look(page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await picture(page, `${name}-${theme}`);
    expect(await objectionsTo(page), theme).toEqual([]);
  }
}
