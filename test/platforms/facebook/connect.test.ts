import { afterEach, beforeEach, describe, expect, it } from "vitest";
import facebook from "../../../src/platforms/facebook/index.ts";
import type { OAuthWay } from "../../../src/ports/connect.ts";
import { storeAccounts } from "../../../src/channels/connecting/store-accounts.ts";
import { createConnectIo, toPlatformAccount } from "../../../src/channels/platform-io/connect-io.ts";
import { loadSecrets } from "../../../src/channels/connecting/renew-tokens.ts";
import { beginConsent, finishConsent } from "../../../src/channels/connecting/oauth.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { APP, PAGE_ID } from "./spec.ts";
import { openWorld, type World } from "./world.ts";

const REDIRECT = "https://posts.example/connect/callback";
const ALL = ["pages_show_list", "pages_read_engagement", "pages_manage_posts", "read_insights"];
const way = facebook.connect[0] as OAuthWay;
const place = { instanceUrl: null, redirectUrl: REDIRECT };

let world: World;

beforeEach(async () => {
  world = await openWorld();
  world.fake.people.granted = [...ALL];
  world.fake.people.pages = [page(PAGE_ID, "The Horn"), page("2", "Sport")];
});

afterEach(() => world[Symbol.asyncDispose]());

function page(id: string, name: string, tasks = ["ADVERTISE", "CREATE_CONTENT"]) {
  return {
    id,
    name,
    tasks,
    access_token: world.fake.people.give(`page-${id}`, { kind: "page", pageId: id }),
  };
}

const consent = () => ({ platform: facebook, way, place, ownerId: "default" });
const signal = new AbortController().signal;

/** The person agrees, and comes back with a code. */
async function connect(code = "code-1") {
  const { keep } = await beginConsent(world.ctx, { ...consent(), state: "state-1" }, signal);
  world.fake.people.codes.set(code, REDIRECT);
  return finishConsent(world.ctx, { ...consent(), keep, answer: { code: `${code}#_` } }, signal);
}

