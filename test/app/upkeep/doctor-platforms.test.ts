import { expect, it } from "vitest";
import { examinePlatforms } from "../../../src/app/upkeep/doctor-platforms.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";
import { createPhotobox, createPinboard } from "../../support/connect-fixtures.ts";
import { addAccount } from "../../support/publishing.ts";
import { createTestContext } from "../../support/context.ts";

async function examine(
  platformSettings: Readonly<Record<string, string>>,
  named: string | null = null,
  connected: readonly string[] = ["pinboard"],
) {
  const ways = [consentWay(), ...createPhotobox().platform.connect] as const;
  await using ctx = await createTestContext({
    platformList: [createPinboard(), createCinema({ connect: ways })],
    settings: { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings },
  });
  for (const provider of connected) await addAccount(ctx, { provider });
  return (await examinePlatforms(ctx, named)).map(
    ({ topic, verdict, text }) => `${topic} ${verdict}: ${text}`,
  );
}

const READY = "pinboard ok: ready; 1 channel is connected";

const STEPS = [
  "begin at https://console.cinema.example/apps",
  "1. Make an app of the type web.",
  "2. Register the redirect address http://localhost:4747/connect/callback.",
  "3. Ask for the scopes film.write film.read.",
  "4. Put id and secret into POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET.",
  "note: Until the app is audited, films stay private.",
];

it("names what is missing, and the address to register", async () => {
  expect(await examine({}, "cinema")).toEqual([
    "cinema note: cannot be connected yet: set POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET; " +
      "the redirect address to register is http://localhost:4747/connect/callback; " +
      "without them it can be connected by appPassword (steps: posthorn doctor cinema)",
    ...STEPS.map((step) => `cinema note: ${step}`),
  ]);
});

it("tells the steps of what somebody began to set up, and of what is named", async () => {
  const begun = await examine({ POSTHORN_CINEMA_CLIENT_ID: "id" });
  expect(begun[0]).toContain("set POSTHORN_CINEMA_CLIENT_SECRET;");
  expect(begun.slice(1)).toEqual([...STEPS.map((step) => `cinema note: ${step}`), READY]);
  const both = { POSTHORN_CINEMA_CLIENT_ID: "id", POSTHORN_CINEMA_CLIENT_SECRET: "secret" };
  expect(await examine(both)).toEqual([
    "cinema ok: ready; connect a channel with: posthorn connect cinema",
    READY,
  ]);
  expect(await examine(both, "cinema")).toContain(`cinema ok: ${STEPS[2]}`);
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

it("leaves out what nobody has asked for, and says how to ask", async () => {
  const others = (count: string) =>
    `platforms ok: ${count} neither channels nor settings: left out; "posthorn doctor instagram" tells what one of them needs, and docs/platforms.md lists them`;
  expect(await examine({})).toEqual([READY, others("1 that has")]);
  expect(await examine({}, null, [])).toEqual([others("2 that have")]);
  expect(await examine({}, "pinboard", [])).toEqual([
    "pinboard ok: ready; connect a channel with: posthorn connect pinboard",
    expect.stringMatching(/^pinboard ok: no app needs to be registered/),
  ]);
});
