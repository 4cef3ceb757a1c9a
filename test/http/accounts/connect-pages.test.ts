import express from "express";
import type { ConnectArgs } from "../../../src/domain/accounts/connection.ts";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createConnectRouter } from "../../../src/http/accounts/connect-pages.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import {
  connectChannel,
  connectWithSecrets,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { createPhotobox, createScriptedOutbound } from "../../support/connect-fixtures.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { listen } from "../../support/listen.ts";

const ALICE = { handle: "alice.example", appPassword: "alice-password-1", hint: "" };
const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function setUp(overrides: Parameters<typeof createPhotobox>[0] = {}) {
  const box = createPhotobox(overrides);
  const ctx = await createTestContext({ platformList: [box.platform], outbound: createScriptedOutbound() });
  const server = createServer(express().use(createConnectRouter(ctx)));
  const listening = await listen(server);
  closers.push(async () => {
    await listening[Symbol.asyncDispose]();
    await ctx[Symbol.asyncDispose]();
  });
  const origin = listening.origin;
  const start = async (args: Partial<ConnectArgs> = {}) => {
    const { url } = await connectChannel(callOf(ctx), { provider: "photobox", ...args });
    return origin + new URL(url ?? "").pathname;
  };
  const post = (url: string, fields: Record<string, string>, init: RequestInit = {}) =>
    fetch(url, { method: "POST", body: new URLSearchParams(fields), ...init });
  return { ctx, box, origin, start, post };
}

const read = async (answer: Response) => ({
  status: answer.status,
  text: await answer.text(),
  policy: answer.headers.get("content-security-policy") ?? "",
});

