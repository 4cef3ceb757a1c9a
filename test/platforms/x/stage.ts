import { answerOf } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import { noCredits, rateLimited, type Answer } from "./problems.ts";
import { createWorld } from "./world.ts";

const answered = ({ status, json, headers }: Answer) => answerOf(status, json, headers);

export default {
  async openStage(platform) {
    const world = await createWorld(platform);
    const { posts, media } = world.fake;
    media.losesAnswers = true;
    return stageOn({
      ctx: world.ctx,
      close: () => world[Symbol.asyncDispose](),
      account: await world.connect(),
      wrong: world.fake.wrong,
      shown: () => posts.heads,
      textOf: ({ text }) => text,
    });
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, thread: [{ caption: "And more" }] },
  },
  otherPosts: {
    "a text": {
      caption: "See example.com and https://example.org/a?b=1 & more",
      media_url: "",
      metadata: {},
    },
    "a picture without words": { caption: "", media_url: PHOTO_URL, metadata: {} },
    "a poll": {
      caption: "Which horn?",
      media_url: "",
      metadata: { poll: { options: ["The post horn", "The French horn"], hours: 24 } },
    },
    "a quote": {
      caption: "Look at this",
      media_url: "",
      metadata: { quote: "https://x.com/horn/status/1900000000000000001", thread: [{ caption: "And more" }] },
    },
    "a film": {
      caption: "A film",
      media_url: CLIP_URL,
      metadata: { subtitles: [{ url: SUBTITLES_URL, language: "en" }] },
    },
  },
  troubles: {
    "meets X's limit": async () => answered(rateLimited(Date.parse("2026-11-21T09:01:00Z"))),
    "meets an empty purse": async () => answered(noCredits()),
    "is answered with an error in 200": async () =>
      answered({ status: 200, json: { errors: [{ code: 131, message: "Internal error" }] } }),
  },
  needed: {
    "names the post, the file or the account": ["data.id", "data.username"],
    "whether the film is done": ["data.processing_info.state"],
  },
  scopes: { oauth: ["tweet.read", "tweet.write", "users.read", "media.write", "offline.access"] },
  gated: [
    [{ quote: "19" }, {}, "refused"],
    [{ quote: "19" }, { plan: "self-serve" }, "refused"],
    [{ replySettings: "subscribers" }, {}, "warned"],
    [{ quote: "19" }, { plan: "enterprise" }, "taken"],
    [{ replySettings: "following" }, {}, "taken"],
  ],
  previews: {
    "takes spaces away and weighs signs": {
      post: {
        caption: " 日本 https://example.com/long/and/longer/and/longest\r\n",
        metadata: { thread: [{ caption: " b " }] },
      },
      shown: {
        text: "日本 https://example.com/long/and/longer/and/longest",
        count: { length: 28, max: 280, unit: "weighted" },
        parts: [{ text: "b", count: { length: 1, max: 280 } }],
      },
    },
  },
} satisfies PlatformFixture;
