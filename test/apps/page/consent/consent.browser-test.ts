import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSignIn } from "../../../../src/access/page-sessions.ts";
import { authorizePath, newChallenge, PUBLIC_URL, requestOf } from "../../../support/agents.ts";
import { send } from "../../../support/http.ts";
import { newWindow, objectionsTo, picture, THEMES, WIDTHS } from "../../../support/looks.ts";
import { startPageHost, type PageHost } from "../page-host.ts";

const CALLBACK = "http://127.0.0.1:4999/callback";
const NARROW = [...WIDTHS, { name: "small", width: 360 }] as const;

let host: PageHost;
let clientId: string;
beforeAll(async () => {
  const settings = { publicUrl: PUBLIC_URL, hasOAuth: true };
  host = await startPageHost("Europe/Berlin", {}, settings);
  await host.addFeed();
  clientId = await registerAt(CALLBACK);
});
afterAll(() => host?.[Symbol.asyncDispose]());

const headers = { Host: new URL(PUBLIC_URL).host };

async function registerAt(callback: string): Promise<string> {
  const json = {
    redirect_uris: [callback],
    client_name: "Agent <b>of Ann</b>",
    token_endpoint_auth_method: "none",
  };
  return (await send(host.port, "POST /oauth/register", { json, headers })).json.client_id;
}

/** Where the browser is sent to by a program that asks. */
async function ask(id = clientId, callback = CALLBACK): Promise<string> {
  const path = authorizePath(id, newChallenge().challenge, { redirect_uri: callback });
  return `/app/consent?request=${requestOf(await send(host.port, `GET ${path}`, { headers }))}`;
}

const heading = (page: Page) => page.getByRole("heading", { name: "asks for access to Posthorn" });

async function open(options: Partial<Parameters<PageHost["open"]>[0]> = {}): Promise<Page> {
  const page = await host.open({ path: await ask(), ...options });
  await page.context().route(`${CALLBACK}**`, (route) => route.fulfill({ body: "The program has it." }));
  return page;
}

async function answerOf(page: Page): Promise<Record<string, string>> {
  await page.waitForURL(`${CALLBACK}?**`);
  return Object.fromEntries(new URL(page.url()).searchParams);
}

