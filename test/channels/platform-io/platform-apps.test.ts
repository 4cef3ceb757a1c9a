import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { resealAll } from "../../../src/app/secret-key.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { listPlatforms } from "../../../src/channels/platform-io/list-platforms.ts";
import { forgetPlatformApp, setPlatformApp } from "../../../src/channels/platform-io/platform-apps.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { listPlatformApps } from "../../../src/store/queries/platform-apps.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";
import { createPinboard } from "../../support/connect-fixtures.ts";
import { callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { CLIENT, startFakeOAuth } from "../../support/fake-oauth.ts";
import { createOAuthWorld, oauthWay } from "../../support/oauth-world.ts";
import { startService } from "../../support/service.ts";

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const APP = { provider: "cinema", clientId: "canary-client-id", clientSecret: "canary-client-secret" };
const ENVIRONMENT = { POSTHORN_CINEMA_CLIENT_ID: "id", POSTHORN_CINEMA_CLIENT_SECRET: "secret" };

const PAGES = consentWay({ name: "pages", label: "Sign in for pages", settingPrefix: "PAGE_" });
const PLATFORMS = [
  createCinema({ connect: [consentWay(), PAGES] }),
  createCinema({ name: "theatre", title: "Theatre", connect: [consentWay({ appOf: "cinema" })] }),
  createCinema({ name: "stage", title: "Stage", connect: [consentWay({ clientAuth: "none" })] }),
  createPinboard(),
];

async function open(platformSettings: Readonly<Record<string, string>> = {}): Promise<TestContext> {
  const settings = { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings };
  const ctx = await createTestContext({ platformList: PLATFORMS, settings });
  closing.push(ctx);
  return ctx;
}

/** Another process on the same database. */
function beside(ctx: TestContext, platformSettings: Readonly<Record<string, string>> = {}) {
  const { store, cipher, settings } = ctx;
  return createTestContext({
    store,
    cipher,
    platformList: PLATFORMS,
    settings: { ...settings, platformSettings },
  });
}

async function cinemaOf(ctx: TestContext) {
  const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
  return cinema;
}

const settingOf = async (ctx: TestContext, name: string, provider = "cinema") =>
  (await createConnectIo(ctx, { provider, ownerId: "default" }, new AbortController().signal)).setting(name);

describe("the app of a platform that is entered while Posthorn runs", () => {
  it("holds at once in every process, without being told", async () => {
    const ctx = await open();
    const other = await beside(ctx);
    await expect(connectChannel(callOf(other), { provider: "cinema" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("Enter them with posthorn setup cinema."),
    });
    expect(await setPlatformApp(callOf(ctx), APP)).toEqual({
      provider: "cinema",
      configured: true,
      missing: [],
      environment: [],
    });
    const { url } = await connectChannel(callOf(other), { provider: "cinema" });
    expect(url).toContain("/connect/");
    expect(await settingOf(other, "CLIENT_ID")).toBe(APP.clientId);
    expect(await settingOf(other, "CLIENT_SECRET")).toBe(APP.clientSecret);
    const cinema = await cinemaOf(other);
    expect(cinema).toMatchObject({ configured: true, missing: [] });
    expect(cinema?.settings?.filter(({ isSet }) => isSet).map(({ name }) => name)).toEqual([
      "POSTHORN_CINEMA_CLIENT_ID",
      "POSTHORN_CINEMA_CLIENT_SECRET",
    ]);
    // Another platform that uses it, too.
    const [theatre] = (await listPlatforms(callOf(other), { provider: ["theatre"] })).platforms;
    expect(theatre).toMatchObject({ configured: true });
  });

  it("takes part in a whole consent and in what follows", async () => {
    const fake = await startFakeOAuth();
    const world = await createOAuthWorld(fake, oauthWay(fake, { scopeSeparator: " " }));
    closing.push(fake, world);
    Object.assign(world.ctx.settings.platformSettings, {
      POSTHORN_SCRIPTED_CLIENT_ID: "",
      POSTHORN_SCRIPTED_CLIENT_SECRET: "",
    });
    const app = { provider: "scripted", clientId: CLIENT.id, clientSecret: CLIENT.secret };
    await setPlatformApp(callOf(world.ctx), app);
    const { url, keep } = await world.begin();
    expect(new URL(url).searchParams.get("client_id")).toBe(CLIENT.id);
    expect((await world.finish(keep, fake.consent(url))).targets).toHaveLength(1);
    expect(world.ctx.log.text()).not.toContain(CLIENT.secret);
  });

  it("gives way to the environment, and is never mixed with it", async () => {
    const ctx = await open(ENVIRONMENT);
    expect(await setPlatformApp(callOf(ctx), APP)).toMatchObject({
      configured: true,
      environment: Object.keys(ENVIRONMENT),
    });
    expect(await settingOf(ctx, "CLIENT_ID")).toBe("id");
    const half = await beside(ctx, { POSTHORN_CINEMA_CLIENT_ID: "id" });
    expect(await cinemaOf(half)).toMatchObject({ missing: ["POSTHORN_CINEMA_CLIENT_SECRET"] });
    await expect(connectChannel(callOf(half), { provider: "cinema", way: "oauth" })).rejects.toMatchObject({
      message: expect.stringContaining(". Set it in the environment"),
    });
    expect(await settingOf(await beside(ctx), "CLIENT_ID")).toBe(APP.clientId);
  });

  it("is replaced by another, and forgotten", async () => {
    const ctx = await open();
    await setPlatformApp(callOf(ctx), APP);
    await setPlatformApp(callOf(ctx), { ...APP, clientId: "second" });
    expect(await settingOf(ctx, "CLIENT_ID")).toBe("second");
    for (let time = 0; time < 2; time++)
      expect(await forgetPlatformApp(callOf(ctx), { provider: "cinema" })).toMatchObject({
        configured: false,
        missing: ["POSTHORN_CINEMA_CLIENT_ID", "POSTHORN_CINEMA_CLIENT_SECRET"],
      });
    expect(await settingOf(ctx, "CLIENT_ID")).toBeNull();
    expect(await listPlatformApps(ctx.store)).toEqual([]);
  });

  it("is one of several where a platform has several", async () => {
    const ctx = await open();
    await setPlatformApp(callOf(ctx), APP);
    await setPlatformApp(callOf(ctx), { ...APP, clientId: "of pages", way: "pages" });
    expect(await settingOf(ctx, "CLIENT_ID")).toBe(APP.clientId);
    expect(await settingOf(ctx, "PAGE_CLIENT_ID")).toBe("of pages");
    await expect(setPlatformApp(callOf(ctx), { ...APP, way: "secrets" })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("Those that have one are oauth, pages."),
    });
  });

  it("has no secret where the platform gives none", async () => {
    const ctx = await open();
    const { clientId } = APP;
    expect(await setPlatformApp(callOf(ctx), { provider: "stage", clientId })).toMatchObject({
      configured: true,
    });
    expect(await settingOf(ctx, "CLIENT_SECRET", "stage")).toBeNull();
    await expect(setPlatformApp(callOf(ctx), { provider: "cinema", clientId })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("clientSecret: is required."),
    });
  });

  it.each([
    ["pinboard", "conflict", /needs no app/],
    ["theatre", "conflict", /uses the app of the platform cinema/],
    ["nowhere", "not_found", /"nowhere" is not a known platform/],
  ])("is refused for %s", async (provider, kind, message) => {
    const ctx = await open();
    const refusal = { kind, message: expect.stringMatching(message) };
    await expect(setPlatformApp(callOf(ctx), { ...APP, provider })).rejects.toMatchObject(refusal);
    await expect(forgetPlatformApp(callOf(ctx), { provider })).rejects.toMatchObject(refusal);
  });

  it("is sealed in its row, and goes over to a new secret key", async () => {
    const ctx = await open();
    await setPlatformApp(callOf(ctx), APP);
    const stored = JSON.stringify([await listPlatformApps(ctx.store), ctx.log.text()]);
    expect(stored).not.toContain("canary");
    const fresh = createCipher(randomBytes(32));
    const counts = await ctx.store.write((tx) => resealAll(tx, { old: ctx.cipher, fresh }));
    expect(counts.unreadable).toBe(0);
    expect(await settingOf({ ...ctx, cipher: fresh }, "CLIENT_SECRET")).toBe(APP.clientSecret);
    // With the old key it is as if there were none.
    expect(await cinemaOf(ctx)).toMatchObject({ configured: false });
  });
});

