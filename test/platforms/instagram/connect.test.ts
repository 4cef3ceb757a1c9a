import { afterEach, describe, expect, it } from "vitest";
import instagram from "../../../src/platforms/instagram/index.ts";
import { DAY } from "../../../src/domain/time.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { renewDueGrants } from "../../../src/channels/connecting/renewal.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost } from "../../support/publishing.ts";
import { USER_ID } from "./fake.ts";
import { createPages } from "./pages.ts";
import { openInstagram, openStage } from "./stage.ts";
import { connectByConsent } from "./stage-kit.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function world() {
  const opened = await openInstagram(instagram);
  open.push(opened.ctx);
  return opened;
}

async function stage() {
  const opened = await openStage(instagram);
  open.push(opened);
  return opened;
}

describe("connecting by Instagram itself", () => {
  it("keeps a token of 60 days under the professional account's id", async () => {
    const { ctx, instagram: fake } = await world();
    const [account] = await connectByConsent(ctx, { provider: "instagram", agree: fake.tokens.consent });
    expect(account).toMatchObject({
      platform_account_id: USER_ID,
      name: "The Horn",
      handle: "hornblower",
      profile_url: "https://www.instagram.com/hornblower/",
      status: "connected",
      way: "instagram",
    });
    expect(account?.access_ends_at).toBe(ctx.clock.now() + 5_183_944_000);
    expect(JSON.parse(account?.limits ?? "{}")).toEqual({ postsPerDay: 100, quotaUse: { posts: 0 } });
    expect(fake.door.wrong).toEqual([]);
    expect(ctx.log.text()).not.toContain("canary");
  });

  it("refuses a consent without what publishing needs", async () => {
    const { ctx, instagram: fake } = await world();
    const agree = (url: string) => fake.tokens.consent(url, ["instagram_business_basic"]);
    await expect(connectByConsent(ctx, { provider: "instagram", agree })).rejects.toThrow(
      "permissions are missing: instagram_business_content_publish",
    );
    expect(await queryOf(ctx.store).selectFrom("accounts").selectAll().execute()).toEqual([]);
  });

  it("refuses a personal account", async () => {
    const { ctx, instagram: fake } = await world();
    fake.state.accountType = "PERSONAL";
    await expect(
      connectByConsent(ctx, { provider: "instagram", agree: fake.tokens.consent }),
    ).rejects.toThrow("personal account");
  });

  it("names both settings and the address to register where they are missing", async () => {
    const { ctx } = await world();
    for (const name of ["CLIENT_ID", "CLIENT_SECRET"])
      delete (ctx.settings.platformSettings as Record<string, string>)[`POSTHORN_INSTAGRAM_${name}`];
    await expect(connectChannel(callOf(ctx), { provider: "instagram" })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_INSTAGRAM_CLIENT_ID and POSTHORN_INSTAGRAM_CLIENT_SECRET.*an https address.*\/connect\/setup\/instagram.*way "facebook"/s,
      ),
    });
  });

  it("renews the token by itself every week, and asks for a person once it ended", async () => {
    const { ctx, account, instagram: fake } = await stage();
    const signal = AbortSignal.timeout(10_000);
    const read = async () => findAccountRow(ctx.store, account.owner_id, account.id);
    for (let week = 0; week < 10; week += 1) {
      await ctx.clock.advance(7 * DAY);
      await renewDueGrants(ctx, signal);
    }
    expect(fake.tokens.tokens.size).toBe(12);
    expect((await read())?.access_ends_at).toBe(ctx.clock.now() + 5_183_944_000);
    fake.tokens.endAll();
    const io = await createPlatformIo(ctx, account, signal);
    await expect(instagram.inspect?.(io)).rejects.toMatchObject({ kind: "auth" });
    expect((await read())?.status).toBe("reconnect_required");
  });
});

