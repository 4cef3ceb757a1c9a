import { expect, it } from "vitest";
import { examinePlatforms } from "../../../src/app/operations/doctor-checks.ts";
import { consentWay, createCinema } from "../../support/cinema.ts";
import { createPhotobox, createPinboard } from "../../support/connect-fixtures.ts";
import { addAccount } from "../../support/publishing.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { createTestContext } from "../../support/context.ts";

interface Asked {
  readonly named?: string;
  readonly ways?: AnyPlatform["connect"];
  readonly connected?: readonly string[];
}

const BOTH = [consentWay(), ...createPhotobox().platform.connect] as const;

async function examine(
  platformSettings: Readonly<Record<string, string>>,
  { named, ways = BOTH, connected = ["pinboard"] }: Asked = {},
) {
  await using ctx = await createTestContext({
    platformList: [createPinboard(), createCinema({ connect: ways })],
    settings: { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings },
  });
  for (const provider of connected) await addAccount(ctx, { provider });
  return (await examinePlatforms(ctx, named ?? null)).map(
    ({ topic, verdict, text }) => `${topic} ${verdict}: ${text}`,
  );
}

const READY = "pinboard ok: ready, and 1 channel is connected";

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
  expect(await examine({}, { named: "cinema", ways: [consentWay()] })).toEqual([
    "cinema note: cannot be connected yet: set POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET. " +
      "The redirect address to register is http://localhost:4747/connect/callback (steps: posthorn doctor cinema)",
    ...STEPS.toSpliced(
      5,
      1,
      "enter the app's id and secret with: posthorn setup cinema",
      `or ${STEPS[5]}`,
    ).map((step) => `cinema note: ${step}`),
  ]);
  const ways = [consentWay({ redirect: "https" }), consentWay({ name: "pages", appOf: "theatre" })] as const;
  const [cinema] = await examine({}, { named: "cinema", ways });
  expect(cinema).toContain(
    ", or, by pages, POSTHORN_THEATRE_CLIENT_ID and POSTHORN_THEATRE_CLIENT_SECRET. It needs",
  );
  expect(cinema).not.toContain("localhost");
});

it("says one thing of a platform that works by another way than its first", async () => {
  expect((await examine({}, { named: "cinema" }))[0]).toBe(
    "cinema ok: ready by appPassword. Connect a channel with: posthorn connect cinema",
  );
});

it("tells the steps of what somebody began to set up, and of what is named", async () => {
  const begun = await examine({ POSTHORN_CINEMA_CLIENT_ID: "id" }, { ways: [consentWay()] });
  expect(begun[0]).toContain("set POSTHORN_CINEMA_CLIENT_SECRET.");
  expect(begun.slice(1)).toEqual([...STEPS.map((step) => `cinema note: ${step}`), READY]);
  const both = { POSTHORN_CINEMA_CLIENT_ID: "id", POSTHORN_CINEMA_CLIENT_SECRET: "secret" };
  expect(await examine(both)).toEqual([
    "cinema ok: ready. Connect a channel with: posthorn connect cinema",
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

it("leaves out what nobody has asked for, and says how to ask", async () => {
  const others = (count: string) =>
    `platforms ok: ${count} neither channels nor settings (left out). "posthorn doctor instagram" shows what one of them needs, and docs/platforms.md lists them`;
  expect(await examine({})).toEqual([READY, others("1 that has")]);
  expect(await examine({}, { connected: [] })).toEqual([others("2 that have")]);
  expect(await examine({}, { named: "pinboard", connected: [] })).toEqual([
    "pinboard ok: ready. Connect a channel with: posthorn connect pinboard",
    expect.stringMatching(/^pinboard ok: no app needs to be registered/),
  ]);
});
