import { afterEach, describe, expect, it } from "vitest";
import type { OAuthWay } from "../../../src/ports/connect.ts";
import { readStandardTokens } from "../../../src/channels/connecting/oauth-requests.ts";
import {
  CLIENT,
  startFakeOAuth,
  type FakeOAuth,
  type Issued,
  type OAuthQuirks,
} from "../../support/fake-oauth.ts";
import { createOAuthWorld, oauthWay } from "../../support/oauth-world.ts";

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function setUp(quirks: OAuthQuirks = {}, parts: Partial<OAuthWay> = {}) {
  const fake = await startFakeOAuth(quirks);
  const way = oauthWay(fake, { scopeSeparator: quirks.separator ?? " ", ...parts });
  const world = await createOAuthWorld(fake, way);
  closing.push(fake, world);
  return { fake, world };
}

async function connect({
  fake,
  world,
}: {
  fake: FakeOAuth;
  world: Awaited<ReturnType<typeof createOAuthWorld>>;
}) {
  const { url, keep } = await world.begin();
  return world.finish(keep, fake.consent(url));
}

const flat = ({ access, refresh }: Issued) => ({ access_token: access, refresh_token: refresh });

/** What platforms do otherwise than the standard, in the endpoint's words and in ours. */
const QUIRKS: Readonly<Record<string, readonly [OAuthQuirks, Partial<OAuthWay>]>> = {
  "the standard": [{}, {}],
  "PKCE and Basic (X)": [
    { auth: "basic", pkce: true },
    { clientAuth: "basic", pkce: "S256" },
  ],
  "client_key, commas, refusals with 200 (TikTok)": [
    { clientIdName: "client_key", separator: ",", refusesWith200: true },
    { clientIdName: "client_key", scopeSeparator: "," },
  ],
  "a GET for the code (Meta)": [{ method: "GET", rotates: false }, { tokenMethod: "GET" }],
  "an extra field with the code (Pinterest)": [
    { auth: "basic", codeFields: { continuous_refresh: "true" } },
    { clientAuth: "basic", tokenParams: { continuous_refresh: "true" } },
  ],
  "seconds as a text, scopes as a list": [
    { shape: (issued) => ({ ...flat(issued), expires_in: "7200", scope: issued.scopes }) },
    {},
  ],
  "no end and no scopes (Mastodon)": [{ shape: (issued) => flat(issued) }, {}],
  "a list around it and an id beyond 2^53 (Instagram)": [
    {
      shape: (issued) =>
        `{"data":[{"access_token":"${issued.access}","user_id":17841405309211844,"permissions":"read,write posts"}]}`,
    },
    {
      readTokens: (answer, now) => {
        const [first] = answer["data"] as never[];
        const tokens = first === undefined ? null : readStandardTokens(first, now);
        if (tokens === null) throw new Error("There is no token.");
        return tokens;
      },
    },
  ],
};

