import { expectAskedRightly } from "../../support/contract/ends.ts";
import { answers } from "../../support/described.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, createStageMedia, PDF_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { BOT_TOKEN, createFakeTelegram } from "./fake.ts";

const says = (status: number, description: string, parameters?: object): Trouble =>
  answers(status, { ok: false, error_code: status, description, parameters });

export default {
  async openStage(platform) {
    const clock = new FakeClock();
    const telegram = createFakeTelegram(clock);
    const ctx = await createTestContext({
      clock,
      platformList: [platform],
      outbound: telegram,
      media: createStageMedia(),
      feed: {} as never,
    });
    const { state } = telegram;
    // The messages of an album are one post.
    const heads = () =>
      state.messages.filter(
        ({ album }, at) => album === null || state.messages.findIndex((one) => one.album === album) === at,
      );
    return {
      ctx,
      account: await connectOn(callOf(ctx), {
        provider: "telegram",
        secrets: { botToken: BOT_TOKEN, chat: "@hornnews" },
      }),
      wrong: state.wrong,
      isBlind: true,
      published: async () => heads().length,
      captions: async () => heads().map(({ text }) => text),
      async [Symbol.asyncDispose]() {
        await ctx[Symbol.asyncDispose]();
        expectAskedRightly(state);
        if (ctx.log.text().includes(BOT_TOKEN)) throw new Error("The bot's token is in the log.");
      },
    };
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { moreMedia: [{ url: PHOTO_URL }, { url: CLIP_URL }], sensitive: true, silent: true },
  },
  otherPosts: {
    "a document": { caption: "A score", media_url: PDF_URL, metadata: {} },
    documents: { caption: "Scores", media_url: PDF_URL, metadata: { moreMedia: [{ url: PDF_URL }] } },
    "a text": { caption: "A horn", media_url: "", metadata: {} },
    "a link": { caption: "A horn", media_url: "", metadata: { link: "https://horn.example/" } },
    "a text in Markdown": {
      caption: "# A **horn**\n\n> it is ||loud||\n\n- [far](https://horn.example/a_b)\n- `x`",
      media_url: "",
      metadata: { format: "markdown" },
    },
    "a poll": {
      caption: "Which *horn*?",
      media_url: "",
      metadata: { poll: { options: ["Brass", "Wood"], hours: 24, multiple: true }, silent: true },
    },
    "a picture": { caption: "A horn", media_url: PHOTO_URL, metadata: {} },
    "a film with a cover": { caption: "A horn", media_url: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } },
    files: {
      caption: "A horn",
      media_url: PHOTO_URL,
      metadata: { asDocument: true, moreMedia: [{ url: CLIP_URL }] },
    },
  },
  captionLimit: 1_024,
  troubles: {
    "meets a limit": says(429, "Too Many Requests: retry after 35", { retry_after: 35 }),
    "meets a broken server": says(500, "Internal Server Error"),
  },
  refusesToken: says(401, "Unauthorized"),
  unfit: [
    [{ caption: "x".repeat(4_097) }, /^caption: has 4097 utf16/],
    [{ caption: "🎺".repeat(2_049) }, /^caption: has 4098 utf16/],
    [{ caption: "x".repeat(1_025), mediaUrl: PHOTO_URL }, /^caption: .*1024 beside media/],
    [{ mediaUrl: PHOTO_URL, metadata: { link: "https://horn.example/" } }, /^metadata.link: /],
    [{ metadata: { thumbnailUrl: PHOTO_URL } }, /^metadata.thumbnailUrl: /],
    [{ metadata: { moreMedia: [{ url: PHOTO_URL }] } }, /^metadata.moreMedia: /],
    [{ mediaUrl: PHOTO_URL, metadata: { moreMedia: Array(21).fill({ url: PHOTO_URL }) } }, /moreMedia/],
    [{ mediaUrl: PHOTO_URL, metadata: { altText: "A horn" } }, /altText/],
  ],
  needed: {
    "an error comes with HTTP 200 too": ["ok"],
    "names the message": ["result.message_id", "result.chat.id"],
    "who the bot is, and what it may": ["result.id", "result.type", "result.status"],
  },
  previews: {
    "writes a link that stands alone": {
      post: { metadata: { link: "https://a.example/" } },
      shown: {
        text: "https://a.example/",
        link: "https://a.example/",
        count: { length: 0, max: 4096, unit: "utf16" },
      },
    },
    "has less room beside media": {
      post: { caption: "a", mediaUrl: PHOTO_URL },
      shown: { text: "a", count: { max: 1024 } },
    },
  },
} satisfies PlatformFixture;