describe("a program that asks", () => {
  it("gets a code for a writer of one channel, which Settings lists and ends", async () => {
    const { verifier, challenge } = newChallenge();
    const asked = await send(
      host.port,
      `GET ${authorizePath(clientId, challenge, { redirect_uri: CALLBACK })}`,
      { headers },
    );
    const page = await open({ path: `/app/consent?request=${requestOf(asked)}` });
    await heading(page).getByText("Agent <b>of Ann</b>").waitFor();
    await page.getByText("A program on this device (127.0.0.1)").waitFor();
    await page.getByText("Not verified").waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(await page.getByRole("radio", { name: "Writes drafts" }).isChecked()).toBe(true);
    await page.getByRole("checkbox", { name: "All channels, later ones too" }).uncheck();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("alert").getByText("Choose at least one").waitFor();
    await page.getByRole("checkbox", { name: "Feed of default" }).check();
    await page.getByRole("button", { name: "Allow" }).click();
    const { code = "", state } = await answerOf(page);
    expect([code, state]).toEqual([expect.stringMatching(/^phc_/), "s t&a=te"]);
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
      client_id: clientId,
    });
    const tokens = await send(host.port, "POST /oauth/token", {
      body: form.toString(),
      headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
    });
    expect(tokens.status).toBe(200);
    await page.goto(`${host.address}/app/settings`);
    const row = page.getByRole("list", { name: "Connected by OAuth" }).getByRole("listitem");
    await row.getByText("Writes drafts, you approve · Feed of default").waitFor();
    await row.getByText("Never used · Given by Anna").waitFor();
    await picture(page, "consent-settings");
    expect(await objectionsTo(page)).toEqual([]);
    await row.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByText("One key that no longer works").waitFor();
    await page.context().close();
  });

  it("is told of a no, by keyboard alone", async () => {
    const page = await open();
    await heading(page).waitFor();
    await page.getByRole("button", { name: "Deny" }).focus();
    await page.keyboard.press("Enter");
    const answer = await answerOf(page);
    expect([answer["error"], answer["code"]]).toEqual(["access_denied", undefined]);
    await page.context().close();
  });

  it("leaves a calm sentence where the question is over, unknown or none", async () => {
    const path = await ask();
    const first = await open({ path });
    const second = await open({ path });
    await heading(second).waitFor();
    await first.getByRole("button", { name: "Deny" }).click();
    await answerOf(first);
    await second.getByRole("button", { name: "Allow" }).click();
    const over = second.getByRole("heading", { name: "This question is over" });
    await over.waitFor();
    for (const other of [path, "/app/consent?request=unknown", "/app/consent"]) {
      await second.goto(`${host.address}${other}`);
      await over.waitFor();
    }
    await second.getByText("start again in the program").waitFor();
    for (const one of [first, second]) await one.context().close();
  });

  it("says that the window may be closed where the answer goes to a program beside the browser", async () => {
    const callback = "cursor://anysphere.cursor-mcp/oauth/callback";
    const page = await open({ path: await ask(await registerAt(callback), callback) });
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("heading", { name: "Access is given" }).waitFor();
    await page.getByText("You can close this window").waitFor();
    const link = page.getByRole("link", { name: "Go back to the program" });
    expect(await link.getAttribute("href")).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/.*code=phc_/);
    await picture(page, "consent-done");
    expect(await objectionsTo(page)).toEqual([]);
    await page.context().close();
  });

  it("waits until the person has signed in", async () => {
    await using window = await newWindow({ width: 1_280 });
    const page = await window.newPage();
    const path = await ask();
    await page.goto(`${host.address}${path}`);
    await page.getByLabel("Or paste an API key").fill(await host.keyFor("default"));
    await page.keyboard.press("Enter");
    await heading(page).waitFor();
    expect(page.url()).toBe(`${host.address}${path}`);
  });

  it("goes on where the person signed in by the one-time address in another tab", async () => {
    await using window = await newWindow({ width: 1_280 });
    const page = await window.newPage();
    await page.goto(`${host.address}${await ask()}`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const other = await window.newPage();
    await other.goto(`${host.address}/app/sign-in#${await makeSignIn(host.ctx)}`);
    await other.getByRole("heading", { name: "Plan", level: 1 }).waitFor();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await heading(page).waitFor();
  });

  it("is offered what the person may give, and nothing by one who may not read", async () => {
    const writer = await open({ permissions: ["read", "draft", "files"] });
    await heading(writer).waitFor();
    expect(await writer.getByRole("radio").count()).toBe(2);
    const none = await open({ permissions: ["files"] });
    await none.getByText("there is nothing that you can give").waitFor();
    expect(await none.getByRole("button", { name: "Allow" }).count()).toBe(0);
    await none.getByRole("button", { name: "Deny" }).click();
    expect((await answerOf(none))["error"]).toBe("access_denied");
    for (const one of [writer, none]) await one.context().close();
  });

  it.each(NARROW)("has nothing that axe objects to in a $name window", async ({ name, width }) => {
    const page = await open({ width });
    await heading(page).waitFor();
    await page.getByRole("checkbox", { name: "All channels, later ones too" }).uncheck();
    for (const state of ["question", "over"]) {
      if (state === "over") {
        await page.goto(`${host.address}/app/consent`);
        await page.getByRole("heading", { name: "This question is over" }).waitFor();
      }
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await picture(page, `consent-${state}-${name}-${theme}`);
        expect([state, theme, await objectionsTo(page)]).toEqual([state, theme, []]);
      }
    }
    await page.context().close();
  });
});