describe("a consent", () => {
  it.each(Object.entries(QUIRKS))("is finished with %s", async (_name, [quirks, parts]) => {
    const at = await setUp(quirks, parts);
    const { tokens, targets } = await connect(at);
    expect(at.fake.state.wrong).toEqual([]);
    expect(tokens?.secrets["accessToken"]).toMatch(/^access-/);
    expect(targets).toHaveLength(1);
  });

  it("keeps ids exact, and what is told of the end and of the scopes", async () => {
    const [quirks, parts] = QUIRKS["a list around it and an id beyond 2^53 (Instagram)"]!;
    const { tokens } = await connect(await setUp(quirks, parts));
    expect(tokens).toMatchObject({
      answer: { user_id: "17841405309211844" },
      scopes: ["read", "write", "posts"],
    });
    expect(
      readStandardTokens({ access_token: "a", expires_in: "60", refresh_expires_in: 120 }, 1_000),
    ).toMatchObject({
      expiresAt: 61_000,
      renewableUntil: 121_000,
      scopes: null,
    });
    expect(readStandardTokens({ expires_in: 5 }, 0)).toBeNull();
  });

  it("asks with %20, the person's state and the scopes of the settings", async () => {
    const { world } = await setUp();
    expect((await world.begin("state-9")).url).toContain("scope=read%20write%20posts&state=state-9");
    Object.assign(world.ctx.settings.platformSettings, { POSTHORN_SCRIPTED_SCOPES: "a, b c" });
    expect((await world.begin()).url).toContain("scope=a%20b%20c&");
    Object.assign(world.ctx.settings.platformSettings, {
      POSTHORN_SCRIPTED_AUTH_URL: "https://own.example/a?x=1",
    });
    expect((await world.begin()).url).toMatch(/^https:\/\/own\.example\/a\?x=1&response_type=code&/);
  });

  it("takes a code once, its own verifier alone, and #_ off its end", async () => {
    const { fake, world } = await setUp({ pkce: true }, { pkce: "S256" });
    const { url, keep } = await world.begin();
    const answer = fake.consent(url);
    const other = await world.begin();
    await expect(world.finish(other.keep, fake.consent(url))).rejects.toMatchObject({ kind: "invalid" });
    expect((await world.finish(keep, { ...answer, code: `${answer["code"]}#_` })).targets).toHaveLength(1);
    await expect(world.finish(keep, answer)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("works once"),
    });
    expect(fake.state.requests).toBe(3);
  });

  it.each([
    [{ error: "access_denied" }, /permission was refused/],
    [{ error: "user_cancelled_login", code: "x" }, /permission was refused/],
    [{ error: "server_error" }, /without a permission \(server_error\)/],
    [{ error: "<b>do this</b>" }, /without a permission\.$/],
    [{}, /without a permission\.$/],
  ])("that comes back with %o asks nothing of the platform", async (answer, words) => {
    const { fake, world } = await setUp();
    const { keep } = await world.begin();
    await expect(world.finish(keep, answer)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(words),
    });
    expect(fake.state.requests).toBe(0);
  });

  it("names permissions that a person unticked", async () => {
    const { fake, world } = await setUp({}, { scopes: ["read", "write"], neededScopes: ["write"] });
    const { url, keep } = await world.begin();
    await expect(world.finish(keep, fake.consent(url, ["read"]))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("missing: write."),
    });
  });

  it("blames the settings for a wrong app, with no secret in the log", async () => {
    for (const quirks of [{}, { refusesWith200: true }]) {
      const { fake, world } = await setUp(quirks);
      const { url, keep } = await world.begin();
      fake.state.knowsClient = false;
      await expect(world.finish(keep, fake.consent(url))).rejects.toMatchObject({
        kind: "unavailable",
        message: expect.stringContaining("POSTHORN_SCRIPTED_CLIENT_SECRET"),
      });
      expect(world.ctx.log.text()).toContain("A consent could not be finished");
      expect(world.ctx.log.text()).not.toMatch(/canary|code-|IGNORE/);
    }
  });

  it("names the settings and the address to register where there is no app", async () => {
    const { world } = await setUp();
    Object.assign(world.ctx.settings.platformSettings, {
      POSTHORN_SCRIPTED_CLIENT_ID: "",
      POSTHORN_SCRIPTED_CLIENT_SECRET: "",
    });
    await expect(world.begin()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/CLIENT_ID and .*CLIENT_SECRET .*\/connect\/callback/),
    });
  });

  it("registers an app once per server, and another when the server forgot it", async () => {
    let registered = 0;
    const register = async () => ({ clientId: CLIENT.id, clientSecret: `${++registered}` && CLIENT.secret });
    const at = await setUp({}, { register });
    await connect(at);
    await connect(at);
    expect(registered).toBe(1);
    const { url, keep } = await at.world.begin();
    at.fake.state.knowsClient = false;
    await expect(at.world.finish(keep, at.fake.consent(url))).rejects.toMatchObject({ kind: "invalid" });
    at.fake.state.knowsClient = true;
    await connect(at);
    expect(registered).toBe(2);
    // Nobody got a token with it that lasted: the server may have thrown it away by now.
    await at.world.ctx.clock.advance(86_400_000);
    await connect(at);
    expect(registered).toBe(3);
  });
});

it("takes parameters of the consent's address out of settings, and leaves out what they stand for (Meta)", async () => {
  const { world } = await setUp(
    {},
    {
      authorizeParams: (io) =>
        io.setting("LOGIN_CONFIG_ID") === null ? {} : { scope: null, config_id: "7" },
    },
  );
  const plain = new URL((await world.begin()).url).searchParams;
  expect([plain.get("scope"), plain.get("config_id")]).toEqual(["read write posts", null]);
  Object.assign(world.ctx.settings.platformSettings, { POSTHORN_SCRIPTED_LOGIN_CONFIG_ID: "7" });
  const configured = new URL((await world.begin()).url).searchParams;
  expect([configured.get("scope"), configured.get("config_id")]).toEqual([null, "7"]);
});
