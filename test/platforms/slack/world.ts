import slack from "../../../src/platforms/slack/index.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { createFakeSlack, TOKEN } from "./fake.ts";

/** Slack and a publisher that posts there. */
export async function openWorld(platformSettings: Record<string, string> = {}) {
  const clock = new FakeClock();
  const fake = createFakeSlack(() => clock.now());
  const ctx = await createTestContext({
    platformList: [slack],
    outbound: fake.door,
    media: createStageMedia(),
    clock,
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings },
  });
  const call = callOf(ctx);
  const readAccount = async (id: string): Promise<AccountRow> => {
    const row = await findAccountRow(ctx.store, call.caller.ownerId, id);
    if (row === undefined) throw new Error("There is no such account.");
    return row;
  };
  return {
    ctx,
    call,
    fake,
    readAccount,
    connect: async (channel = "#news", botToken = TOKEN): Promise<AccountRow> => {
      const { account } = await connectWithSecrets(call, {
        provider: "slack",
        secrets: { botToken, channel },
      });
      return readAccount(account.id);
    },
    post: (account: AccountRow, caption: string, mediaUrl = "", metadata: JsonObject = {}) =>
      addPost(ctx, account, { caption, media_url: mediaUrl, metadata: JSON.stringify(metadata) }),
    /** To its end, or until it waits. */
    async run({ id }: Pick<PostRow, "id">): Promise<PostRow> {
      await drain(ctx);
      return readPost(ctx, id);
    },
    end: ({ id }: Pick<PostRow, "id">) => finish(ctx, id),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}
