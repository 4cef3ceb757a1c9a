import { openStage, type FakeStage } from "../../support/contract/open-stage.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { failure } from "./failure.ts";
import { createFakeMisskey, SERVER, type FakeMisskey, type Profile } from "./fake.ts";
import { shownOf } from "./reader.ts";
import { answerOf } from "../../support/described.ts";

/** An account on a Misskey server, connected with a token. */
export const openMisskey = (platform: AnyPlatform, profile: Partial<Profile> = {}): Promise<MisskeyStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeMisskey({ now, profile }),
    connect: (fake) => ({ way: "token", instanceUrl: SERVER, secrets: { accessToken: fake.makeToken() } }),
    shown: (fake) => fake.heads(),
    textOf: ({ text }) => shownOf(text ?? ""),
  });

export type MisskeyStage = FakeStage<FakeMisskey>;

export default {
  openStage: (platform) => openMisskey(platform),
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, visibility: "public", thread: [{ caption: "And more", mediaUrl: PHOTO_URL }] },
  },
  otherPosts: {
    "a text": { caption: "A horn is heard. https://a.example @bob@b.example", media_url: "", metadata: {} },
    "a film and a picture": {
      caption: "",
      media_url: CLIP_URL,
      metadata: { altText: "A clip", moreMedia: [{ url: PHOTO_URL }], sensitive: true },
    },
    "a poll": {
      caption: "Which horn?",
      media_url: PHOTO_URL,
      metadata: { poll: { options: ["The post horn", "The French horn"], hours: 24, multiple: true } },
    },
    "a text in Markdown": {
      caption: "A **horn** for @[Bob](@bob@b.example)",
      media_url: "",
      metadata: { format: "markdown" },
    },
    "a thread": {
      caption: "One",
      media_url: "",
      metadata: { spoilerText: "Long", visibility: "private", thread: [{ caption: "Two" }] },
    },
  },
  troubles: {
    "meets a limit": async () => failure(429, "RATE_LIMIT_EXCEEDED", { resetMs: Date.now() + 3_000 }),
    "meets a broken server": async () => failure(500, "INTERNAL_ERROR"),
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
  },
  refusesToken: async () => failure(401, "AUTHENTICATION_FAILED"),
  refusals: [
    {
      at: /\/notes\/create$/,
      told: [
        [/^caption: has words/, () => failure(400, "CONTAINS_PROHIBITED_WORDS")],
        [/^caption: mentions more/, () => failure(400, "CONTAINS_TOO_MANY_MENTIONS")],
        [/^mediaUrl: .*deleted/, () => failure(400, "NO_SUCH_FILE")],
        [/with the error INVALID_PARAM/, () => failure(400, "INVALID_PARAM")],
        [/with the error I_AM_AI/, () => failure(418, "I_AM_AI")],
        [/no role/, () => failure(403, "ROLE_PERMISSION_DENIED")],
      ],
    },
    {
      at: /\/notes\/create$/,
      end: "reconnect",
      told: ["AUTHENTICATION_FAILED", "PERMISSION_DENIED", "YOUR_ACCOUNT_SUSPENDED"].map(
        (code) => [/./, () => failure(403, code)] as const,
      ),
    },
    {
      at: /\/drive\/files\/create$/,
      told: [
        [/^mediaUrl: .*drive is full/, () => failure(400, "NO_FREE_SPACE")],
        [/^mediaUrl: .*not allow/, () => failure(400, "INAPPROPRIATE")],
        [/^mediaUrl: .*type/, () => failure(400, "UNALLOWED_FILE_TYPE")],
        [/^mediaUrl: .*too large/, () => failure(413, "MAX_FILE_SIZE_EXCEEDED")],
        [/^mediaUrl: .*too large/, () => answerOf(413, "<h1>413</h1>")],
        [/^metadata\.altText: is longer/, () => failure(400, "COMMENT_TOO_LONG")],
      ],
    },
  ],
  needed: {
    "names the note, the file or the account": ["id", "createdNote.id"],
    "the account's name": ["username"],
  },
  previews: {
    "hides it behind its warning": {
      post: { caption: " a ", metadata: { spoilerText: "Loud" } },
      shown: { text: "a", note: "Shown after a click on the warning: Loud" },
    },
  },
} satisfies PlatformFixture;
