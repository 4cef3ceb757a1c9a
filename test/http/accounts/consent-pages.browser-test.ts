import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newContext } from "../../support/browser.ts";
import {
  CLOSED,
  NEWS,
  SPORT,
  startConsentService,
  type ConsentService,
} from "../../support/consent-fixtures.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const LOOKS = [
  { width: 320, colorScheme: "light" },
  { width: 1_280, colorScheme: "dark" },
] as const;

let at: ConsentService;
beforeAll(async () => {
  at = await startConsentService();
});
afterAll(() => at?.[Symbol.asyncDispose]());

interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly faults: string[];
  /** What axe-core objects to, and whether anything is wider than the window. */
  look(name: string): Promise<void>;
}

async function visit({ width, colorScheme }: (typeof LOOKS)[number]): Promise<Visit> {
  const context = await newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d|status of 503/.test(message.text()))
      faults.push(message.text());
  });
  return {
    page,
    faults,
    async look(name) {
      const found: any = await page.evaluate(`${AXE};axe.run(document)`);
      const objections = found.violations.map((one: any) => [one.id, one.nodes[0].html]);
      const shown = await page.evaluate("document.documentElement.scrollWidth");
      expect([name, objections, shown]).toEqual([name, [], width]);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

describe.each(LOOKS)("the way to the platform and back, %o", (looks) => {
  it("goes from the start page over the consent and the choice to the end", async () => {
    at.parlor.channels = [NEWS, SPORT, CLOSED];
    at.provider.person = "agrees";
    const { url, connectId } = await at.connect();
    await using seen = await visit(looks);
    const { page } = seen;
    await page.goto(url);
    await seen.look("start");
    await page.getByRole("button", { name: "Go on to Parlor" }).click();
    await page.getByRole("heading", { name: "Choose channels on Parlor" }).waitFor();
    await seen.look("choice");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("alert").waitFor();
    await seen.look("choice-wrong");
    expect(await page.getByRole("checkbox", { name: "Archive" }).isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: "News" }).check();
    await page.getByRole("checkbox", { name: "Sport" }).check();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await seen.look("done");
    expect((await at.check(connectId)).accounts).toHaveLength(2);
    await page.goto(url);
    await seen.look("closed");
    expect(seen.faults).toEqual([]);
  });

  it("shows a refusal, and takes a pasted address where the browser does not come back", async () => {
    at.parlor.channels = [NEWS];
    at.provider.person = "refuses";
    await using seen = await visit(looks);
    const { page } = seen;
    await page.goto((await at.connect()).url);
    await page.getByRole("button", { name: "Go on to Parlor" }).click();
    await page.getByRole("heading", { name: "Nothing was connected" }).waitFor();
    await seen.look("refused");

    at.provider.person = "agrees";
    const { url, connectId } = await at.connect();
    const back = await at.decide(await at.goOn(url));
    await page.goto(url);
    await seen.look("waiting");
    await page.getByLabel("Its address").fill("http://localhost/nothing");
    await page.getByRole("button", { name: "Finish with this address" }).click();
    await page.getByRole("alert").waitFor();
    await seen.look("waiting-wrong");
    await page.getByLabel("Its address").fill(back);
    await page.getByRole("button", { name: "Finish with this address" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect((await at.check(connectId)).status).toBe("connected");

    await page.goto((await at.connect()).url);
    await page.getByRole("link", { name: "Bot token" }).click();
    await page.getByLabel("Token", { exact: false }).first().waitFor();
    await seen.look("other-way");
    await page.goto(`${at.origin}/connect/callback?code=1&state=foreign`);
    await seen.look("foreign");
    expect(seen.faults).toEqual([]);
  });

  it("asks the browser in which it did not begin", async () => {
    at.parlor.channels = [NEWS];
    at.provider.person = "agrees";
    const { url, connectId } = await at.connect();
    const away = await at.goOn(url);
    await using seen = await visit(looks);
    const { page } = seen;
    await page.goto(away);
    await page.getByRole("heading", { name: "Connect Parlor?" }).waitFor();
    await seen.look("elsewhere");
    expect((await at.check(connectId)).accounts).toEqual([]);
    await page.getByRole("checkbox", { name: "News" }).check();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect((await at.check(connectId)).accounts).toHaveLength(1);
    expect(seen.faults).toEqual([]);
  });

  it("shows what must be registered first", async () => {
    await using bare = await startConsentService({ POSTHORN_PARLOR_CLIENT_SECRET: "" });
    await using seen = await visit(looks);
    await seen.page.goto((await bare.connect({ way: "bot" })).url);
    await seen.page.getByRole("link", { name: "Sign in with Parlor" }).click();
    await seen.page.getByRole("heading", { name: "Register an app" }).waitFor();
    await seen.look("set-up");
    expect(seen.faults).toEqual([]);
  });
});
