import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../../src/app/setup.ts";
import { MINUTE } from "../../../../src/domain/time.ts";
import { createPhotobox } from "../../../support/connect-fixtures.ts";
import { objectionsTo, picture } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

let host: PageHost;
beforeAll(async () => {
  const { platforms } = await loadCatalog();
  const all = [...platforms, createPhotobox().platform];
  host = await startPageHost("Europe/Berlin", { platforms: new Map(all.map((one) => [one.name, one])) });
});
afterAll(() => host?.[Symbol.asyncDispose]());

async function accountsOn(provider: string): Promise<any[]> {
  const { accounts } = await host.call("list_accounts", {});
  return accounts.filter((account: any) => account.provider === provider);
}

/** As if the platform's app were entered, or forgotten. */
function setApp(platform: string, isSet: boolean): void {
  const settings: Record<string, string> = host.ctx.settings.platformSettings;
  for (const name of ["CLIENT_ID", "CLIENT_SECRET"]) {
    if (isSet) settings[`POSTHORN_${platform}_${name}`] = "set";
    else delete settings[`POSTHORN_${platform}_${name}`];
  }
}

/** Begins to connect, and answers the page that opens beside. */
async function openBeside(page: Page): Promise<Page> {
  const opening = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Open the page to connect" }).click();
  const beside = await opening;
  await beside.getByRole("heading").first().waitFor();
  await page.getByText("Waiting for you on the page beside this one").waitFor();
  return beside;
}

async function enter(beside: Page, handle: string, password: string): Promise<void> {
  await beside.getByLabel("Handle").fill(handle);
  await beside.getByLabel("App password").fill(password);
  await beside.getByRole("button", { name: "Connect" }).click();
}

