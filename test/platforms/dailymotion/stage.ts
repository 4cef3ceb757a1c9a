import { stageOn } from "../../support/contract/open-stage.ts";
import { textOfHtml } from "../../../src/domain/text/html-text.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { refusal, toWire, UNAUTHORIZED } from "./fake.ts";
import { createDailymotionWorld } from "./world.ts";

const answering = (answer: ReturnType<typeof refusal>) => async (): Promise<OutboundResponse> => ({
  ...toWire(answer),
  url: "",
});

export default {
  async openStage(platform) {
    const { ctx, account, fake } = await createDailymotionWorld(platform);
    return stageOn({
      ctx,
      account,
      wrong: fake.wrong,
      shown: () => fake.shown(),
      textOf: ({ description }) => textOfHtml(String(description)),
    });
  },
  post: {
    caption: "It sounds",
    media_url: CLIP_URL,
    metadata: {
      title: "The horn",
      tags: ["horn", "post horn"],
      category: "music",
      madeForKids: false,
      language: "en-GB",
    },
  },
  otherPosts: {
    "a film without a text": { caption: "", media_url: CLIP_URL, metadata: { title: "Silence" } },
  },
  troubles: {
    "meets a limit of its own": answering(refusal(429, "RATE_LIMIT_EXCEEDED")),
    "meets an error of its own": answering(refusal(500, "INTERNAL_ERROR")),
  },
  refusesToken: answering(UNAUTHORIZED),
  refusals: [
    {
      at: /\/v2\/profiles\/\w+\/videos$/,
      told: [
        [
          /^metadata\.title: Dailymotion refused it/,
          answering(refusal(400, "VALIDATION_ERROR", { param: "title" })),
        ],
        [
          /^mediaUrl: Dailymotion refused it/,
          answering(refusal(422, "VALIDATION_ERROR", { param: "source.file_url" })),
        ],
        [/quota for 24 hours .* used up/, answering(refusal(403, "UPLOAD_QUOTA_REACHED"))],
        [/the error SOMETHING_ELSE/, answering(refusal(400, "SOMETHING_ELSE"))],
      ],
    },
    {
      at: /\/v2\/profiles\/\w+\/videos$/,
      end: "reconnect",
      told: [
        [
          /must be reconnected first\. The API key may not do this/,
          answering(refusal(403, "MISSING_PERMISSIONS")),
        ],
      ],
    },
  ],
  unfit: [
    [{ mediaUrl: CLIP_URL, metadata: { title: " " } }, /metadata\.title/],
    [{ mediaUrl: CLIP_URL, metadata: {} }, /metadata\.title/],
    [{ mediaUrl: CLIP_URL, metadata: { title: "A", language: "gsw" } }, /metadata\.language/],
    [{ mediaUrl: CLIP_URL, metadata: { title: "A", thumbnailUrl: "https://a.example/p.jpg" } }, /metadata/],
    [
      { caption: "<b>".repeat(1_000), mediaUrl: CLIP_URL, metadata: { title: "A" } },
      /caption: has 6000 characters/,
    ],
    [{ mediaUrl: "", metadata: { title: "A" } }, /mediaUrl/],
  ],
  needed: {
    "where the file goes, and what it is called then": ["upload_url", "url"],
    "names the video": ["video_id"],
    "whether everybody sees it": ["visibility", "processing.encoding_progress"],
    "names the channel": ["profiles.profile_id"],
  },
  previews: {
    "counts signs of HTML as they are written there": {
      post: { caption: "a <b>", metadata: { title: "T" } },
      shown: { text: "T\n\na <b>", count: { length: 8 } },
    },
  },
} satisfies PlatformFixture;
