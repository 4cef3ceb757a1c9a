import { openStage } from "../../support/contract/open-stage.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { textOfHtml } from "../../../src/domain/text/html-text.ts";
import { createFakeMastodon, SERVER } from "../mastodon/fake.ts";
import { PROFILES, type Profile } from "../mastodon/profiles.ts";
import type { MastodonStage } from "../mastodon/stage.ts";
import { answerOf, answers } from "../../support/described.ts";

/** A server whose administrators let films in, too. */
const PROFILE: Profile = {
  ...PROFILES.pixelfed,
  mimeTypes: [...PROFILES.pixelfed.mimeTypes, "video/mp4"],
};

/** An account on a Pixelfed server, connected with a token. */
export const openPixelfed = (platform: AnyPlatform, profile: Partial<Profile> = {}): Promise<MastodonStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeMastodon({ now, profile: { ...PROFILE, ...profile } }),
    connect: (fake) => ({ way: "token", instanceUrl: SERVER, secrets: { accessToken: fake.makeToken() } }),
    shown: ({ posts }) => posts.heads(),
    textOf: ({ id }, { posts }) => textOfHtml(posts.contentOf(id)),
  });

export default {
  openStage: (platform) => openPixelfed(platform),
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: { ...PICTURES, visibility: "public" } },
  otherPosts: {
    "a picture": {
      caption: "",
      media_url: PHOTO_URL,
      metadata: { sensitive: true, spoilerText: "Loud", visibility: "private" },
    },
    "a film": { caption: "It plays", media_url: CLIP_URL, metadata: { altText: "A clip" } },
  },
  troubles: {
    // Of Laravel, which writes seconds.
    "meets a limit": async () =>
      answerOf(429, { error: "" }, { "x-ratelimit-limit": "60", "retry-after": "40" }),
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "is answered by an account that never signed in": async () => answerOf(200, []),
  },
  refusesToken: async () => answerOf(500, { error: "Unauthenticated." }),
  refusals: [
    {
      at: /\/statuses$/,
      told: [
        [
          /^caption: is longer/,
          answers(500, {
            message: "The status must not be greater than 500 characters.",
            errors: { status: [] },
          }),
        ],
        [
          /^metadata\.moreMedia/,
          answers(500, { message: "The media ids must not have more than 4 items.", errors: {} }),
        ],
        [
          / Pixelfed says: "Invalid object\. Contains banned keyword\."$/,
          answers(400, { error: "Invalid object. Contains banned keyword." }),
        ],
      ],
    },
    {
      at: /\/media$/,
      told: [
        [
          /^mediaUrl: .*large/,
          answers(500, { message: "The file must not be greater than 15000 kilobytes.", errors: {} }),
        ],
        [/does not let this account/, answers(403, { error: "Invalid or unsupported mime type." })],
        [
          /refused the request/,
          answers(500, { message: "The file must be a file of type: image/png.", errors: {} }),
        ],
      ],
    },
  ],
  needed: {
    "names the status, the file or the account": ["id"],
    "whether the file is done": ["url"],
    "the account's name": ["username"],
  },
  scopes: { oauth: ["read", "write"] },
  previews: {
    "shows no warning without sensitive": {
      post: { metadata: { spoilerText: "Loud" } },
      shown: { note: null },
    },
    "shows it with sensitive": {
      post: { metadata: { spoilerText: "Loud", sensitive: true } },
      shown: { note: "Shown after a click on the warning: Loud" },
    },
  },
} satisfies PlatformFixture;