describe("connecting a channel", () => {
  it("invites to it on a new installation, and connects what needs nothing at once", async () => {
    const page = await host.open({ path: "/app/channels" });
    await page.getByRole("link", { name: "Choose a platform" }).click();
    const search = page.getByRole("searchbox", { name: "Search a platform" });
    const names = page.locator(".platform-title");
    expect((await names.allInnerTexts()).slice(0, 3)).toEqual(["Instagram", "Facebook", "TikTok"]);
    for (const [called, title] of [
      ["twitter", "X"],
      ["fb", "Facebook"],
      ["insta", "Instagram"],
      ["rss", "Feed"],
      ["toot", "Mastodon"],
      ["yt", "YouTube"],
    ] as const) {
      await search.fill(called);
      await expect.poll(() => names.allInnerTexts()).toContain(title);
    }
    await search.fill("no such place");
    await page.getByText("No platform of this name can be connected yet.").waitFor();
    await search.fill("fee");
    await page.getByText("1 platform", { exact: true }).waitFor();
    await page.getByRole("link", { name: /^Feed/ }).click();
    await page.getByRole("heading", { name: "Connect Feed" }).waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("My second feed");
    await page.keyboard.press("Enter");
    await page.getByText("Connected: My second feed").waitFor();
    await page.getByRole("link", { name: "Set up its slots" }).click();
    await page.getByRole("dialog", { name: "My second feed" }).waitFor();
    expect((await accountsOn("feed")).map(({ name }) => name)).toContain("My second feed");
    await page.context().close();
  });

  it("goes on by itself when the secrets are entered on the page beside", async () => {
    const page = await host.open({ path: "/app/channels?connect=photobox" });
    await page.getByText("The page asks for: Handle, App password and Hint.").waitFor();
    const beside = await openBeside(page);
    expect(beside.url()).toMatch(/\/connect\//);
    expect(await beside.evaluate("window.opener")).toBeNull();
    await enter(beside, "alice.example", "wrong one");
    await page.getByRole("alert").getByText("Photobox does not know it").waitFor();
    await enter(beside, "alice.example", "alice-password-1");
    await page.getByText("Connected: alice.example").waitFor();
    await beside.getByRole("link", { name: "Set its slots, or change its name" }).waitFor();
    // No one sent an address: the person made it.
    expect(await beside.getByText("The person who sent you the address").count()).toBe(0);
    expect(await accountsOn("photobox")).toMatchObject([{ handle: "alice.example", status: "connected" }]);
    await page.getByRole("link", { name: "All channels" }).last().click();
    await page.getByRole("link", { name: "alice.example", exact: true }).waitFor();
    await page.context().close();
  });

  it("says what a second one of the same name is called, and where that can be changed", async () => {
    const { account } = await host.call("connect_channel", { provider: "feed", name: "Fjord Bakery" });
    for (const width of [360, 1_280]) {
      const page = await host.open({ path: "/app/channels?connect=feed", width });
      await page.getByRole("textbox", { name: "Name" }).fill("Fjord Bakery");
      await page.getByRole("button", { name: "Connect", exact: true }).click();
      await page
        .getByText(/^Another channel goes by its name, so it is called “Fjord Bakery on Feed \(/)
        .waitFor();
      await picture(page, `namesake-${width}`);
      expect(await objectionsTo(page)).toEqual([]);
      await page.getByRole("link", { name: "Change its name" }).click();
      const drawer = page.getByRole("dialog", { name: /^Fjord Bakery/ });
      await drawer.getByLabel("Name").fill(`Fjord Bakery ${width}`);
      await drawer.getByRole("button", { name: "Rename" }).click();
      await page.getByText("Renamed.").first().waitFor();
      await page.context().close();
    }
    await host.call("update_account", { accountId: account.id, name: "Fjord" });
  });

  it("reconnects one, and refuses another person's consent for it", async () => {
    const [{ id }] = await accountsOn("photobox");
    await host.call("disconnect_channel", { accountId: id });
    const page = await host.open({ path: "/app/channels" });
    await page.getByRole("link", { name: "Reconnect alice.example" }).click();
    await page.getByRole("heading", { name: "Reconnect “alice.example”" }).waitFor();
    const beside = await openBeside(page);
    await enter(beside, "bob.example", "bob-password-1");
    await page.getByRole("alert").waitFor();
    await enter(beside, "alice.example", "alice-password-2");
    await page.getByText("Connected: alice.example").waitFor();
    expect(await accountsOn("photobox")).toMatchObject([{ id, status: "connected" }]);
    await page.context().close();
  });

  it("says that the address was not used in time, and starts again", async () => {
    const page = await host.open({ path: "/app/channels?connect=photobox" });
    await openBeside(page);
    host.clock.advance(16 * MINUTE);
    await page.getByText("and has expired. Nothing was connected.").waitFor();
    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByRole("button", { name: "Open the page to connect" }).waitFor();
    await page.context().close();
  });

  it("asks for the server where a platform has many, and says beside it what is wrong", async () => {
    const page = await host.open({ path: "/app/channels?connect=mastodon" });
    const server = page.getByRole("textbox", { name: "Server" });
    await server.fill("no such place");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("has a blank").waitFor();
    expect(await server.getAttribute("aria-invalid")).toBe("true");
    expect(page.context().pages()).toHaveLength(1);
    await page.getByRole("radio", { name: "Access token" }).check();
    await server.waitFor({ state: "detached" });
    await page.context().close();
  });
});

describe("a platform that wants an app", () => {
  it("leads through it, and shows what is to be copied and opened", async () => {
    const page = await host.open({ path: "/app/channels?connect=youtube" });
    await page.getByRole("heading", { name: "Register an app at YouTube" }).waitFor();
    await page.getByRole("button", { name: /^Copy http.*\/connect\/callback$/ }).waitFor();
    const begin = page.getByRole("link", { name: "Open console.cloud.google.com" });
    expect(await begin.getAttribute("rel")).toBe("noreferrer noopener");
    await page.getByText("into “App id” and “App secret” below").waitFor();
    await page.context().close();
  });

  it("is told of a refusal of the app beside the form", async () => {
    const page = await host.open({ path: "/app/channels?connect=youtube" });
    await page.route("**/app/api/platforms/youtube/app", (route) =>
      route.fulfill({
        status: 400,
        json: {
          error: "clientId: has a space in it. Copy it again.",
          sentences: [{ field: "clientId", what: "has a space in it. Copy it again.", next: [] }],
        },
      }),
    );
    await page.getByLabel("App id").fill("an id");
    await page.getByLabel("App secret").fill("a secret");
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("alert").getByText("The app id has a space in it. Copy it again.").waitFor();
    await page.context().close();
  });

  it("goes on to connecting once the app is entered, and can forget it", async () => {
    const page = await host.open({ path: "/app/channels?connect=pinterest" });
    const bodies: unknown[] = [];
    await page.route("**/app/api/platforms/pinterest/app", async (route) => {
      bodies.push(route.request().postDataJSON());
      setApp("PINTEREST", route.request().method() === "PUT");
      await route.fulfill({ json: { provider: "pinterest", environment: [] } });
    });
    await page.getByLabel("App id").fill(" 1234 ");
    await page.getByLabel("App secret").fill("a secret");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Open the page to connect" }).waitFor();
    await page.getByRole("button", { name: "Forget this app" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget it" }).click();
    await page.getByText("The app of Pinterest is forgotten.").waitFor();
    await page.getByLabel("App id").waitFor();
    expect(bodies).toEqual([{ clientId: "1234", clientSecret: "a secret", way: "oauth" }, null]);
    await page.context().close();
  });

  it("tells those who may not enter it whom to ask for what", async () => {
    const page = await host.open({
      path: "/app/channels?connect=youtube",
      permissions: ["read", "accounts"],
    });
    await page
      .getByText("Ask the administrator of this Posthorn for the settings POSTHORN_YOUTUBE_CLIENT_ID")
      .waitFor();
    expect(await page.getByLabel("App secret").count()).toBe(0);
    await page.context().close();
  });
});
