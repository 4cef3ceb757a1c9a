import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createContext } from "../../../src/app/compose.ts";
import { readSandboxSetup } from "../../../src/app/setup.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { findGrant } from "../../../src/store/queries/grants.ts";
import { openGrant } from "../../../src/channels/platform-io/secrets.ts";
import { guestCall } from "../../../src/context.ts";
import { comeBack } from "../../../src/channels/connecting/consent.ts";
import {
  CLOSED,
  NEWS,
  SPORT,
  startConsentService,
  type ConsentService,
} from "../../support/consent-fixtures.ts";
import { queryOf } from "../../support/handles.ts";
import { signIn } from "../../support/page.ts";
import { targetOf } from "../../support/scripted-platform.ts";

let at: ConsentService;
beforeEach(async () => {
  at = await startConsentService();
});
afterEach(() => at[Symbol.asyncDispose]());

const read = async (answer: Response) => ({ status: answer.status, text: await answer.text() });

const send = (url: string, step: string, body: URLSearchParams) =>
  fetch(`${url.split("?")[0]}?step=${step}`, { method: "POST", body });

const chooseOn = (url: string, ...keys: string[]) =>
  send(url, "choice", new URLSearchParams(keys.map((key): [string, string] => ["target", key])));

const grants = () => queryOf(at.service.ctx.store).selectFrom("grants").selectAll().execute();

