import { openStage, type FakeStage } from "../../support/contract/open-stage.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { FakeClock } from "../../support/clock.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { createFakeMastodon, SERVER, type FakeMastodon } from "./fake.ts";
import type { Profile } from "./profiles.ts";
import { QUOTED } from "./statuses.ts";
import { answerOf, answers } from "../../support/described.ts";

/** An account on a server with these ways, connected with a token. */
export const openMastodon = (platform: AnyPlatform, profile: Partial<Profile> = {}): Promise<MastodonStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeMastodon({ now, profile }),
    connect: (fake) => ({ way: "token", instanceUrl: SERVER, secrets: { accessToken: fake.makeToken() } }),
    shown: ({ posts }) => posts.heads(),
    textOf: ({ text }) => text,
  });

export type MastodonStage = FakeStage<FakeMastodon>;

/** A moment of its reset, which Mastodon writes as ISO time. */
const limited: Trouble = async () =>
  answerOf(
    429,
    { error: "Too many requests" },
    {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": new Date(new FakeClock().now() + 40_000).toISOString(),
    },
  );

const refusal = (status: number, error: string) => answers(status, { error });

export default {
  openStage: (platform) => openMastodon(platform),
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: {
      ...PICTURES,
      visibility: "public",
      language: "en",
      thread: [{ caption: "And more", mediaUrl: PHOTO_URL }],
    },
  },
  otherPosts: {
    "a text": { caption: "A horn is heard. https://a.example @bob@b.example", media_url: "", metadata: {} },
    "a film": {
      caption: "It plays",
      media_url: CLIP_URL,
      metadata: { altText: "A clip", thumbnailUrl: PHOTO_URL },
    },
    "a poll": {
      caption: "Which horn?",
      media_url: "",
      metadata: { poll: { options: ["The post horn", "The French horn"], hours: 24, multiple: true } },
    },
    "a quote": {
      caption: "Look at this",
      media_url: "",
      metadata: { quote: `${SERVER}/@bob@b.example/${QUOTED}` },
    },
    "a picture with its focus": {
      caption: "Look there",
      media_url: PHOTO_URL,
      metadata: { focus: { x: -0.5, y: 1 } },
    },
    "a thread": {
      caption: "One",
      media_url: "",
      metadata: { spoilerText: "Long", thread: [{ caption: "Two" }] },
    },
  },
  troubles: {
    "meets a limit": limited,
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
  },
  refusesToken: async () => answerOf(401, { error: "The access token was revoked" }),
  refusals: [
    {
      at: /\/api\/v1\/statuses$/,
      told: [
        [/^caption: is longer/, refusal(422, "Validation failed: Text character limit of 300 exceeded")],
        [/^metadata\.moreMedia: /, refusal(422, "Cannot attach more than 2 files")],
        [
          /^metadata\.moreMedia: /,
          refusal(422, "Cannot attach a video to a post that already contains images"),
        ],
        [/without text, or without media/, refusal(403, "Empty statuses are not allowed")],
        [/does not let this account/, refusal(403, "This action is not allowed")],
        [/ Mastodon says: "Something else"$/, refusal(422, "Something else")],
        [/no longer/, refusal(404, "Record not found")],
      ],
    },
    {
      at: /\/api\/v1\/statuses$/,
      end: "reconnect",
      told: [
        [/./, refusal(403, "This action is outside the authorized scopes")],
        [/./, refusal(403, "Your login is currently disabled")],
      ],
    },
    {
      at: /\/media$/,
      told: [
        [/^mediaUrl: .*type/, refusal(422, "Validation failed: File content type is invalid")],
        [/^mediaUrl: .*too large/, refusal(422, "Validation failed: File file size must be less than 16 MB")],
        [/^mediaUrl: .*too large/, refusal(413, "")],
        [/^mediaUrl: .*could not use/, refusal(422, "Error processing thumbnail for uploaded media")],
      ],
    },
  ],
  needed: {
    "names the status, the file or the account": ["id"],
    "whether the file is done": ["url"],
    "the account's name": ["username"],
  },
  scopes: { oauth: ["read:accounts", "read:statuses", "write:statuses", "write:media"] },
  previews: {
    "counts the warning with each text, and addresses as 23": {
      post: {
        caption: "https://example.com/long/and/longer/and/longest",
        metadata: {
          spoilerText: "Loud",
          thread: [{ caption: "Two", mediaUrl: PHOTO_URL }, { caption: "Three" }],
        },
      },
      shown: {
        note: "Shown after a click on the warning: Loud",
        count: { length: 27, max: 500 },
        parts: [
          { text: "Two", count: { length: 7, max: 500 }, media: [{ url: PHOTO_URL, type: "image" }] },
          { text: "Three", count: { length: 9 }, media: [] },
        ],
      },
    },
  },
} satisfies PlatformFixture;