describe("PUT and DELETE /platforms/{provider}/app", () => {
  const json = { clientId: APP.clientId, clientSecret: APP.clientSecret };

  it("store and forget it, and never answer it back", async () => {
    const service = await startService();
    closing.push(service);
    const put = await service.ask("PUT /api/v1/platforms/tiktok/app", { json });
    expect(put.status).toBe(200);
    expect(put.json).toEqual({
      provider: "tiktok",
      configured: true,
      missing: [],
      environment: [],
      isAccepted: false,
    });
    const listed = await service.ask("GET /api/v1/platforms?provider=tiktok");
    expect(listed.json.platforms[0]).toMatchObject({ configured: true });
    expect(put.text + listed.text + service.log.text()).not.toContain("canary");
    const gone = await service.ask("DELETE /api/v1/platforms/tiktok/app");
    expect(gone.json).toEqual({
      provider: "tiktok",
      configured: false,
      missing: ["POSTHORN_TIKTOK_CLIENT_ID", "POSTHORN_TIKTOK_CLIENT_SECRET"],
      environment: [],
    });
  });

  it("are for an admin of the installation, and say what is wrong in the usual order", async () => {
    const service = await startService();
    closing.push(service);
    const path = "PUT /api/v1/platforms/tiktok/app";
    const writer = await service.keyFor("default", { permissions: ["read", "publish", "accounts", "files"] });
    const stranger = await service.keyFor("other");
    const statuses = [
      await service.ask(path, { json, key: null }),
      await service.ask(path, { json: {}, key: writer }),
      await service.ask(path, { json, key: stranger }),
      await service.ask("DELETE /api/v1/platforms/tiktok/app", { key: writer }),
      await service.ask(path, { json: { ...json, clientId: "x".repeat(1024 * 1024) } }),
      await service.ask("PUT /api/v1/platforms/nowhere/app", { json: {} }),
      await service.ask("PUT /api/v1/platforms/nowhere/app", { json }),
      await service.ask("PUT /api/v1/platforms/bluesky/app", { json }),
      await service.ask("POST /api/v1/platforms/tiktok/app", { json }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 403, 403, 413, 400, 404, 409, 405]);
  });

  it.each([
    ["an empty text", { clientId: "" }, "clientId: "],
    ["a long text", { clientId: "x".repeat(2_001) }, "clientId: must be at most 2000"],
    ["a space before it", { clientSecret: " canary" }, "clientSecret: must have no space around it"],
    ["the end of a line", { clientSecret: "canary\n" }, "clientSecret: must have no space around it"],
    ["a control character", { clientSecret: "can\u0007ary" }, "clientSecret: must have no space around it"],
    ["a number", { clientSecret: 7 }, "clientSecret: must be a string"],
    ["another field", { more: "canary" }, '"more" is not a known field'],
  ])("refuse %s", async (_what, change, problem) => {
    const service = await startService();
    closing.push(service);
    const answer = await service.ask("PUT /api/v1/platforms/tiktok/app", { json: { ...json, ...change } });
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(problem)]);
    expect(answer.text).not.toContain("canary");
  });
});
