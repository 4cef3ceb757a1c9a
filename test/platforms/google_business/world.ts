import google from "../../../src/platforms/google_business/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { PHOTO } from "../../support/contract/stage-media.ts";
import { createFetchedMedia } from "../instagram/stage-kit.ts";
import { APP } from "../youtube/tokens.ts";
import { createFakeBusiness } from "./fake.ts";

export const SETTINGS = {
  POSTHORN_GOOGLE_BUSINESS_CLIENT_ID: APP.id,
  POSTHORN_GOOGLE_BUSINESS_CLIENT_SECRET: APP.secret,
};

/** Google, and nothing connected to it yet. */
export async function openBusiness(
  platform: AnyPlatform = google,
  platformSettings: Readonly<Record<string, string>> = SETTINGS,
) {
  const clock = new FakeClock();
  const media = createFetchedMedia({ photo: { ...PHOTO, width: 1_200, height: 900 } });
  const fake = createFakeBusiness(clock, media.fetched);
  const ctx = await createTestContext({
    clock,
    media,
    outbound: fake.outbound,
    platformList: [platform],
    settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings },
  });
  const connect = (way?: string, choose?: Parameters<typeof consentOn>[2]["choose"]) =>
    consentOn(
      callOf(ctx),
      { provider: "google_business", ...(way === undefined ? {} : { way }) },
      { agree: (url) => fake.tokens.consent(url), ...(choose === undefined ? {} : { choose }) },
    );
  return { ctx, clock, fake, connect };
}

/** With one location connected. */
export async function createBusinessWorld(platform?: AnyPlatform) {
  const world = await openBusiness(platform);
  const { rows, error } = await world.connect();
  const [account] = rows;
  if (account === undefined) throw new Error(error ?? "Nothing was connected.");
  world.fake.requests.length = 0;
  return { ...world, account };
}
