import { answers } from "../../support/described.ts";
import { openStage } from "../../support/contract/open-stage.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PDF_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { createFakeSlack, TOKEN } from "./fake.ts";

/** Slack refuses in HTTP 200. */
const says = (error: string, status = 200, headers?: Record<string, string>): Trouble =>
  answers(status, { ok: false, error }, headers);

export default {
  openStage: (platform) =>
    openStage({
      platform,
      createFake: createFakeSlack,
      connect: () => ({ secrets: { botToken: TOKEN, channel: "#news" } }),
      shown: ({ state }, now) =>
        state.messages.filter((one) => one.threadTs === null && !one.isDeleted && one.visibleAt <= now),
      textOf: ({ text }) => text,
    }),
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: {
      ...PICTURES,
      thread: [{ caption: "More *of* it" }, { caption: "Heard", mediaUrl: CLIP_URL }],
    },
  },
  otherPosts: {
    "a document": { caption: "A score", media_url: PDF_URL, metadata: {} },
    "a text in Markdown": {
      caption: "# A **horn**\n\n> it is _loud_\n\n- [far](https://horn.example/a_b)\n- for @[Ann](U0ANN)",
      media_url: "",
      metadata: { format: "markdown", thread: [{ caption: "*More*", mediaUrl: PHOTO_URL }] },
    },
    "a text in another channel, with a mention": {
      caption: "*A horn* for @[Ann](U0ANN)",
      media_url: "",
      metadata: { channel: "G0SECRET", thread: [{ caption: "More" }] },
    },
    "a picture in another channel": {
      caption: "*A horn* for @[Ann](U0ANN)",
      media_url: PHOTO_URL,
      metadata: { channel: "G0SECRET" },
    },
    "a text": { caption: "Only words & https://posthorn.example/a_b", media_url: "", metadata: {} },
  },
  troubles: {
    "meets a limit": says("ratelimited", 429, { "retry-after": "3" }),
    "meets a limit in HTTP 200": says("rate_limited"),
    "meets an internal error in HTTP 200": says("internal_error"),
    "is acted on and told to have met a fatal error": async (pass, request) => {
      for await (const _chunk of (await pass()).body);
      return says("fatal_error")(pass, request);
    },
  },
  refusesToken: says("token_revoked"),
  refusals: [
    {
      at: /chat\.postMessage/,
      post: { media_url: "", metadata: {} },
      told: [
        [/The workspace's settings do not let the bot post in this channel\./, says("restricted_action")],
        [/^caption: is empty/, says("no_text")],
        [/Slack refused the request with the error invalid_blocks\./, says("invalid_blocks")],
      ],
    },
    {
      at: /chat\.postMessage/,
      post: { media_url: "", metadata: {} },
      end: "reconnect",
      told: [
        [/The bot is not in this Slack channel\. Invite it there with \/invite/, says("not_in_channel")],
        [/The bot cannot see this Slack channel/, says("channel_not_found")],
        [/This Slack channel is archived\./, says("is_archived")],
        [/Slack no longer accepts the bot's token/, says("token_revoked")],
        [/The bot was removed from the workspace/, says("account_inactive")],
        [/lacks some of the permissions \(scopes\)/, says("missing_scope")],
      ],
    },
  ],
  unfit: [
    [
      { metadata: { moreMedia: [{ url: PHOTO_URL }] } },
      /metadata\.moreMedia: the first file belongs in mediaUrl\./,
    ],
    [{ metadata: { altText: "x".repeat(1_001) } }, /metadata\.altText/],
    [
      { metadata: { thread: [{ caption: "x".repeat(4_001) }] } },
      /metadata\.thread\[0\]\.caption: has 4001 characters/,
    ],
    [{ metadata: { visibility: "public" } }, /visibility/],
  ],
  needed: {
    "an error comes with HTTP 200 too": ["ok"],
    "where the file goes": ["upload_url", "file_id"],
    "names the message": ["file.shares.**", "ts"],
    "what is chosen": ["channels.id", "members.id"],
  },
  scopes: {
    oauth: [
      "chat:write",
      "chat:write.public",
      "channels:read",
      "groups:read",
      "files:write",
      "files:read",
      "channels:history",
      "groups:history",
    ],
  },
  askedOnlyWhen: { "users:read": "asked for only when people are looked up to be mentioned" },
  isTitleApart: true,
  previews: {
    "names the first file by its title": {
      post: { caption: "a", metadata: { title: "t" } },
      shown: { text: "a" },
    },
  },
} satisfies PlatformFixture;