describe("connecting through a Facebook Page", () => {
  it("gives each linked account the token of its Page, which has no end", async () => {
    const { ctx } = await world();
    const pages = createPages();
    Object.assign(ctx, { outbound: pages.door });
    Object.assign(ctx.settings.platformSettings, pages.settings);
    const agree = pages.consent(pages.all);
    const [account] = await connectByConsent(ctx, { provider: "instagram", way: "facebook", agree });
    expect(account).toMatchObject({
      platform_account_id: "17841400000000001",
      way: "facebook",
      token_expires_at: null,
    });
    if (account === undefined) throw new Error("Nothing was connected.");
    const inspected = await instagram.inspect?.(
      await createPlatformIo(ctx, account, AbortSignal.timeout(5_000)),
    );
    expect(inspected).toMatchObject({ handle: "linked", quotaUse: { posts: 4 }, problem: null });
    expect(pages.tokensUsed).toContain("page-token-canary");
    expect(pages.door.wrong).toEqual([]);
  });

  it("posts with the Page's token, and with the proof that Facebook's app may demand", async () => {
    const { ctx } = await world();
    const pages = createPages();
    Object.assign(ctx, { outbound: pages.door });
    Object.assign(ctx.settings.platformSettings, pages.settings);
    const agree = pages.consent(pages.all);
    const [account] = await connectByConsent(ctx, { provider: "instagram", way: "facebook", agree });
    if (account === undefined) throw new Error("Nothing was connected.");
    const { id } = await addPost(ctx, account, { caption: "A horn", media_url: PHOTO_URL });
    expect(await finish(ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "901",
      platform_url: "https://www.instagram.com/p/901/",
    });
    expect(pages.door.wrong).toEqual([]);
  });

  it("asks where Facebook's own settings say", async () => {
    const { ctx } = await world();
    const io = await createConnectIo(
      ctx,
      { provider: "instagram", ownerId: "default" },
      AbortSignal.timeout(5_000),
    );
    Object.assign(ctx.settings.platformSettings, {
      POSTHORN_FACEBOOK_BASE_URL: "http://127.0.0.1:1",
      POSTHORN_FACEBOOK_API_VERSION: "v26.0",
      POSTHORN_FACEBOOK_LOGIN_CONFIG_ID: "77",
    });
    const way = instagram.connect[1];
    if (way?.kind !== "oauth" || typeof way.endpoints !== "function") throw new Error("No such way.");
    expect(await way.endpoints(io, { instanceUrl: null, redirectUrl: "" })).toEqual({
      authorize: "https://www.facebook.com/v26.0/dialog/oauth",
      token: "http://127.0.0.1:1/v26.0/oauth/access_token",
    });
  });

  it.each([
    [{}, "facebook", ["instagram_manage_contents", "business_management"]],
    [{}, "more", []],
    [{ POSTHORN_FACEBOOK_LOGIN_CONFIG_ID: "77" }, "facebook", []],
  ])(
    "asks for the permissions by their names, or by a configuration: %o, %s",
    async (settings, way, without: string[]) => {
      const { ctx } = await world();
      const pages = createPages();
      Object.assign(ctx, { outbound: pages.door });
      Object.assign(ctx.settings.platformSettings, pages.settings, settings);
      const agree = pages.consent(pages.all);
      await connectByConsent(ctx, { provider: "instagram", way, agree });
      const [asked] = pages.state.consents.map(({ searchParams }) => searchParams);
      const isConfigured = "POSTHORN_FACEBOOK_LOGIN_CONFIG_ID" in settings;
      expect(asked?.get("config_id")).toBe(isConfigured ? "77" : null);
      const named = pages.all
        .filter((scope) => !without.includes(scope))
        .toSorted()
        .join(",");
      expect(asked?.get("scope")?.split(",").toSorted().join(",") ?? null).toBe(isConfigured ? null : named);
    },
  );

  it.each([true, false])(
    "finds the account of a portfolio's Page where that may be read: %s",
    async (mayWalk) => {
      const { ctx } = await world();
      const pages = createPages({ isOfPortfolio: true });
      Object.assign(ctx, { outbound: pages.door });
      Object.assign(ctx.settings.platformSettings, pages.settings);
      const granted = pages.all.filter((scope) => mayWalk || scope !== "business_management");
      const connecting = connectByConsent(ctx, {
        provider: "instagram",
        way: "facebook",
        agree: pages.consent(granted),
      });
      if (mayWalk) expect(await connecting).toMatchObject([{ platform_account_id: "17841400000000001" }]);
      else await expect(connecting).rejects.toThrow(/^None of the Pages .*permission business_management/);
      expect(pages.door.wrong).toEqual([]);
    },
  );

  it("says which permission is missing, that no Page has an account, and that there is no Page", async () => {
    for (const [granted, facts, words] of [
      [["instagram_basic", "pages_show_list"], {}, "permissions are missing: instagram_content_publish"],
      [null, { isLinked: false }, "None of the Pages"],
      [null, { hasPages: false }, /^Facebook listed no Page\./],
    ] as const) {
      const { ctx } = await world();
      const pages = createPages(facts);
      Object.assign(ctx, { outbound: pages.door });
      Object.assign(ctx.settings.platformSettings, pages.settings);
      const agree = pages.consent(granted ?? pages.all);
      await expect(connectByConsent(ctx, { provider: "instagram", way: "facebook", agree })).rejects.toThrow(
        words,
      );
    }
  });
});
