import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { startReceiver } from "../../support/webhook-receiver.ts";

export default {
  async openStage(platform) {
    const receiver = await startReceiver();
    const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
    const ctx = await createTestContext({
      platformList: [platform],
      outbound,
      media: createStageMedia(),
      feed: {} as never,
    });
    return {
      ctx,
      account: await connectOn(callOf(ctx), { provider: "webhook", secrets: { url: receiver.url } }),
      published: async () => receiver.processed.size,
      captions: async () =>
        receiver.deliveries.map(({ body }) => String(JSON.parse(body)?.data?.caption ?? "")),
      async [Symbol.asyncDispose]() {
        for (const closer of [ctx, outbound, receiver]) await closer[Symbol.asyncDispose]();
      },
    };
  },
  refusesToken: null,
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: PICTURES },
  needed: {},
  isTitleApart: true,
  previews: {
    "leaves all to the receiver": {
      post: { caption: "a", metadata: { title: "t" } },
      shown: { text: "a", note: "The receiver gets every field and decides what it shows of them." },
    },
  },
} satisfies PlatformFixture;
