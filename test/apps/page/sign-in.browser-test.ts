import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSignIn } from "../../../src/access/page-sessions.ts";
import { newWindow, objectionsTo, picture, THEMES, WIDTHS } from "../../support/looks.ts";
import { startPageHost, type PageHost } from "./page-host.ts";

let host: PageHost;
beforeAll(async () => {
  host = await startPageHost();
  await host.addFeed();
});
afterAll(() => host?.[Symbol.asyncDispose]());

describe("signing in", () => {
  it("takes the one-time address once, and leaves no token in the address bar or the history", async () => {
    const address = `${host.address}/app/sign-in#${await makeSignIn(host.ctx)}`;
    await using first = await newWindow({ width: 1_280 });
    const page = await first.newPage();
    await page.goto(address);
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    expect(page.url()).toBe(`${host.address}/app/plan`);
    await page.getByRole("heading", { name: "Welcome to Posthorn" }).waitFor();
    await page.locator('nav a[aria-current="page"]').getByText("Plan").waitFor();
    await using second = await newWindow({ width: 1_280 });
    const stranger = await second.newPage();
    await stranger.goto(address);
    await stranger.getByRole("alert").getByText("does not sign in any more").waitFor();
    expect(stranger.url()).toBe(`${host.address}/app/sign-in`);
  });

  it("takes a new address in the place of a session, and keeps the session where the address is an old one", async () => {
    const token = await makeSignIn(host.ctx);
    const page = await host.open({ path: "/app/plan", permissions: ["read"] });
    const nameOf = async (): Promise<string> => {
      const answer = await page.context().request.get(`${host.address}/app/api/session`);
      return (await answer.json()).session.name;
    };
    expect(await nameOf()).toBe("Anna");
    for (let time = 0; time < 2; time++) {
      await page.goto("about:blank");
      await page.goto(`${host.address}/app/sign-in#${token}`);
      await page.getByRole("heading", { name: "Plan", level: 1 }).waitFor();
      expect([await nameOf(), page.url()]).toEqual(["This machine", `${host.address}/app/plan`]);
    }
    await page.context().close();
  });

  it("takes a key, refuses a wrong one with its reason, and signs out", async () => {
    await using window = await newWindow({ width: 1_280 });
    const page = await window.newPage();
    await page.goto(`${host.address}/app/settings`);
    await page.getByLabel("Or paste an API key").fill("phk_nothing");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("The API key is not valid").waitFor();
    await page.getByLabel("Or paste an API key").fill(await host.keyFor("default"));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).first().click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("asks to sign in again where the session ends while the page is open", async () => {
    const page = await host.open({ path: "/app/plan" });
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await page.context().clearCookies();
    // Anything the page asks for from now on may show it: nothing behind the question can be clicked any more.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.context().close();
  });

  it.each(WIDTHS)("has nothing that axe objects to in a $name window", async ({ name, width }) => {
    await using window = await newWindow({ width });
    const page = await window.newPage();
    await page.goto(`${host.address}/app/sign-in#wrong`);
    await page.getByRole("alert").waitFor();
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `sign-in-${name}-${theme}`);
      expect([theme, await objectionsTo(page)]).toEqual([theme, []]);
    }
  });
});
