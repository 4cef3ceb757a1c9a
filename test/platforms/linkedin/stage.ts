import { answerOf } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import { PDF_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { unfitWith, type PlatformFixture } from "../../support/contract/stage.ts";
import { refuse } from "./fake.ts";
import { connected, createLinkedInWorld, FILM_URL } from "./world.ts";

const says = (words: RegExp, status: number, code: string) =>
  [words, () => answerOf(status, refuse(status, code).json)] as const;

const TEXT = { at: /\/rest\/posts$/, post: { media_url: "", metadata: {} } };
const POLL = { options: ["Yes", "No"], hours: 168 };
const more = (count: number) => ({ moreMedia: Array.from({ length: count }, () => ({ url: PHOTO_URL })) });

export default {
  async openStage(platform) {
    const settings = {
      POSTHORN_LINKEDIN_SCOPES: "openid w_member_social w_member_social_feed r_member_social_feed",
    };
    const world = await createLinkedInWorld({ platform, settings });
    const { ctx, fake } = world;
    // A token that is refused is renewed; without that, its post waits for a person until it misses its time.
    fake.isPartner = true;
    return stageOn({
      ctx,
      account: await connected(world),
      wrong: fake.wrong,
      shown() {
        const comments = fake.posts.map((post) => post.comments.map(({ text }) => text));
        if (comments.some((texts) => new Set(texts).size < texts.length))
          throw new Error("A comment is there twice.");
        return fake.posts;
      },
      textOf: ({ text }) => text,
      close: () => world[Symbol.asyncDispose](),
    });
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, firstComment: "It is loud." },
  },
  otherPosts: {
    "a poll": {
      caption: "What do you blow?",
      media_url: "",
      metadata: { title: "Which horn?", poll: { options: ["The post horn", "The French horn"], hours: 72 } },
    },
    "a text with a mention and comments": {
      caption: "Thanks, @[Post Horn](urn:li:organization:4711)!",
      media_url: "",
      metadata: { firstComment: "It is loud.", thread: [{ caption: "Very loud." }] },
    },
    "a film": { caption: "A film", media_url: FILM_URL, metadata: { title: "Horns" } },
    "a document": { caption: "A document", media_url: PDF_URL, metadata: {} },
    "pictures as a document": {
      caption: "Pages",
      media_url: PHOTO_URL,
      metadata: { ...PICTURES, asDocument: true, title: "Horns" },
    },
    "a link": {
      caption: "A link",
      media_url: "",
      metadata: { link: "https://a.example/", title: "A page", thumbnailUrl: PHOTO_URL },
    },
  },
  refusals: [
    { ...TEXT, told: [says(/FIELD_INVALID/, 400, "FIELD_INVALID")] },
    { ...TEXT, end: "waits", told: [says(/slow down/, 429, "TOO_MANY_REQUESTS")] },
    { ...TEXT, end: "reconnect", told: [says(/must be reconnected/, 403, "ACCESS_DENIED")] },
    { at: TEXT.at, told: [says(/could not process/, 400, "MEDIA_ASSET_PROCESSING_FAILED")] },
  ],
  unfit: [
    ...unfitWith("", [
      [
        { poll: { ...POLL, hours: 48 } },
        /^metadata\.poll\.hours: LinkedIn's polls are open for 24, 72, 168 or 336/,
      ],
      [
        { poll: POLL, title: "x".repeat(141) },
        /the question of a poll has 1 to 140 characters, and this has 141/,
      ],
      [{ firstComment: "Again", thread: [{ caption: "Again" }] }, /^metadata\.thread: says the same twice/],
      [{ asDocument: true, title: "A" }, /^metadata\.asDocument: .* needs them/],
    ]),
    ...unfitWith(PHOTO_URL, [
      [{ poll: POLL }, /^metadata\.poll: a LinkedIn post shows a poll, media or a link/],
      [{ asDocument: true }, /^metadata\.asDocument: .* a title/],
      [more(20), /makes 21 media items/],
      [{ ...more(300), asDocument: true, title: "Horns" }, /^metadata\.moreMedia: /],
    ]),
  ],
  needed: {
    "where the file goes": [
      "value.uploadUrl",
      "value.uploadInstructions.uploadUrl",
      "value.uploadInstructions.firstByte",
      "value.uploadInstructions.lastByte",
    ],
    "names the file": ["value.image", "value.video", "value.document"],
    "whether the film is done": ["status"],
    "names the member": ["sub"],
  },
  scopes: {
    oauth: ["openid", "profile", "w_member_social"],
    pages: [
      "r_basicprofile",
      "w_member_social",
      "w_member_social_feed",
      "r_member_postAnalytics",
      "w_organization_social",
      "w_organization_social_feed",
      "r_organization_social",
      "r_organization_social_feed",
      "rw_organization_admin",
    ],
  },
  isTitleApart: true,
  previews: {
    "has its title on the card": { post: { caption: "a", metadata: { title: "t" } }, shown: { text: "a" } },
  },
} satisfies PlatformFixture;