describe("the connect page", () => {
  it("shows the platform's fields, hidden ones as passwords that nobody fills in by itself", async () => {
    const { start } = await setUp();
    const { status, text } = await read(await fetch(await start({ handle: "alice.example" })));
    expect(status).toBe(200);
    expect(text).toContain("<title>Connect Photobox</title>");
    expect(text).toContain("Make an app password under Settings, App passwords.");
    const input = (name: string) => new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(text)?.[0] ?? "";
    expect(input("handle")).toMatch(
      /type="text"[^>]*value="alice\.example"[^>]*autocomplete="off"[^>]*required/,
    );
    expect(input("appPassword")).toMatch(
      /type="password"[^>]*value=""[^>]*autocomplete="new-password"[^>]*required/,
    );
    expect(input("hint")).not.toContain("required");
    expect(text).not.toContain("<script");
  });

  it("allows itself nothing but its own style sheet and form", async () => {
    const { start, origin } = await setUp();
    for (const url of [await start(), `${origin}/connect/unknown`]) {
      const answer = await fetch(url);
      const policy = answer.headers.get("content-security-policy") ?? "";
      const text = await answer.text();
      const styles = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? "";
      const hash = createHash("sha256").update(styles).digest("base64");
      expect(styles).toContain("{");
      expect(policy).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      );
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  it("connects, shows the notice once, and is used up", async () => {
    const { ctx, start, post } = await setUp();
    const url = await start();
    const done = await read(await post(url, { ...ALICE, hint: "notice" }));
    expect(done.status).toBe(200);
    expect(done.text).toContain("<h1>Connected</h1>");
    expect(done.text).toContain("<p>Give the receiver this.</p>");
    expect(done.text).toMatch(/<pre>whsec_shown_once<\/pre>\s*<button type="button" class="copy"/);
    // The one script there is, and the policy lets no other run.
    const [script = ""] = /(?<=<script>).*?(?=<\/script>)/s.exec(done.text) ?? [];
    const hash = createHash("sha256").update(script).digest("base64");
    expect(script).toContain('querySelectorAll(".copy")');
    expect(done.policy).toContain(`script-src 'sha256-${hash}'`);
    for (const again of [await read(await fetch(url)), await read(await post(url, ALICE))]) {
      expect(again.status).toBe(410);
      expect(again.text).not.toContain("whsec_shown_once");
    }
    expect((await listAccounts(callOf(ctx))).accounts).toHaveLength(1);
  });

  it("puts the sentence next to its field and keeps what is no secret", async () => {
    const { start, post } = await setUp();
    const { status, text } = await read(
      await post(await start(), { ...ALICE, handle: "other.example", appPassword: "wrong-canary" }),
    );
    expect(status).toBe(400);
    expect(text).toMatch(
      /name="appPassword"[^>]*aria-describedby="appPassword-help appPassword-wrong"[^>]*aria-invalid="true"/,
    );
    expect(text).toContain("Photobox does not know it. Make a new one and enter it again.");
    expect(text).toContain('value="other.example"');
    expect(text).not.toContain("wrong-canary");
  });

  it("says for how long it works, without a time of somebody else's zone", async () => {
    const { ctx, start } = await setUp();
    const url = await start();
    expect((await read(await fetch(url))).text).toMatch(/works\s+once, for another 15 minutes\./);
    await ctx.clock.advance(14 * MINUTE);
    const { text } = await read(await fetch(url));
    expect(text).toMatch(/works\s+once, for another minute\./);
    expect(text).not.toContain("UTC");
  });

  it.each([
    ["offline", 503],
    ["busy", 429],
    ["bug", 500],
  ])("answers %s with %i and a page", async (appPassword, status) => {
    const { ctx, start, post } = await setUp();
    const answer = await read(await post(await start(), { ...ALICE, appPassword }));
    expect(answer.status).toBe(status);
    expect(answer.text).toContain("<!doctype html>");
    expect(answer.text).not.toMatch(/TypeError|undefined is not|node_modules/);
    expect(ctx.log.lines.some((line) => line.level === "error")).toBe(appPassword === "bug");
  });

  it("says that it has run out, and that an address is not known", async () => {
    const { ctx, origin, start, post } = await setUp();
    const url = await start();
    await ctx.clock.advance(15 * MINUTE);
    expect(await read(await fetch(url))).toMatchObject({
      status: 410,
      text: expect.stringContaining("has run out"),
    });
    expect((await post(url, ALICE)).status).toBe(410);
    expect((await fetch(`${origin}/connect/nonsense`)).status).toBe(404);
    expect((await fetch(`${origin}/connect`)).status).toBe(404);
    expect((await fetch(`${origin}/connect/%E0%A4%A`)).status).toBe(400);
  });

  it("shows the channel and the server that a reconnection is about, and refuses another account", async () => {
    const { ctx, start, post } = await setUp();
    const { account } = await connectWithSecrets(callOf(ctx), { provider: "photobox", secrets: ALICE });
    await disconnectChannel(callOf(ctx), { accountId: account.id });
    const url = await start({ accountId: account.id, instanceUrl: "https://pds.example" });
    const { text } = await read(await fetch(url));
    expect(text).toContain("<title>Reconnect Photobox</title>");
    expect(text).toMatch(/<dd>alice\.example<\/dd>[\s\S]*<dd>https:\/\/pds\.example<\/dd>/);
    const refused = await read(await post(url, { ...ALICE, appPassword: "bob-password-1" }));
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/role="alert">\s*These credentials belong to another account/);
  });

  it("escapes whatever anybody enters or names", async () => {
    const { ctx, start, post } = await setUp();
    const first = await read(await post(await start(), { ...ALICE, handle: EVIL, appPassword: "wrong" }));
    await connectWithSecrets(callOf(ctx), { provider: "photobox", secrets: ALICE });
    await queryOf(ctx.store).updateTable("accounts").set({ name: EVIL, handle: EVIL }).execute();
    const [account] = (await listAccounts(callOf(ctx))).accounts;
    const url = await start({
      accountId: account?.id,
      handle: EVIL,
      instanceUrl: "https://pds.example/<script>alert(1)</script>",
    });
    const second = await read(await fetch(url));
    const third = await read(await post(url, { [EVIL]: EVIL, __proto__: EVIL, constructor: EVIL }));
    for (const { text } of [first, second, third]) {
      expect(text).not.toContain("<script");
      expect(text).not.toContain("<img");
    }
    expect(first.text).toContain("&quot;&gt;&lt;script&gt;");
    expect(third.status).toBe(400);
  });

  it("takes its form and nothing else", async () => {
    const { box, start, post } = await setUp();
    const url = await start();
    expect(
      (await post(url, {}, { body: JSON.stringify(ALICE), headers: { "content-type": "application/json" } }))
        .status,
    ).toBe(400);
    expect((await post(url, { ...ALICE, hint: "x".repeat(100_000) })).status).toBe(413);
    expect(
      (await post(url, {}, { body: new URLSearchParams("handle=a&handle=b&appPassword=c") })).status,
    ).toBe(400);
    expect(
      (await post(url, Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, "x"])))).status,
    ).toBe(413);
    const other = await fetch(url, { method: "DELETE" });
    expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect(box.inputs).toEqual([]);
  });

  it("slows down whoever tries without end", async () => {
    const { start, post } = await setUp();
    const url = await start();
    const seen = new Set<number>();
    for (let at = 0; at < 21; at++)
      seen.add((await post(url, { handle: "" }, { headers: { "x-forwarded-for": `10.0.0.${at}` } })).status);
    expect([...seen]).toEqual([400, 429]);
    const { status, text } = await read(await post(url, ALICE));
    expect(status).toBe(429);
    expect(text).toContain("Too many requests");
    expect((await fetch(url)).status).toBe(200);
  });
});