describe("connecting by consent", () => {
  it("says what will happen, and changes nothing by being looked at", async () => {
    const { url, connectId } = await at.connect();
    const before = await queryOf(at.service.ctx.store).selectFrom("connections").selectAll().execute();
    for (let n = 0; n < 2; n++) {
      const { status, text } = await read(await fetch(url));
      expect(status).toBe(200);
      expect(text).toContain("<title>Connect Parlor</title>");
      expect(text).toContain("<code>write</code>");
      expect(text).toContain("stored encrypted");
      expect(text).toContain("Bot token");
      expect(text).not.toContain("Came back to a page");
    }
    const rows = await queryOf(at.service.ctx.store).selectFrom("connections").selectAll().execute();
    expect(rows).toEqual(before);
    expect((await at.check(connectId)).status).toBe("pending");
  });

  it("shows how the app is registered where nobody has, in the place of the button", async () => {
    await using bare = await startConsentService({ POSTHORN_PARLOR_CLIENT_SECRET: "" });
    const { url } = await bare.connect({ way: "bot" });
    const { status, text } = await read(await fetch(`${url}?way=oauth`));
    expect(status).toBe(200);
    for (const part of [
      "<li>Register an app.</li>",
      `<li>Enter <code>${bare.origin}/connect/callback</code> as its address.</li>`,
      "It costs nothing.",
      "POSTHORN_PARLOR_CLIENT_SECRET is not set.",
      "<pre>POSTHORN_PARLOR_CLIENT_ID=\nPOSTHORN_PARLOR_CLIENT_SECRET=</pre>",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("<form");
  });

  it("connects the only channel at once, and tells so for good", async () => {
    const { url, connectId } = await at.connect({ name: "Our news" });
    const back = await at.decide(await at.goOn(url));
    const done = await read(await at.comeBack(back));
    expect(done.status).toBe(200);
    expect(done.text).toContain("<h1>Connected</h1>");
    const state = await at.check(connectId);
    expect(state).toMatchObject({ status: "connected", error: null, account: { name: "Our news" } });
    expect(state.accounts).toHaveLength(1);
    const again = await read(await at.comeBack(back));
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining("done already") });
    expect(at.provider.asked).toBe(1);
    expect(await at.accounts()).toHaveLength(1);
    expect((await fetch(url)).status).toBe(410);
  });

  it("lets the person choose among several, each an account of the same grant", async () => {
    at.parlor.channels = [NEWS, SPORT, CLOSED, targetOf({ platformAccountId: "page-4", name: "Weather" })];
    const { url, connectId } = await at.connect();
    const page = await at.agree(url);
    expect(new URL(page.url).pathname).toBe(new URL(url).pathname);
    const { text } = await read(page);
    expect(text.match(/<input[^>]*name="target"[^>]*>/g)).toHaveLength(4);
    expect(text).not.toContain("page-1");
    expect(text).toMatch(/value="3"\s+disabled/);
    expect(text).toContain("You may not create content on this Page.");
    expect(await at.check(connectId)).toMatchObject({ status: "choose", accounts: [], account: null });
    expect(at.provider.exchanged).toHaveLength(1);
    for (const [keys, why] of [
      [[], "at least one"],
      [["9"], "not on the list"],
      [["page-1"], "not on the list"],
      [["3"], "cannot be chosen"],
      [["1", "3"], "cannot be chosen"],
    ] as const) {
      const refused = await read(await chooseOn(url, ...keys));
      expect([refused.status, refused.text.includes(why)]).toEqual([400, true]);
    }
    expect(await at.accounts()).toEqual([]);
    const done = await Promise.all([chooseOn(url, "1", "2"), chooseOn(url, "1", "2"), chooseOn(url, "4")]);
    expect(done.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
    const state = await at.check(connectId);
    expect(state.status).toBe("connected");
    expect(await at.accounts()).toHaveLength(state.accounts.length);
    expect(await grants()).toHaveLength(1);
    const rows = await queryOf(at.service.ctx.store).selectFrom("accounts").select("grant_id").execute();
    expect(new Set(rows.map((row) => row.grant_id)).size).toBe(1);
    const [link] = await queryOf(at.service.ctx.store)
      .selectFrom("connections")
      .select("pending_enc")
      .execute();
    expect(link?.pending_enc).toBeNull();
  });

  it("fails with the reasons where no channel can be used", async () => {
    at.parlor.channels = [CLOSED];
    const { url, connectId } = await at.connect();
    const page = await read(await at.agree(url));
    expect(page).toMatchObject({ status: 410, text: expect.stringContaining("may not create content") });
    expect(await at.check(connectId)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("Archive"),
    });
  });

  it.each([
    ["refuses", "permission was refused"],
    ["unticks", "write"],
  ] as const)("leaves nothing where the person %s", async (person, why) => {
    at.provider.person = person;
    const { url, connectId } = await at.connect();
    const page = await read(await at.agree(url));
    expect(page.status).toBe(410);
    expect(page.text).toContain(why);
    expect(await at.check(connectId)).toMatchObject({
      status: "failed",
      error: expect.stringContaining(why),
    });
    expect(await at.accounts()).toEqual([]);
    expect(await grants()).toEqual([]);
  });

  it("can be started again from the same link where the platform was out of reach", async () => {
    at.provider.token = "is down";
    const { url, connectId } = await at.connect();
    const page = await read(await at.agree(url));
    expect(page.text).toContain("could not be asked");
    expect(page.text).toContain("Start again on Parlor");
    expect(await at.check(connectId)).toMatchObject({ status: "pending", error: expect.any(String) });
    at.provider.token = "works";
    expect((await at.agree(url)).status).toBe(200);
    expect((await at.check(connectId)).status).toBe("connected");
  });

  it("is finished by whichever process the person comes back to", async () => {
    const { url, connectId } = await at.connect();
    const back = await at.decide(await at.goOn(url));
    const { folder, ctx, clock } = at.service;
    const { outbound, platforms, settings, publicUrl } = ctx;
    const overrides = { clock, outbound, platforms, settings, publicUrl };
    await using other = await createContext(await readSandboxSetup(folder), overrides);
    const answer = Object.fromEntries(new URL(back).searchParams);
    expect(await comeBack(guestCall(other), { answer, isBegunHere: true })).toMatchObject({
      state: "connected",
    });
    expect((await at.check(connectId)).status).toBe("connected");
  });
});

