import { describe, expect, it } from "vitest";
import { z } from "zod";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { MAX_WHOLE_PLATFORMS } from "../../../src/domain/accounts/platform-listing.ts";
import { MAX_RESULT_CHARS } from "../../../src/mcp/limits.ts";
import { usualWay } from "../../../src/services/platforms/set-up.ts";
import { listPlatforms } from "../../../src/services/platforms/platforms.ts";
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

  it("knows another redirect address and other scopes, where they are set", async () => {
    const platformSettings = {
      POSTHORN_CINEMA_REDIRECT_URL: "https://posts.example/back",
      POSTHORN_CINEMA_SCOPES: "film.write, profile",
    };
    const settings = { ...SETTINGS, platformSettings };
    const ctx = await createTestContext({ platformList: [createCinema()], settings });
    const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
    expect(cinema?.redirectUrl).toBe("https://posts.example/back");
    expect(cinema?.setup?.steps.slice(1, 3)).toEqual([
      "Register the redirect address https://posts.example/back.",
      "Ask for the scopes film.write profile.",
    ]);
  });

  it("needs of each way what that way needs", async () => {
    const ways = [
      consentWay({ name: "pages", appOf: "theatre" }),
      consentWay({ name: "own", register: async () => ({ clientId: "", clientSecret: "" }) }),
      consentWay({ name: "public", clientAuth: "none" }),
    ] as const;
    const ctx = await createTestContext({ platformList: [createCinema({ connect: ways })] });
    const [cinema] = (await listPlatforms(callOf(ctx), { provider: ["cinema"] })).platforms;
    expect(cinema?.connecting?.map(({ missing }) => missing)).toEqual([
      ["POSTHORN_THEATRE_CLIENT_ID", "POSTHORN_THEATRE_CLIENT_SECRET"],
      [],
      ["POSTHORN_CINEMA_CLIENT_ID"],
    ]);
  });

  it("takes the first consent whose app is set up, and secrets in the place of none", async () => {
    const [secrets] = createPhotobox().platform.connect;
    const ways = [consentWay(), secrets, consentWay({ name: "pages", appOf: "theatre" })] as const;
    const platform = createCinema({ connect: ways });
    const usual = async (platformSettings: Readonly<Record<string, string>>) => {
      const settings = { ...SETTINGS, platformSettings };
      const ctx = await createTestContext({ platformList: [platform], settings });
      const [cinema] = (await listPlatforms(callOf(ctx))).platforms;
      return [usualWay(ctx, platform).name, cinema?.configured];
    };
    const theatre = { POSTHORN_THEATRE_CLIENT_ID: "t", POSTHORN_THEATRE_CLIENT_SECRET: "t" };
    const own = { POSTHORN_CINEMA_CLIENT_ID: "c", POSTHORN_CINEMA_CLIENT_SECRET: "c" };
    expect([secrets.kind, ...(await usual({}))]).toEqual(["secrets", "oauth", false]);
    expect(await usual(theatre)).toEqual(["pages", true]);
    expect(await usual({ ...theatre, ...own })).toEqual(["oauth", true]);
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
