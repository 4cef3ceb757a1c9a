import { describe, expect, it } from "vitest";
import { createMediaProbe } from "../../../src/media/probe/media-reader.ts";
import youtube from "../../../src/platforms/youtube/index.ts";
import type { OAuthWay } from "../../../src/ports/connect.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { beginConsent, finishConsent } from "../../../src/channels/connecting/oauth.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { startService } from "../../support/service.ts";
import { callOf } from "../../support/context.ts";
import { createFakeYoutube } from "./fake.ts";
import { refusal } from "./answers.ts";
import { createYoutubeWorld, PLACE, SETTINGS } from "./world.ts";
import { disconnectChannel } from "../../../src/channels/connecting/connections.ts";

const way = youtube.connect[0] as OAuthWay;
const SCOPES = way.scopes;

/** A person consents; `granted`: what they left ticked. */
async function consent(world: Awaited<ReturnType<typeof createYoutubeWorld>>, granted?: string) {
  const { ctx, fake } = world;
  const asked = { platform: youtube, way, place: PLACE, ownerId: "default" };
  const signal = new AbortController().signal;
  const { url, keep } = await beginConsent(ctx, { ...asked, state: "state-1" }, signal);
  const answer = fake.tokens.consent(url, granted);
  return finishConsent(ctx, { ...asked, keep, answer }, signal);
}

describe("connecting YouTube", () => {
  it("gives the one channel that the consent is good for", async () => {
    const world = await createYoutubeWorld();
    const { tokens, targets } = await consent(world);
    expect(targets).toEqual([
      {
        platformAccountId: "UChorn00000000000000000",
        name: "Horn Channel",
        handle: "@horn",
        profileUrl: "https://www.youtube.com/channel/UChorn00000000000000000",
        avatarUrl: "https://yt3.ggpht.com/horn.jpg",
        settings: { uploads: "UUhorn00000000000000000" },
        secrets: {},
      },
    ]);
    expect(tokens).toMatchObject({ scopes: SCOPES, renewableUntil: null });
    expect(tokens?.secrets["refreshToken"]).toMatch(/^1\/\//);
    expect(world.fake.wrong).toEqual([]);
  });

  it("refuses a consent without the permission that posting needs, and takes one without numbers", async () => {
    const world = await createYoutubeWorld();
    await expect(consent(world, SCOPES[1])).rejects.toThrow(/permissions are missing: .*youtube\.force-ssl/);
    expect((await consent(world, SCOPES[0])).targets).toHaveLength(1);
  });

  it.each([["no channel"], ["youtubeSignupRequired"]])(
    "says so when the account has none (%s)",
    async (how) => {
      const world = await createYoutubeWorld();
      if (how === "no channel") world.fake.state.channels = [];
      else world.fake.state.next.set("GET /youtube/v3/channels", [refusal(401, "youtubeSignupRequired")]);
      await expect(consent(world)).rejects.toThrow(/has no YouTube channel.*create_channel/);
    },
  );

  it("is done through the page, by HTTP, and gives the token back when it is disconnected", async () => {
    const fake = createFakeYoutube({ now: () => Date.now() });
    let origin = "http://127.0.0.1:1";
    await using service = await startService(
      {},
      {
        outbound: fake.outbound,
        probe: createMediaProbe(),
        platforms: new Map([["youtube", youtube]]),
        publicUrl: async () => origin,
        settings: {
          timezone: "UTC",
          maxLatenessMs: 3_600_000,
          uploadFolders: [],
          platformSettings: SETTINGS,
        },
      },
    );
    origin = `http://127.0.0.1:${service.port}`;
    const { url } = await service.call("connect_channel", { provider: "youtube" });
    const page = new URL(url);
    page.searchParams.set("step", "consent");
    const sent = await fetch(page, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(),
      headers: { "Sec-Fetch-Site": "same-origin" },
    });
    const Cookie = sent.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const back = new URL(`${origin}/connect/callback`);
    const answer = fake.tokens.consent(sent.headers.get("location") ?? "");
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
    expect((await fetch(back, { headers: { Cookie } })).status).toBe(200);
    const { accounts } = await service.call("list_accounts", {});
    expect(accounts).toMatchObject([
      {
        provider: "youtube",
        name: "Horn Channel",
        status: "connected",
        handle: "@horn",
      },
    ]);
    await disconnectChannel(callOf(service.ctx), { accountId: accounts[0].id });
    expect(fake.tokens.revoked).toEqual([expect.stringMatching(/^1\/\//)]);
    expect(fake.wrong).toEqual([]);
  });
});

describe("what YouTube says of a channel", () => {
  it("is kept: name, handle, and how long its films may be", async () => {
    const world = await createYoutubeWorld();
    const { ctx, account, fake } = world;
    fake.state.channels = fake.state.channels.map((channel) => ({
      ...channel,
      snippet: { ...channel.snippet, title: "New name" },
      status: { ...channel.status, longUploadsStatus: "eligible" },
    }));
    await inspectAccount(ctx, account);
    const row = await findAccountRow(ctx.store, account.owner_id, account.id);
    expect(row).toMatchObject({
      name: "New name",
      handle: "@horn",
      status: "connected",
      status_reason: null,
    });
    const limits = JSON.parse(row?.limits ?? "{}");
    expect(limits).toEqual({ longUploads: "eligible", country: "DE" });
    const shown = (given: object) =>
      youtube.capabilitiesOf?.({ limits: given } as never, null).media.accepts[0]?.maxSeconds;
    expect([shown(limits), shown({ longUploads: "allowed" }), shown({})]).toEqual([900, 43_200, 43_200]);
  });

  it("asks to be reconnected when its permission is over", async () => {
    const { ctx, account, fake } = await createYoutubeWorld();
    fake.tokens.expireAll();
    fake.tokens.revoke(Buffer.from("token=1//1"));
    await inspectAccount(ctx, account);
    expect(await findAccountRow(ctx.store, account.owner_id, account.id)).toMatchObject({
      status: "reconnect_required",
    });
  });
});
