import { expectAskedRightly } from "../../support/contract/ends.ts";
import { Readable } from "node:stream";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { queryOf } from "../../support/handles.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { type PlatformFixture, type Trouble, unfitWith } from "../../support/contract/stage.ts";
import { refuse, type Answer } from "./fake.ts";
import { connected, createTikTokWorld, FILM_URL } from "./world.ts";

const respond = ({ status, text }: Answer): OutboundResponse => ({
  status,
  headers: { "content-type": "application/json" },
  url: "",
  body: Readable.from([Buffer.from(text)]),
});

/** Where bytes are taken there are no words, only numbers of HTTP. */
const answerOf =
  (answer: Answer, status: number): Trouble =>
  async (_pass, { url }) =>
    respond(url.includes("open-upload") ? { status, text: "" } : answer);

const PUBLIC = { privacyLevel: "PUBLIC_TO_EVERYONE" };

export default {
  async openStage(platform) {
    const world = await createTikTokWorld({ platform, hasDisplayApi: true });
    const { ctx, fake } = world;
    const account = await connected(world);
    // Of photos whose answer was lost TikTok tells nothing but what it lists.
    let isBlind = false;
    return {
      ctx,
      account,
      wrong: fake.wrong,
      async published() {
        const photos = queryOf(ctx.store).selectFrom("posts").select("id").where("media_url", "=", PHOTO_URL);
        isBlind = (await photos.execute()).length > 0;
        expectAskedRightly(fake);
        return fake.visible().length;
      },
      captions: async () => fake.visible().map(({ text }) => text),
      get isBlind() {
        return isBlind;
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  },
  post: { caption: "A horn", media_url: FILM_URL, metadata: PUBLIC },
  otherPosts: {
    photos: {
      caption: "Horns",
      media_url: PHOTO_URL,
      metadata: { ...PUBLIC, title: "Two", moreMedia: [{ url: PHOTO_URL }] },
    },
  },
  troubles: {
    "meets TikTok's limit, told with HTTP 200": answerOf(refuse(200, "rate_limit_exceeded"), 429),
    "meets trouble of TikTok's, told with HTTP 200": answerOf(refuse(200, "internal_error"), 500),
  },
  refusesToken: answerOf(refuse(401, "access_token_invalid"), 403),
  refusals: [
    {
      at: /\/init\//,
      told: [
        [/quota.*Send it again later/s, answerOf(refuse(403, "spam_risk_too_many_posts"), 403)],
        [/quota/, answerOf(refuse(403, "reached_active_user_cap"), 403)],
        [/banned/, answerOf(refuse(403, "spam_risk_user_banned_from_posting"), 403)],
        [/spam/, answerOf(refuse(403, "spam_risk"), 403)],
        [/metadata\.privacyLevel/, answerOf(refuse(403, "privacy_level_option_mismatch"), 403)],
        [/something_new/, answerOf(refuse(400, "something_new"), 400)],
      ],
    },
    {
      at: /\/init\//,
      end: "waits",
      told: [[/audit/, answerOf(refuse(403, "unaudited_client_can_only_post_to_private_accounts"), 403)]],
    },
  ],
  unfit: unfitWith(FILM_URL, [
    [{}, /^metadata\.privacyLevel: /],
    [{ privacyLevel: "EVERYBODY" }, /privacyLevel/],
    [{ privacyLevel: "SELF_ONLY", privacy: "PUBLIC_TO_EVERYONE" }, /^metadata\.privacy: /],
    [{ privacyLevel: "SELF_ONLY", brandContent: true }, /^metadata\.brandContent: /],
    [{ privacyLevel: "SELF_ONLY", coverIndex: 3 }, /^metadata\.coverIndex: /],
    [{ privacyLevel: "SELF_ONLY", thumbnailUrl: "https://a.example/1.jpg" }, /thumbnailUrl/],
  ]),
  needed: {
    "who may be let see it": ["data.privacy_level_options"],
    "where the film goes": ["data.publish_id", "data.upload_url"],
    "whether it is done": ["data.status"],
    "names the video": ["data.publicaly_available_post_id", "data.videos.id"],
    "whose numbers they are": ["data.user"],
  },
  scopes: { oauth: ["user.info.basic", "video.publish", "video.upload"] },
  previews: {
    "leaves a film in the inbox to a person, without text": {
      post: { caption: "a", mediaUrl: "https://media.example/clip.mp4", metadata: { mode: "inbox" } },
      shown: { text: null, note: "TikTok: a person finishes it in the app." },
    },
    "gives photos there their text": {
      post: {
        caption: "a",
        mediaUrl: PHOTO_URL,
        metadata: { mode: "inbox", title: "t", moreMedia: [{ url: PHOTO_URL }] },
      },
      shown: { text: "t\n\na", count: { max: 4000 }, note: "TikTok: a person finishes it in the app." },
    },
  },
} satisfies PlatformFixture;
