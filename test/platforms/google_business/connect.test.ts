import google from "../../../src/platforms/google_business/index.ts";
import { describe, expect, it } from "vitest";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { listPlatforms } from "../../../src/channels/platform-io/list-platforms.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { LOCATION, refusal } from "./fake.ts";
import { createBusinessWorld, openBusiness, SETTINGS } from "./world.ts";
import { disconnectChannel } from "../../../src/channels/connecting/connections.ts";

const NO_QUOTA = refusal(429, "RESOURCE_EXHAUSTED", [
  {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "RATE_LIMIT_EXCEEDED",
    domain: "googleapis.com",
    metadata: {
      service: "mybusinessaccountmanagement.googleapis.com",
      quota_limit: "DefaultRequestsPerMinutePerProject",
      quota_limit_value: "0",
    },
  },
]);

/** Another location, of a title that several have. */
function shop(id: number, more: object = {}): typeof LOCATION {
  return { ...LOCATION, name: `locations/${id}`, ...more };
}

describe("connecting Google Business Profile", () => {
  it("gives every location of every account once, with its street, to choose from", async () => {
    const { fake, connect, ctx } = await openBusiness();
    fake.state.accounts = [{ name: "accounts/1" }, { name: "accounts/2" }];
    const street = {
      storefrontAddress: { addressLines: ["Alphornweg 2"], locality: "Thun", regionCode: "CH" },
    };
    const unseen = { title: "Closed", metadata: { ...LOCATION.metadata, hasVoiceOfMerchant: false } };
    // Two pages, and one location that both accounts manage.
    const many = Array.from({ length: 101 }, (_, at) => shop(1_000 + at));
    fake.state.locations.set("accounts/2", [LOCATION, shop(23, street), shop(24, unseen), ...many]);
    let offered: readonly { readonly name: string }[] = [];
    const { rows, error } = await connect(undefined, (channels) => {
      offered = channels;
      return channels.slice(0, 2).map(({ key }) => key);
    });
    expect(error).toBeNull();
    expect(offered).toHaveLength(104);
    expect(rows.map((row) => [row.name, row.platform_account_id, JSON.parse(row.settings)])).toEqual([
      [
        "The Horn Shop (Hornweg 1, Bern)",
        "locations/22",
        { account: "accounts/1", location: "locations/22", languageCode: "de" },
      ],
      [
        "The Horn Shop (Alphornweg 2, Thun)",
        "locations/23",
        { account: "accounts/2", location: "locations/23", languageCode: "de" },
      ],
    ]);
    expect(rows[0]).toMatchObject({ profile_url: "https://maps.google.com/?cid=22", status: "connected" });
    expect(offered.find(({ name }) => name.startsWith("Closed"))).toMatchObject({
      problem: expect.stringContaining("not verified"),
    });
    expect(fake.wrong).toEqual([]);
    await ctx[Symbol.asyncDispose]();
  });

  it("names both settings and the address where no app is set up", async () => {
    const { connect } = await openBusiness(google, {});
    await expect(connect()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /POSTHORN_GOOGLE_BUSINESS_CLIENT_ID and POSTHORN_GOOGLE_BUSINESS_CLIENT_SECRET .*\/connect\/callback/,
      ),
    });
  });

  it("takes YouTube's app where it has none of its own, and leaves that its permissions", async () => {
    const youtube = Object.entries(SETTINGS).map(([name, value]) => [
      name.replace("GOOGLE_BUSINESS", "YOUTUBE"),
      value,
    ]);
    const { ctx, fake, connect } = await openBusiness(google, Object.fromEntries(youtube));
    const call = callOf(ctx);
    const [listed] = (await listPlatforms(call)).platforms;
    expect(listed).toMatchObject({ configured: true, missing: [], ways: ["youtube", "oauth"] });
    const { rows } = await connect();
    expect(rows).toMatchObject([{ way: "youtube", status: "connected" }]);
    await disconnectChannel(call, { accountId: rows[0]?.id ?? "" });
    expect(fake.tokens.revoked).toEqual([]);
  });

  it("gives its own token back when the last location is disconnected", async () => {
    const { ctx, fake, account } = await createBusinessWorld();
    await disconnectChannel(callOf(ctx), { accountId: account.id });
    expect(fake.tokens.revoked).toEqual([expect.stringMatching(/^1\/\//)]);
  });

  it.each([
    ["has no locations", "manages no location"],
    ["is of a project that Google has not approved", "has not approved the Google Cloud project"],
  ])("says what to do where the account %s", async (how, what) => {
    const { fake, connect } = await openBusiness();
    if (how === "has no locations") fake.state.locations.clear();
    else fake.state.next.set("GET mybusinessaccountmanagement.googleapis.com/v1/accounts", [NO_QUOTA]);
    const { rows, error } = await connect();
    expect(rows).toEqual([]);
    expect(error).toContain(what);
  });
});

describe("what Google says of a location", () => {
  it("is kept: its name, and that it is shut out", async () => {
    const { ctx, account, fake } = await createBusinessWorld();
    const metadata = { ...LOCATION.metadata, hasVoiceOfMerchant: false };
    fake.state.locations.set("accounts/1", [shop(22, { title: "The New Horn", metadata })]);
    await inspectAccount(ctx, account);
    expect(await findAccountRow(ctx.store, account.owner_id, account.id)).toMatchObject({
      name: "The New Horn (Hornweg 1, Bern)",
      status: "connected",
      status_reason: expect.stringContaining("has not verified this location"),
    });
  });

  it.each([403, 404])("asks to be reconnected once the person may not manage it (%i)", async (status) => {
    const { ctx, account, fake } = await createBusinessWorld();
    const answer = refusal(status, status === 403 ? "PERMISSION_DENIED" : "NOT_FOUND");
    fake.state.next.set("GET mybusinessbusinessinformation.googleapis.com/v1/locations/{locationsId}", [
      answer,
      answer,
    ]);
    await inspectAccount(ctx, account);
    expect(await findAccountRow(ctx.store, account.owner_id, account.id)).toMatchObject({
      status: "reconnect_required",
    });
  });
});
