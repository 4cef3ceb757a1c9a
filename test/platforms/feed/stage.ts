import { createFolderStore } from "../../../src/media/stores/folder-store.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { createFeedStorage } from "../../../src/store/queries/feeds.ts";
import { createTestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount } from "../../support/publishing.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";

export default {
  async openStage(platform) {
    const folder = temporaryFolder();
    const outbound = createOutbound({ allowedHosts: [] });
    const store = await openStore({ file: ":memory:" });
    const ctx = await createTestContext({
      store,
      platformList: [platform],
      media: createStageMedia(),
      outbound,
      feed: createFeedStorage(store, createFolderStore(folder.path)),
    });
    const visible = () =>
      queryOf(store).selectFrom("feed_items").selectAll().where("is_public", "=", 1).execute();
    return {
      ctx,
      account: await addAccount(ctx, { provider: "feed" }),
      published: async () => (await visible()).length,
      captions: async () => (await visible()).map(({ item }) => String(JSON.parse(item).text ?? "")),
      async [Symbol.asyncDispose]() {
        await outbound[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
      },
    };
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, title: "News", thumbnailUrl: PHOTO_URL },
  },
  needed: {},
  previews: {
    "has the description below the caption": {
      post: { caption: "b", metadata: { title: "a", description: "c", link: "https://a.example/" } },
      shown: { text: "a\n\nb\n\nc", count: { length: 1, max: 10000 }, link: "https://a.example/" },
    },
  },
} satisfies PlatformFixture;
