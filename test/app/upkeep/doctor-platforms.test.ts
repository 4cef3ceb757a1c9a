import { expect, it } from "vitest";
import { examinePlatforms } from "../../../src/app/upkeep/doctor-platforms.ts";
import type { Platform } from "../../../src/ports/platform.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";
import { createPhotobox, createPinboard } from "../../support/connect-fixtures.ts";
import { createTestContext } from "../../support/context.ts";

interface Asked {
  readonly named?: string;
  readonly ways?: Platform["connect"];
}

const BOTH = [consentWay(), ...createPhotobox().platform.connect] as const;

async function examine(
  platformSettings: Readonly<Record<string, string>>,
  { named, ways = BOTH }: Asked = {},
) {
  await using ctx = await createTestContext({
    platformList: [createPinboard(), createCinema({ connect: ways })],
    settings: { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings },
  });
  return (await examinePlatforms(ctx, named ?? null)).map(
    ({ topic, verdict, text }) => `${topic} ${verdict}: ${text}`,
  );
}

const READY = "pinboard ok: ready; connect a channel with: posthorn connect pinboard";

const STEPS = [
  "begin at https://console.cinema.example/apps",
  "1. Make an app of the type web.",
  "2. Register the redirect address http://localhost:4747/connect/callback.",
  "3. Ask for the scopes film.write film.read.",
  "4. Put id and secret into POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET.",
  "put this into posthorn.env: POSTHORN_CINEMA_CLIENT_ID=… POSTHORN_CINEMA_CLIENT_SECRET=…",
  "note: Until the app is audited, films stay private.",
];

it("names what is missing, and the address to register", async () => {
  expect(await examine({}, { ways: [consentWay()] })).toEqual([
    "cinema note: cannot be connected yet: set POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET; " +
      "the redirect address to register is http://localhost:4747/connect/callback (steps: posthorn doctor cinema)",
    READY,
  ]);
  const ways = [consentWay({ redirect: "https" }), consentWay({ name: "pages", appOf: "theatre" })] as const;
  const [cinema] = await examine({}, { ways });
  expect(cinema).toContain(
    ", or, by pages, POSTHORN_THEATRE_CLIENT_ID and POSTHORN_THEATRE_CLIENT_SECRET; it needs",
  );
  expect(cinema).not.toContain("localhost");
});

it("says one thing of a platform that works by another way than its first", async () => {
  expect(await examine({})).toEqual([
    "cinema ok: ready by appPassword; connect a channel with: posthorn connect cinema",
    READY,
  ]);
});

it("tells the steps of what somebody began to set up, and of what is named", async () => {
  const begun = await examine({ POSTHORN_CINEMA_CLIENT_ID: "id" }, { ways: [consentWay()] });
  expect(begun[0]).toContain("set POSTHORN_CINEMA_CLIENT_SECRET;");
  expect(begun.slice(1)).toEqual([...STEPS.map((step) => `cinema note: ${step}`), READY]);
  const both = { POSTHORN_CINEMA_CLIENT_ID: "id", POSTHORN_CINEMA_CLIENT_SECRET: "secret" };
  expect(await examine(both)).toEqual([
    "cinema ok: ready; connect a channel with: posthorn connect cinema",
    READY,
  ]);
  expect(await examine(both, { named: "cinema" })).toContain(`cinema ok: ${STEPS[2]}`);
});

it("tells the steps of each way that needs an app of its own", async () => {
  const business = consentWay({ name: "business", label: "Through a business" });
  await using ctx = await createTestContext({
    platformList: [createCinema({ connect: [consentWay(), business] })],
  });
  const texts = (await examinePlatforms(ctx, "cinema")).map(({ text }) => text);
  expect(texts.filter((text) => text.includes("begin at"))).toEqual([
    'for "Sign in with Cinema" (--way oauth) begin at https://console.cinema.example/apps',
    'for "Through a business" (--way business) begin at https://console.cinema.example/apps',
  ]);
});
