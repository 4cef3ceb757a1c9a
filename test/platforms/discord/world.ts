import discord from "../../../src/platforms/discord.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PublishIo } from "../../../src/ports/publish-io.ts";
import { createPlatformIo } from "../../../src/services/platforms/platform-io.ts";
import { toPlatformPost } from "../../../src/services/publishing/publish-io.ts";
import type { PostRow, Tables } from "../../../src/store/engine/schema.ts";
import { findAccountRow } from "../../../src/store/tables/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
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
    /** Works on a post that is due, as far as it comes now. */
    publish: async (
      account: Tables["accounts"],
      post: { caption?: string | null; mediaUrl?: string; metadata?: JsonObject },
    ): Promise<PostRow> => {
      const { id } = await addPost(ctx, account, {
        caption: post.caption === undefined ? "A horn" : post.caption,
        media_url: post.mediaUrl ?? "",
        metadata: JSON.stringify(post.metadata ?? {}),
      });
      await drain(ctx);
      return readPost(ctx, id);
    },
    readAccount: async (account: Tables["accounts"]) =>
      (await findAccountRow(ctx.store, account.owner_id, account.id))!,
    ioOf: async (account: Tables["accounts"]) =>
      (await createPlatformIo(ctx, account, AbortSignal.timeout(20_000))) as PublishIo,
    postOf: (row: PostRow) => toPlatformPost(discord, row),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      if (fake.state.wrong.length > 0) throw new Error(fake.state.wrong.join("; "));
      const log = ctx.log.text();
      if (log.includes(BOT_TOKEN) || log.includes(WEBHOOK_TOKEN)) throw new Error("A token is in the log.");
    },
  };
}