describe("connecting Pages", () => {
  it("asks for the permissions by their names, or by a configuration", async () => {
    const ask = async () => {
      const { url } = await beginConsent(world.ctx, { ...consent(), state: "s" }, signal);
      return new URL(url);
    };
    const plain = await ask();
    expect(plain.origin + plain.pathname).toBe("https://www.facebook.com/v25.0/dialog/oauth");
    expect(Object.fromEntries(plain.searchParams)).toEqual({
      response_type: "code",
      client_id: APP.id,
      redirect_uri: REDIRECT,
      scope: [...ALL, "pages_manage_engagement"].join(","),
      state: "s",
    });
    Object.assign(world.ctx.settings.platformSettings, {
      POSTHORN_FACEBOOK_LOGIN_CONFIG_ID: "99",
      POSTHORN_FACEBOOK_API_VERSION: "v26.0",
    });
    const configured = await ask();
    expect(configured.pathname).toBe("/v26.0/dialog/oauth");
    expect([configured.searchParams.get("config_id"), configured.searchParams.has("scope")]).toEqual([
      "99",
      false,
    ]);
  });

  it("finds all Pages over several answers, each with its token, and tells which may not be posted to", async () => {
    const many = Array.from({ length: 150 }, (_, at) => page(`${1_000 + at}`, `Page ${at}`));
    world.fake.people.pages = [...many, page("9", "Read only", ["ANALYZE"])];
    const { tokens, targets } = await connect();
    expect(targets).toHaveLength(151);
    expect(targets[0]).toEqual({
      platformAccountId: "1000",
      name: "Page 0",
      handle: null,
      profileUrl: "https://www.facebook.com/1000",
      avatarUrl: null,
      settings: {},
      secrets: { pageToken: "page-1000" },
    });
    expect(targets.at(-1)).toMatchObject({
      secrets: {},
      problem: expect.stringMatching(/may not create content/),
    });
    expect(tokens).toMatchObject({
      secrets: { accessToken: "long-short-code-1" },
      expiresAt: world.ctx.clock.now() + 60 * 24 * 60 * 60_000,
      renewableUntil: null,
      scopes: ALL,
    });
  });

  it("finds Pages of business portfolios, and of two copies keeps the one with a token", async () => {
    const { people } = world.fake;
    people.granted.push("business_management");
    const withoutToken = { id: "3", name: "Owned" };
    people.pages = [page("2", "Sport"), withoutToken, { ...page("5", "Read only", ["ANALYZE"]) }];
    people.portfolios = [
      { id: "71", owned: [page("3", "Owned"), page("5", "Read only")], clients: [page("4", "Client")] },
      { id: "72", clients: [{ id: "2", name: "Sport" }] },
    ];
    const { targets } = await connect();
    expect(targets.map(({ platformAccountId, secrets }) => [platformAccountId, secrets])).toEqual([
      ["2", { pageToken: "page-2" }],
      ["3", { pageToken: "page-3" }],
      ["5", {}],
      ["4", { pageToken: "page-4" }],
    ]);
  });

  it("reads those by their ids that the consent names and no list has", async () => {
    const { people } = world.fake;
    people.pages = [];
    people.unlisted = [page("8", "New Page")];
    people.targetIds = ["8", "404"];
    const { targets } = await connect();
    expect(targets).toMatchObject([{ platformAccountId: "8", secrets: { pageToken: "page-8" } }]);
  });

  it("works without the permission for portfolios, which it names where it finds no Page", async () => {
    const { people } = world.fake;
    people.portfolios = [{ id: "71", owned: [page("3", "Owned")] }];
    expect((await connect()).targets).toHaveLength(2);
    people.pages = [];
    await expect(connect("code-2")).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^Facebook listed no Page\. .*permission business_management: add it/),
    });
    people.granted.push("business_management");
    people.portfolios = [];
    await expect(connect("code-3")).rejects.toMatchObject({
      message: expect.not.stringContaining("business_management"),
    });
  });

  it("says of a Page without a token that it was not chosen, or may not be used", async () => {
    world.fake.people.pages = [{ id: "6", name: "Not chosen" }];
    expect((await connect()).targets).toMatchObject([
      { secrets: {}, problem: expect.stringMatching(/gives no access.*Choose it/) },
    ]);
  });

  it("refuses a consent without the permission to post, and a code that was used", async () => {
    world.fake.people.granted = ALL.filter((one) => one !== "pages_manage_posts");
    await expect(connect()).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/permissions are missing: pages_manage_posts\. Start again/),
    });
    const { keep } = await beginConsent(world.ctx, { ...consent(), state: "s" }, signal);
    const again = finishConsent(world.ctx, { ...consent(), keep, answer: { code: "used" } }, signal);
    await expect(again).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/works once/),
    });
  });

  it("stores the Pages that were chosen with one consent, and posts with the Page's token", async () => {
    const { ctx, fake } = world;
    const connected = await connect();
    const target = { ownerId: "default", platform: facebook, way, reconnecting: null, name: null } as never;
    const found = { ...connected, place };
    const accounts = await ctx.store.write((tx) =>
      storeAccounts(ctx, tx, { target, found, chosen: found.targets }),
    );
    expect(accounts.map((row) => [row.platform_account_id, row.name])).toEqual([
      [PAGE_ID, "The Horn"],
      ["2", "Sport"],
    ]);
    expect(new Set(accounts.map((row) => row.grant_id)).size).toBe(1);
    const [first] = accounts;
    if (first === undefined) throw new Error("There is no account.");
    const { id } = await addPost(ctx, first, { caption: "Hello" });
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.asked.at(-1)?.headers["authorization"]).toBe(`Bearer page-${PAGE_ID}`);
    expect(ctx.log.text()).not.toMatch(/page-1000|long-short|app-secret/);
  });

  it("gives back what posting needs, and leaves what Instagram's channels may need", async () => {
    const { ctx, fake } = world;
    const connected = await connect();
    const target = { ownerId: "default", platform: facebook, way, reconnecting: null, name: null } as never;
    const found = { ...connected, place };
    const [row] = await ctx.store.write((tx) =>
      storeAccounts(ctx, tx, { target, found, chosen: found.targets }),
    );
    if (row === undefined) throw new Error("There is no account.");
    const { values } = await loadSecrets(ctx, { ownerId: "default", id: row.id, settings: row.settings });
    const io = await createConnectIo(ctx, { provider: "facebook", ownerId: "default" }, signal);
    const account = toPlatformAccount(row);
    await way.revoke?.(values, {
      ...io,
      account,
      app: { clientId: APP.id, clientSecret: APP.secret },
      place,
    });
    expect(fake.people.granted).toEqual(["pages_show_list", "pages_read_engagement"]);
  });
});
