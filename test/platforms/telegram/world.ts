import telegram from "../../../src/platforms/telegram/index.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { platformWorld } from "../../support/contract/platform-world.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { BOT_TOKEN, createFakeTelegram } from "./fake.ts";

/** Telegram behind the real publisher, with helpers for what tests do with it. */
export async function createTelegramWorld() {
  const clock = new FakeClock();
  const fake = createFakeTelegram(clock);
  const ctx = await createTestContext({
    clock,
    platformList: [telegram],
    outbound: fake,
    media: createStageMedia(),
    feed: {} as never,
  });
  return {
    ctx,
    fake,
    state: fake.state,
    connect: (secrets: Record<string, string> = {}, accountId?: string) =>
      connectOn(callOf(ctx), {
        provider: "telegram",
        secrets: { botToken: BOT_TOKEN, chat: "@hornnews", ...secrets },
        ...(accountId === undefined ? {} : { accountId }),
      }),
    ...platformWorld(ctx, telegram),
    /** The last request's method of the Bot API. */
    methods: () => fake.requests.map(({ url }) => url.split("/").at(-1)),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      if (fake.state.wrong.length > 0) throw new Error(fake.state.wrong.join("; "));
      if (ctx.log.text().includes(BOT_TOKEN)) throw new Error("The bot's token is in the log.");
    },
  };
}
