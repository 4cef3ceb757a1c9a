import { openStage, type FakeStage } from "../../support/contract/open-stage.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { failure } from "./failure.ts";
import { createFakeLemmy, SERVER, type FakeLemmy, type Profile } from "./fake.ts";
import { shownOf } from "./reader.ts";
import { answerOf } from "../../support/described.ts";

/** An account on a Lemmy server, signed in. */
export const openLemmy = (platform: AnyPlatform, profile: Partial<Profile> = {}): Promise<LemmyStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeLemmy({ now, profile }),
    connect: ({ login }) => ({ instanceUrl: SERVER, secrets: login }),
    shown: ({ posts }) => posts.shown(),
    textOf: ({ body }) => shownOf(body ?? ""),
  });

export type LemmyStage = FakeStage<FakeLemmy>;

const GIVEN = { community: "news@lemmy.example", title: "A horn is heard" };

export default {
  openStage: (platform) => openLemmy(platform),
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...GIVEN, ...PICTURES, sensitive: true },
  },
  otherPosts: {
    "a text": { caption: "A horn is heard. https://a.example", media_url: "", metadata: GIVEN },
    "a text in Markdown": {
      caption: "A **horn** is [heard](https://a.example)",
      media_url: "",
      metadata: { ...GIVEN, format: "markdown" },
    },
    "a link": {
      caption: "",
      media_url: "",
      metadata: { ...GIVEN, link: "https://a.example/horns", thumbnailUrl: PHOTO_URL },
    },
    "a picture": {
      caption: "",
      media_url: PHOTO_URL,
      metadata: { ...GIVEN, community: "!horns@other.example" },
    },
  },
  troubles: {
    // As the third version does it.
    "meets a limit": async () => failure(400, "rate_limit_error"),
    "meets a limit of the fourth version": async () => failure(429, "too_many_requests"),
    "is answered by a proxy that waited too long": async () =>
      answerOf(504, "<html>504 Gateway Time-out</html>"),
  },
  refusesToken: async () => failure(400, "not_logged_in"),
  refusals: [
    {
      at: /\/post$/,
      told: [
        [/^metadata\.community: .*banned/, () => failure(400, "person_is_banned_from_community")],
        [/^metadata\.community: only its moderators/, () => failure(400, "only_mods_can_post_in_community")],
        [/^metadata\.community: .*blocked/, () => failure(400, "community_is_blocked")],
        [/^metadata\.title: /, () => failure(400, "invalid_post_title")],
        [/^caption: is longer/, () => failure(400, "invalid_body_field")],
        [/does not allow/, () => failure(400, "slurs")],
        [/^metadata\.link: /, () => failure(400, "blocked_url")],
        [/^metadata\.sensitive: /, () => failure(400, "nsfw_not_allowed")],
        [/language/, () => failure(400, "language_not_allowed")],
        [/with the error honeypot_failed/, () => failure(400, "honeypot_failed")],
      ],
    },
    {
      at: /\/pictrs\/image$/,
      told: [
        [/^mediaUrl: /, () => failure(400, "image_upload_disabled")],
        [/^mediaUrl: .*could not use/, () => answerOf(201, { msg: "Error in process" })],
        [/^mediaUrl: .*too large/, () => answerOf(413, "<h1>413</h1>")],
      ],
    },
    {
      at: /\/post$/,
      end: "reconnect",
      told: ["not_logged_in", "site_ban", "email_not_verified"].map(
        (error) => [/./, () => failure(400, error)] as const,
      ),
    },
  ],
  needed: {
    "where the picture is": ["files.file"],
    "where it is posted": [
      "community_view.community.id",
      "community_view.community.name",
      "communities.community.id",
      "communities.community.name",
    ],
    "names the post, and whose it is": [
      "post_view.post.id",
      "post_view.post.name",
      "post_view.post.creator_id",
    ],
    "which of its interfaces the server has": ["version", "site_view.local_site"],
    "names the account": ["my_user.local_user_view.person.id", "my_user.local_user_view.person.name"],
  },
} satisfies PlatformFixture;
