import { describe, expect, it } from "vitest";
import { z } from "zod";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { MAX_WHOLE_PLATFORMS } from "../../../src/domain/accounts/platform-listing.ts";
import { MAX_RESULT_CHARS } from "../../../src/mcp/limits.ts";
import { usualWay } from "../../../src/channels/platform-io/set-up.ts";
import { listPlatforms } from "../../../src/channels/platform-io/list-platforms.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";
import { createPhotobox, createPinboard } from "../../support/connect-fixtures.ts";
import { callOf, createTestContext } from "../../support/context.ts";

const SETTINGS = { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [] };

describe("listPlatforms", () => {
  it("tells of every platform in short what it takes and what is missing", async () => {
    const { platform } = createPhotobox();
    const ctx = await createTestContext({ platformList: [createPinboard(), platform, createCinema()] });
    const { platforms } = await listPlatforms(callOf(ctx));
    expect(platforms.map((one) => [one.provider, one.configured, one.missing, one.connect])).toEqual([
      ["cinema", false, ["POSTHORN_CINEMA_CLIENT_ID", "POSTHORN_CINEMA_CLIENT_SECRET"], "oauth"],
      ["photobox", true, [], "secrets"],
      ["pinboard", true, [], "none"],
    ]);
    expect(platforms[0]).toEqual({
      provider: "cinema",
      title: "Cinema",
      configured: false,
      missing: expect.anything(),
      connect: "oauth",
      ways: ["oauth"],
      media: ["video"],
      caption: { maxLength: 5_000, unit: "bytes" },
      nativeScheduling: true,
    });
  });

  it("tells those that are named whole, with the steps to set them up", async () => {
    const { platform } = createPhotobox();
    const ctx = await createTestContext({
      platformList: [platform, createCinema(), createPinboard()],
      settings: { ...SETTINGS, platformSettings: { POSTHORN_CINEMA_CLIENT_ID: "id" } },
    });
    const { platforms } = await listPlatforms(callOf(ctx), { provider: ["photobox", "cinema", "cinema"] });
    const [cinema, photobox] = platforms;
    expect(platforms).toHaveLength(2);
    expect(cinema).toMatchObject({
      provider: "cinema",
      missing: ["POSTHORN_CINEMA_CLIENT_SECRET"],
      metadataSchema: { properties: { title: { type: "string", maxLength: 100 } }, required: ["title"] },
      redirectUrl: "http://localhost:4747/connect/callback",
      setup: {
        url: "https://console.cinema.example/apps",
        steps: [
          "Make an app of the type web.",
          "Register the redirect address http://localhost:4747/connect/callback.",
          "Ask for the scopes film.write film.read.",
          expect.stringContaining("POSTHORN_CINEMA_CLIENT_ID"),
        ],
        warnings: ["Until the app is audited, films stay private."],
      },
    });
    expect(cinema?.settings?.map(({ name, isRequired, isSet }) => [name, isRequired, isSet])).toEqual([
      ["POSTHORN_CINEMA_BASE_URL", false, false],
      ["POSTHORN_CINEMA_CLIENT_ID", true, true],
      ["POSTHORN_CINEMA_CLIENT_SECRET", true, false],
      ["POSTHORN_CINEMA_AUTH_URL", false, false],
      ["POSTHORN_CINEMA_TOKEN_URL", false, false],
      ["POSTHORN_CINEMA_SCOPES", false, false],
      ["POSTHORN_CINEMA_REDIRECT_URL", false, false],
    ]);
    expect(photobox).toMatchObject({
      docs: platform.docs,
      capabilities: showCapabilities(platform.capabilities, platform.remove !== undefined),
      setup: null,
      redirectUrl: null,
      connecting: [
        {
          kind: "secrets",
          secretsSchema: {
            properties: { appPassword: { type: "string", writeOnly: true } },
            required: ["handle", "appPassword"],
          },
        },
      ],
    });
    expect(JSON.stringify(platforms)).not.toContain('"id"');
  });

  it("says whether figures are collected, and what that costs", async () => {
    const insights = async () => ({ state: "live" as const, visibility: null, metrics: {} });
    const capabilities = { ...createCinema().capabilities, analytics: { account: [], post: ["views"] } };
    const results = { price: "Each reading costs a cent." };
    const told = async (more: object, platformSettings = {}) => {
      const platformList = [{ ...createCinema(), ...more }];
      await using ctx = await createTestContext({
        platformList,
        settings: { ...SETTINGS, platformSettings },
      });
      return (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms[0]?.results;
    };
    expect(await told({ capabilities: { ...capabilities, analytics: { account: [], post: [] } } })).toBe(
      "off: it offers none.",
    );
    expect(await told({ insights, capabilities })).toBe("on");
    expect(await told({ insights, capabilities, results })).toBe(
      "off. Each reading costs a cent. POSTHORN_CINEMA_RESULTS=on turns it on.",
    );
    expect(await told({ insights, capabilities, results }, { POSTHORN_CINEMA_RESULTS: "on" })).toBe(
      "on. Each reading costs a cent.",
    );
  });

  it("knows another redirect address and other scopes, where they are set", async () => {
    const platformSettings = {
      POSTHORN_CINEMA_REDIRECT_URL: "https://posts.example/back",
      POSTHORN_CINEMA_SCOPES: "film.write, profile",
    };
    const settings = { ...SETTINGS, platformSettings };
    const ctx = await createTestContext({ platformList: [createCinema()], settings });
    const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
    expect(cinema?.redirectUrl).toBe("https://posts.example/back");
    expect(cinema?.setup?.needs).toEqual([]);
    expect(cinema?.setup?.steps.slice(1, 3)).toEqual([
      "Register the redirect address https://posts.example/back.",
      "Ask for the scopes film.write profile.",
    ]);
  });

  it("asks each app of a platform for scopes of its own", async () => {
    const platformSettings = {
      POSTHORN_CINEMA_SCOPES: "film.write",
      POSTHORN_CINEMA_PAGE_SCOPES: "page.write",
    };
    const ways = [consentWay(), consentWay({ name: "second", settingPrefix: "PAGE_" })] as const;
    const platformList = [createCinema({ connect: ways })];
    const ctx = await createTestContext({ platformList, settings: { ...SETTINGS, platformSettings } });
    const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
    expect(cinema?.connecting?.map(({ scopes }) => scopes)).toEqual([["film.write"], ["page.write"]]);
  });

  it("prints no address that the platform refuses, and says first what it takes", async () => {
    const setup = { ...consentWay().setup!, needs: ["An audit takes days."] };
    const strict = consentWay({ redirect: "https", setup });
    const stepsWith = async (way: typeof strict, platformSettings: Readonly<Record<string, string>> = {}) => {
      const settings = { ...SETTINGS, platformSettings };
      const ctx = await createTestContext({ platformList: [createCinema({ connect: [way] })], settings });
      const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
      return cinema?.setup;
    };
    const refused = await stepsWith(strict);
    expect(refused?.steps[1]).toBe("Register the redirect address your https address.");
    expect(refused?.needs).toEqual([
      expect.stringMatching(/^An https address, and this Posthorn has none\. .*POSTHORN_CINEMA_REDIRECT_URL/),
      "An audit takes days.",
    ]);
    expect(JSON.stringify(refused)).not.toContain("localhost");
    const taken = await stepsWith(strict, { POSTHORN_CINEMA_REDIRECT_URL: "https://posts.example/back" });
    expect(taken?.steps[1]).toBe("Register the redirect address https://posts.example/back.");
    expect(taken?.needs).toEqual(["An audit takes days."]);
    const byNumber = await stepsWith(consentWay({ redirect: "no-localhost" }));
    expect(byNumber?.steps[1]).toBe("Register the redirect address http://127.0.0.1:4747/connect/callback.");
  });

  it("says where media must lie that the platform fetches, unless they can be", async () => {
    const { capabilities } = createCinema();
    const needs = async (fetchesFrom: "public" | "ours", isOpen: boolean) => {
      const platform = createCinema({
        capabilities: { ...capabilities, fetchesMedia: ["video"], fetchesFrom },
      });
      const ctx = await createTestContext({ platformList: [platform] });
      Object.assign(ctx, { publicMedia: { ...ctx.publicMedia, canBeFetched: async () => isOpen } });
      const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
      return cinema?.setup?.needs;
    };
    expect(await needs("public", false)).toEqual([expect.stringMatching(/POSTHORN_PUBLIC_URL .*bucket/)]);
    expect(await needs("ours", false)).toEqual([expect.not.stringContaining("bucket")]);
    expect(await needs("public", true)).toEqual([]);
  });

  it("needs of each way what that way needs", async () => {
    const ways = [
      consentWay({ name: "pages", appOf: "theatre" }),
      consentWay({ name: "own", register: async () => ({ clientId: "", clientSecret: "" }) }),
      consentWay({ name: "public", clientAuth: "none" }),
      consentWay({ name: "second", settingPrefix: "PAGE_" }),
    ] as const;
    const ctx = await createTestContext({ platformList: [createCinema({ connect: ways })] });
    const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
    expect(cinema?.connecting?.map(({ missing }) => missing)).toEqual([
      ["POSTHORN_THEATRE_CLIENT_ID", "POSTHORN_THEATRE_CLIENT_SECRET"],
      [],
      ["POSTHORN_CINEMA_CLIENT_ID"],
      ["POSTHORN_CINEMA_PAGE_CLIENT_ID", "POSTHORN_CINEMA_PAGE_CLIENT_SECRET"],
    ]);
  });

  it("takes the first way that is set up, and the first of all where none is", async () => {
    const [secrets] = createPhotobox().platform.connect;
    const ways = [consentWay(), consentWay({ name: "pages", appOf: "theatre" }), secrets] as const;
    const platform = createCinema({ connect: ways });
    const consents = createCinema({ name: "film", connect: [ways[0], ways[1]] });
    const usual = async (platformSettings: Readonly<Record<string, string>>) => {
      const settings = { ...SETTINGS, platformSettings };
      const ctx = await createTestContext({ platformList: [platform, consents], settings });
      const [cinema, film] = (await listPlatforms(callOf(ctx))).platforms;
      expect([cinema?.ways[0], cinema?.configured]).toEqual([
        usualWay(platformSettings, platform).name,
        true,
      ]);
      return [cinema?.ways[0], film?.ways[0], film?.configured];
    };
    const theatre = { POSTHORN_THEATRE_CLIENT_ID: "t", POSTHORN_THEATRE_CLIENT_SECRET: "t" };
    const own = { POSTHORN_CINEMA_CLIENT_ID: "c", POSTHORN_CINEMA_CLIENT_SECRET: "c" };
    expect(await usual({})).toEqual([secrets.name, "oauth", false]);
    expect(await usual(theatre)).toEqual(["pages", "pages", true]);
    expect(await usual(own)).toEqual(["oauth", "oauth", false]);
    expect(await usual({ ...theatre, ...own })).toEqual(["oauth", "pages", true]);
  });

  it("names the platforms there are for a name that is none", async () => {
    const ctx = await createTestContext({ platformList: [createCinema(), createPinboard()] });
    await expect(listPlatforms(callOf(ctx), { provider: ["cinema", "myspace"] })).rejects.toMatchObject({
      kind: "invalid",
      message: 'provider: "myspace" is not a known platform. The platforms are cinema, pinboard.',
    });
  });

  it("answers 30 platforms, and as many whole as one may ask for, in what a model reads at once", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `cinema_${index}`);
    const ctx = await createTestContext({ platformList: names.map((name) => createBigPlatform(name)) });
    const short = await listPlatforms(callOf(ctx));
    expect(short.platforms).toHaveLength(30);
    expect(JSON.stringify(short).length).toBeLessThan(MAX_RESULT_CHARS / 4);
    const whole = await listPlatforms(callOf(ctx), { provider: names.slice(0, MAX_WHOLE_PLATFORMS) });
    expect(whole.platforms).toHaveLength(MAX_WHOLE_PLATFORMS);
    expect(JSON.stringify(whole).length).toBeLessThan(MAX_RESULT_CHARS);
  });
});

/** As much as a large platform has to tell: 20 fields of metadata, two ways, ten steps. */
function createBigPlatform(name: string): ReturnType<typeof createCinema> {
  const field = z.string().max(100).optional().describe("A field with a sentence that says what it is for.");
  const step = `A step that says what to press and what to enter there, for example {redirectUrl}.`;
  const setup = {
    url: "https://console.cinema.example/apps",
    steps: Array.from({ length: 10 }, () => step),
    warnings: Array.from({ length: 4 }, () => step),
  };
  return createCinema({
    name,
    metadata: z.strictObject(
      Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`field${at}`, field])),
    ),
    connect: [consentWay({ setup }), ...createPhotobox().platform.connect],
  });
}
