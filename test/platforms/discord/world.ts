import discord from "../../../src/platforms/discord/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { platformWorld } from "../../support/contract/platform-world.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { BOT_TOKEN, CHANNEL_ID, createFakeDiscord, WEBHOOK_TOKEN, WEBHOOK_URL } from "./fake.ts";

/** Discord behind the real publisher, with helpers for what tests do with it. */
export async function createDiscordWorld(platform: AnyPlatform = discord) {
  const clock = new FakeClock();
  const fake = createFakeDiscord(clock);
  const ctx = await createTestContext({
    clock,
    platformList: [platform],
    outbound: fake,
    media: createStageMedia(),
    feed: {} as never,
  });
  return {
    ctx,
    fake,
    state: fake.state,
    connectBot: (secrets: Record<string, string> = {}) =>
      connectOn(callOf(ctx), {
        provider: "discord",
        secrets: { botToken: BOT_TOKEN, channel: CHANNEL_ID, ...secrets },
      }),
    connectWebhook: (webhookUrl = WEBHOOK_URL) =>
      connectOn(callOf(ctx), { provider: "discord", way: "webhook", secrets: { webhookUrl } }),
    ...platformWorld(ctx, platform),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      if (fake.state.wrong.length > 0) throw new Error(fake.state.wrong.join("; "));
      const log = ctx.log.text();
      if (log.includes(BOT_TOKEN) || log.includes(WEBHOOK_TOKEN)) throw new Error("A token is in the log.");
    },
  };
}
