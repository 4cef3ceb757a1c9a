import dailymotion from "../../../src/platforms/dailymotion/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { createFakeDailymotion, KEY } from "./fake.ts";

/** Dailymotion, and nothing connected to it yet. */
export async function openDailymotion(platform: AnyPlatform = dailymotion) {
  const clock = new FakeClock();
  const fake = createFakeDailymotion(clock);
  const ctx = await createTestContext({
    clock,
    outbound: fake.outbound,
    media: createStageMedia(),
    platformList: [platform],
  });
  const connect = (secrets: Readonly<Record<string, string>> = KEY) =>
    connectOn(callOf(ctx), { provider: "dailymotion", secrets });
  return { ctx, clock, fake, connect };
}

/** With one channel connected. */
export async function createDailymotionWorld(platform?: AnyPlatform) {
  const world = await openDailymotion(platform);
  const account = await world.connect();
  world.fake.requests.length = 0;
  return { ...world, account };
}