describe("the way back", () => {
  it("takes no answer without a state of an open link, and the true one still works", async () => {
    const { url } = await at.connect();
    const back = new URL(await at.decide(await at.goOn(url)));
    const code = back.searchParams.get("code") ?? "";
    for (const query of [
      "",
      `?code=${code}`,
      `?code=${code}&state=`,
      `?code=${code}&state=foreign`,
      `?code=${code}&state=${back.searchParams.get("state")}&state=x`,
      `?code=${code}&state=%00`,
      `?error=access_denied&state=foreign`,
    ]) {
      const { status, text } = await read(await fetch(`${at.origin}/connect/callback${query}`));
      expect([query, status]).toEqual([query, 400]);
      expect(text).toContain("belongs to no open connection");
    }
    expect((await fetch(back, { method: "HEAD" })).status).toBe(405);
    expect((await fetch(back, { method: "POST" })).status).toBe(405);
    expect(at.provider.asked).toBe(0);
    expect((await at.comeBack(back)).status).toBe(200);
    expect(await at.accounts()).toHaveLength(1);
  });

  it("exchanges a code once, however often and at once it comes", async () => {
    const { url } = await at.connect();
    const back = await at.decide(await at.goOn(url));
    const all = await Promise.all(Array.from({ length: 5 }, () => at.comeBack(back)));
    expect(at.provider.asked).toBe(1);
    expect(await at.accounts()).toHaveLength(1);
    expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  });

  it("knows only the last state of a link, and none once the link has run out", async () => {
    const { url, connectId } = await at.connect();
    const first = await at.decide(await at.goOn(url));
    const second = await at.decide(await at.goOn(url));
    expect((await at.comeBack(first)).status).toBe(400);
    await at.service.clock.advance(15 * MINUTE);
    expect((await at.comeBack(second)).status).toBe(410);
    expect(at.provider.asked).toBe(0);
    expect((await at.check(connectId)).status).toBe("expired");
  });

  it("finishes each link for its own owner", async () => {
    const mine = await at.connect();
    const key = await at.service.keyFor("other");
    const theirs = await at.service.ask("POST /api/v1/tools/connect_channel", {
      key,
      json: { provider: "parlor" },
    });
    const back = await at.decide(await at.goOn(theirs.json.result.url));
    // Pasted into a link that is not the one it left from.
    const pasted = await send(mine.url, "address", new URLSearchParams({ address: back }));
    expect(pasted.status).toBe(400);
    expect(at.provider.asked).toBe(0);
    expect((await at.comeBack(back)).status).toBe(200);
    expect(await at.accounts()).toEqual([]);
    expect((await at.service.ask("GET /api/v1/accounts", { key })).json.accounts).toHaveLength(1);
  });

  it("takes the address that a browser ended at, pasted", async () => {
    const { url, connectId } = await at.connect();
    const back = await at.decide(await at.goOn(url));
    expect((await read(await fetch(url))).text).toContain("Came back to a page that does not load?");
    for (const address of ["nonsense", at.origin, "https://elsewhere.example/?code=1&state=2"]) {
      const { status, text } = await read(await send(url, "address", new URLSearchParams({ address })));
      expect([status, text.includes('aria-invalid="true"')]).toEqual([400, true]);
    }
    const address = ` https://gone.example/callback${new URL(back).search}#_ `;
    const done = await read(await send(url, "address", new URLSearchParams({ address })));
    expect(done).toMatchObject({ status: 200, text: expect.stringContaining("<h1>Connected</h1>") });
    expect((await at.check(connectId)).status).toBe("connected");
  });

  it("goes back to the usual port where a listener had to take another, and says what to do then", async () => {
    const settings = { ...at.service.ctx.settings, publicUrl: null, port: 4747 };
    await using other = await startConsentService({}, { settings });
    const { url, instructions } = await other.connect();
    expect(instructions).toContain("ends at http://localhost:4747/connect/callback");
    const asked = new URL(await other.goOn(url));
    expect(asked.searchParams.get("redirect_uri")).toBe("http://localhost:4747/connect/callback");
  });

  it("writes no secret into a log, an answer or a page, and escapes what the platform names", async () => {
    const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>`;
    at.parlor.channels = [
      targetOf({ platformAccountId: "1", name: evil, handle: evil }),
      targetOf({ platformAccountId: "2", name: "Two", problem: evil }),
    ];
    const { url } = await at.connect();
    const back = await at.decide(await at.goOn(url));
    const pages = [await read(await at.comeBack(back)), await read(await chooseOn(url, "1"))];
    for (const { text } of pages) expect(text).not.toMatch(/<script|<img/);
    const secrets = [
      new URL(back).searchParams.get("code") ?? "",
      new URL(back).searchParams.get("state") ?? "",
      "access-1-canary",
      "refresh-1-canary",
      "app-secret",
    ];
    const seen = JSON.stringify([pages, at.service.log.text(), await at.accounts()]);
    for (const secret of secrets) expect(seen).not.toContain(secret);
    const stored = await queryOf(at.service.ctx.store).selectFrom("connections").selectAll().execute();
    for (const secret of secrets) expect(JSON.stringify([stored, await grants()])).not.toContain(secret);
  });
});

describe("other ways, and again", () => {
  it("offers them on the page, and refuses those that are none", async () => {
    await expect(at.connect({ way: "pigeon" })).rejects.toThrow(/^way: "pigeon".*oauth, bot, page/);
    const { url, connectId } = await at.connect();
    at.parlor.channels = [NEWS, SPORT];
    const form = await read(await fetch(`${url}?way=bot`));
    expect(form.text).toContain('name="botToken"');
    const page = await fetch(`${url}?step=secrets&way=bot`, {
      method: "POST",
      body: new URLSearchParams({ botToken: "bot-canary" }),
    });
    expect((await read(page)).text).toContain("Choose channels on Parlor");
    expect((await chooseOn(url, "2")).status).toBe(200);
    expect((await at.check(connectId)).accounts).toMatchObject([{ name: "Sport" }]);
    const [row] = await queryOf(at.service.ctx.store).selectFrom("accounts").select("way").execute();
    expect(row?.way).toBe("bot");
  });

  it("comes back the same way from a page that is no OAuth", async () => {
    const { url, connectId } = await at.connect({ way: "page" });
    const own = new URL(await at.goOn(url));
    const back = new URL(own.searchParams.get("back") ?? "");
    expect(back.searchParams.get("state")).toMatch(/^[\w-]{43}$/);
    back.searchParams.set("session", "theirs");
    expect((await at.comeBack(back)).status).toBe(200);
    expect((await at.check(connectId)).status).toBe("connected");
  });

  it("names the settings that are missing before anybody is sent anywhere", async () => {
    await using bare = await startConsentService({
      POSTHORN_PARLOR_CLIENT_ID: "",
      POSTHORN_PARLOR_CLIENT_SECRET: "",
    });
    const answer = await bare.service.ask("POST /api/v1/tools/connect_channel", {
      json: { provider: "parlor", way: "oauth" },
    });
    expect(answer.status).toBe(503);
    expect(answer.json.error).toContain("POSTHORN_PARLOR_CLIENT_ID and POSTHORN_PARLOR_CLIENT_SECRET");
    expect(answer.json.error).toContain("/connect/callback");
    expect(answer.json.error).toContain('way "bot" (Bot token), which works now');
    const token = await bare.service.ask("POST /api/v1/tools/connect_channel", {
      json: { provider: "parlor" },
    });
    expect(token.json.result.instructions).toContain("Enter the bot's token.");
  });

  it("renews every channel that the new consent found, and keeps a refresh token that came once", async () => {
    at.parlor.channels = [NEWS, SPORT];
    const first = await at.connect();
    await at.agree(first.url);
    await chooseOn(first.url, "1", "2");
    const [news, sport] = (await at.check(first.connectId)).accounts;
    await queryOf(at.service.ctx.store)
      .updateTable("accounts")
      .set({ status: "reconnect_required", status_reason: "Gone." })
      .execute();
    const again = await at.connect({ accountId: news.id });
    const done = await read(await at.agree(again.url));
    expect(done.text).toContain("<h1>Connected</h1>");
    expect((await at.check(again.connectId)).accounts).toMatchObject([{ id: news.id }]);
    expect(await at.accounts()).toMatchObject([
      { id: news.id, status: "connected" },
      { id: sport.id, status: "connected", statusReason: null },
    ]);
    const [grant, ...more] = await grants();
    expect(more).toEqual([]);
    const row = await findGrant(at.service.ctx.store, grant!);
    expect(openGrant(at.service.ctx, row!)).toMatchObject({
      accessToken: "access-2-canary",
      refreshToken: "refresh-1-canary",
    });
  });

  it("refuses a consent that lacks the channel, says which was expected, and leaves it as it was", async () => {
    const first = await at.connect();
    await at.agree(first.url);
    const [news] = await at.accounts();
    at.parlor.channels = [SPORT];
    const again = await at.connect({ accountId: news.id });
    const page = await read(await at.agree(again.url));
    expect(page.text).toMatch(/another account.*Sport.*The channel that is being reconnected.*news/s);
    expect(await at.check(again.connectId)).toMatchObject({
      status: "pending",
      error: expect.stringContaining("news"),
    });
    expect(await at.accounts()).toHaveLength(1);
    at.parlor.channels = [NEWS];
    expect((await at.agree(again.url)).status).toBe(200);
  });
});

describe("a consent that ends in another browser than it began in", () => {
  /** bob presses the button himself and sends alice the platform's address; she agrees. */
  async function foreignReturn() {
    const key = await at.service.keyFor("bob");
    const answer = await at.service.ask("POST /api/v1/tools/connect_channel", {
      key,
      json: { provider: "parlor" },
    });
    const { url, connectId } = answer.json.result;
    const back = await at.decide(await at.goOn(url));
    const page = await fetch(back);
    const channels = async () => (await at.service.ask("GET /api/v1/accounts", { key })).json.accounts;
    const status = async () =>
      (await at.service.ask("POST /api/v1/tools/check_connection", { key, json: { connectId } })).json.result
        .status;
    return { url, back, page, channels, status };
  }

  it("connects nothing without that browser's button, which says who will post", async () => {
    const { page, channels, status } = await foreignReturn();
    const { text } = await read(page);
    expect(text).toContain("<title>Connect Parlor?</title>");
    expect(text).toContain("<strong>bob</strong>, with");
    expect(text).toContain(new URL(at.origin).host);
    expect(text).toContain("less than a minute ago");
    expect(text.match(/<input[^>]*name="target"/g)).toHaveLength(1);
    expect(text).not.toContain("checked");
    expect([await channels(), await status()]).toEqual([[], "choose"]);
    expect((await chooseOn(page.url)).status).toBe(400);
    expect(await channels()).toEqual([]);
    expect((await chooseOn(page.url, "1")).status).toBe(200);
    expect(await channels()).toMatchObject([{ name: "News" }]);
    expect(await status()).toBe("connected");
  });

  it("gives the page to that browser only", async () => {
    const { url, back, page, channels } = await foreignReturn();
    expect(page.url).not.toBe(url);
    expect((await fetch(url)).status).toBe(404);
    expect((await chooseOn(url, "1")).status).toBe(404);
    // The person who began has the cookie, and knows the state.
    expect((await at.comeBack(back)).status).toBe(409);
    expect((await fetch(back)).status).toBe(409);
    const address = new URLSearchParams({ address: back });
    expect((await send(url, "address", address)).status).toBe(404);
    expect(await channels()).toEqual([]);
    expect(at.provider.asked).toBe(1);
  });

  it("leads who made the link on the page straight to the platform, and tells them of no sender", async () => {
    const { url } = await at.connect();
    const visitor = await signIn(at.service);
    const json = { token: url.slice(url.lastIndexOf("/") + 1) };
    const headers = { "Sec-Fetch-Site": "same-origin" };
    const led = await visitor.ask("POST /app/api/links/lead", { json, headers });
    expect(led).toMatchObject({ status: 200, json: { url: expect.stringContaining("/authorize?") } });
    const cookies = [led.headers["set-cookie"] ?? ""].flat().join(", ");
    const own = cookies.match(/posthorn_[0-9a-f]{64}=own/g) ?? [];
    expect(own).toHaveLength(2);
    const back = await at.decide(led.json.url);
    const done = await read(await fetch(back, { headers: { Cookie: own.join("; ") } }));
    expect(done.text).toContain("<h1>Connected</h1>");
    expect(done.text).not.toContain("The person who sent you the address");
  });

  it("leads who made the link on the page back to it after a no", async () => {
    const { url } = await at.connect();
    const visitor = await signIn(at.service);
    const json = { token: url.slice(url.lastIndexOf("/") + 1) };
    const headers = { "Sec-Fetch-Site": "same-origin" };
    const led = await visitor.ask("POST /app/api/links/lead", { json, headers });
    const own =
      [led.headers["set-cookie"] ?? ""]
        .flat()
        .join(", ")
        .match(/posthorn_[0-9a-f]{64}=own/g) ?? [];
    const back = new URL(await at.decide(led.json.url));
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    const refused = await read(await fetch(back, { headers: { Cookie: own.join("; ") } }));
    expect(refused.text).toContain("<h1>Nothing was connected</h1>");
    expect(refused.text).toContain('href="../app/channels"');
  });

  it("leads on nowhere for an unknown link, nor for who may not connect", async () => {
    const json = { token: "unknown" };
    const visitor = await signIn(at.service);
    expect(await visitor.ask("POST /app/api/links/lead", { json })).toMatchObject({
      status: 200,
      json: { url: null },
    });
    const viewer = await signIn(at.service, await at.service.keyFor("default", { permissions: ["read"] }));
    expect((await viewer.ask("POST /app/api/links/lead", { json })).status).toBe(403);
  });

  it("marks no browser that another site's page sent on", async () => {
    const { url, connectId } = await at.connect();
    for (const site of ["cross-site", "same-site", "none", null]) {
      const answer = await fetch(`${url}?step=consent`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams(),
        headers: site === null ? {} : { "Sec-Fetch-Site": site },
      });
      expect([site, answer.status, answer.headers.getSetCookie()]).toEqual([site, 303, []]);
    }
    const answer = await fetch(`${url}?step=consent`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(),
      headers: { "Sec-Fetch-Site": "same-origin" },
    });
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^posthorn_[0-9a-f]{64}=1; Max-Age=900; Path=\/connect; .*HttpOnly; SameSite=Lax$/,
    );
    expect(cookie).not.toContain(new URL(answer.headers.get("location")!).searchParams.get("state"));
    expect((await at.check(connectId)).status).toBe("pending");
  });

  it("asks for the channel that is reconnected, and renews the others of its consent", async () => {
    at.parlor.channels = [NEWS, SPORT];
    const first = await at.connect();
    await at.agree(first.url);
    await chooseOn(first.url, "1", "2");
    const [news, sport] = (await at.check(first.connectId)).accounts;
    await queryOf(at.service.ctx.store)
      .updateTable("accounts")
      .set({ status: "reconnect_required", status_reason: "Gone." })
      .execute();
    const again = await at.connect({ accountId: sport.id });
    const page = await fetch(await at.decide(await at.goOn(again.url)));
    const { text } = await read(page);
    expect(text.match(/<input[^>]*name="target"/g)).toHaveLength(1);
    expect(text).toContain("Sport");
    expect((await chooseOn(page.url, "1")).status).toBe(400);
    expect((await chooseOn(page.url, "2")).status).toBe(200);
    expect(await at.accounts()).toMatchObject([
      { id: news.id, status: "connected" },
      { id: sport.id, status: "connected" },
    ]);
  });

  it("sends the cookie over https only, and below the path of the public address", async () => {
    await using other = await startConsentService(
      {},
      { publicUrl: async () => "https://posts.example/posthorn" },
    );
    const { url } = await other.connect();
    const page = url.replace("https://posts.example/posthorn", other.origin);
    const answer = await fetch(`${page}?step=consent`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(),
      headers: { "Sec-Fetch-Site": "same-origin" },
    });
    expect(answer.headers.getSetCookie()[0]).toMatch(/Path=\/posthorn\/connect; .*Secure/);
  });
});
