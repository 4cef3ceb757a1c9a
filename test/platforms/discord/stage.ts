import { answerOf, answers } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import { unfitWith, type PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PDF_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { OTHER_ID, render } from "./fake.ts";
import { createDiscordWorld } from "./world.ts";

/** People by the names that the posts below give them. */
function named(text: string): string {
  return text.replace("@8001", "@Ann");
}

/** At the message, whatever it is posted to. */
const says = (words: RegExp, status: number, code: number, message: string) =>
  [words, () => answerOf(status, { code, message })] as const;

const POLL = { options: ["Brass", "Wood"], hours: 24 };

export default {
  async openStage(platform) {
    const world = await createDiscordWorld(platform);
    const account = await world.connectBot();
    const { state } = world;
    return stageOn({
      ctx: world.ctx,
      close: () => world[Symbol.asyncDispose](),
      account,
      shown: () => state.messages,
      textOf: ({ content, body }) => body["poll"]?.question.text ?? named(render(content)),
    });
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, sensitive: true, silent: true },
  },
  otherPosts: {
    "a document": { caption: "A score", media_url: PDF_URL, metadata: { moreMedia: [{ url: PHOTO_URL }] } },
    "a text": { caption: "A horn", media_url: "", metadata: { linkPreview: false } },
    "a text in Markdown": {
      caption: "# A **horn**\n\n||loud|| [far](https://horn.example/a_b) @[Ann](8001)",
      media_url: "",
      metadata: { format: "markdown" },
    },
    "a poll": {
      caption: "Which *horn*?",
      media_url: "",
      metadata: { poll: POLL },
    },
    "a text in another channel, with a mention": {
      caption: "*A horn* for @[Ann](8001)",
      media_url: "",
      metadata: { channel: OTHER_ID },
    },
    "a film": { caption: "A horn", media_url: CLIP_URL, metadata: {} },
  },
  troubles: {
    "meets a limit": answers(429, {
      message: "You are being rate limited.",
      retry_after: 0.65,
      global: false,
    }),
    "meets a broken server": answers(503, { code: 130000, message: "API resource is currently overloaded" }),
  },
  refusesToken: answers(401, { code: 0, message: "401: Unauthorized" }),
  refusals: [
    {
      end: "reconnect",
      told: [
        says(/./, 404, 10003, "Unknown Channel"),
        says(/./, 403, 50013, "Missing Permissions"),
        says(/./, 404, 10015, "Unknown Webhook"),
      ],
    },
    {
      told: [
        says(/AutoMod/, 400, 200000, "No"),
        says(/larger than Discord takes/, 413, 40005, "No"),
        says(/does not take the post as it is/, 400, 50035, "No"),
      ],
    },
    {
      post: { metadata: { threadId: "404" } },
      told: [says(/^metadata.threadId: there is no such thread/, 404, 10003, "No")],
    },
  ],
  unfit: [
    ...unfitWith("", [
      [{ title: "A horn" }, /^metadata.title: /],
      [{ tagIds: ["1"] }, /^metadata.tagIds: /],
      [{ crosspost: true }, /^metadata.crosspost: /],
      [{ poll: POLL }, /^caption: has 301/, "x".repeat(301)],
      [{ poll: POLL, format: "markdown" }, /^metadata\.format: /],
      [{ poll: { ...POLL, hours: 1.5 } }, /^metadata\.poll\.hours: Discord counts whole hours/],
      [{ poll: { ...POLL, hours: 769 } }, /poll\.hours/],
      [{ poll: { ...POLL, options: ["x".repeat(56), "b"] } }, /poll\.options/],
    ]),
    ...unfitWith(PHOTO_URL, [[{ poll: POLL }, /^metadata\.poll: a poll on Discord has no media/]]),
  ],
  needed: { "names the message": ["id", "channel_id"], "what may be posted there": ["type"] },
  previews: {
    "counts its escapes": {
      post: { caption: "*a*" },
      shown: { text: "*a*", count: { length: 5, max: 2000, unit: "weighted" } },
    },
  },
} satisfies PlatformFixture;
