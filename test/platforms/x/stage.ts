import { answerOf } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import { unfitWith, type PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import {
  duplicate,
  forbidden,
  invalidRequest,
  noCredits,
  problem,
  rateLimited,
  spendCap,
  usageCapped,
  type Answer,
} from "./problems.ts";
import { createWorld } from "./world.ts";

const answered = ({ status, json, headers }: Answer) => answerOf(status, json, headers);
const says = (words: RegExp, answer: Answer) => [words, () => answered(answer)] as const;
const forbids = (words: RegExp, detail: string) => says(words, forbidden(detail));
/** A kind of problem that has a page of its own. */
const ofType = (words: RegExp, title: string, type: string) =>
  says(words, problem(403, title, "…", `https://api.x.com/2/problems/${type}`));
/** As the older API numbers it. */
const numbered = (words: RegExp, code: number, message: string) =>
  says(words, { status: 403, json: { errors: [{ code, message }] } });

const TEXT = { at: /\/2\/tweets$/, post: { media_url: "", metadata: {} } };
const POLL = { options: ["a", "b"], hours: 24 };
const ENGLISH = { url: SUBTITLES_URL, language: "en" };

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
  refusals: [
    {
      ...TEXT,
      end: "waits",
      told: [
        says(/credits .* used up.*Buy credits/, noCredits()),
        says(/spending limit .*Raise it/, spendCap()),
        says(/quota .*used up/, usageCapped()),
        ofType(/belongs to a project/, "Client Forbidden", "client-forbidden"),
        numbered(
          /belongs to a project/,
          453,
          "You currently have access to a subset of X API V2 endpoints. If you need access to this endpoint, you may need a different access level.",
        ),
        forbids(
          /Read and write/,
          "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.",
        ),
      ],
    },
    {
      ...TEXT,
      end: "reconnect",
      told: [forbids(/suspended/, "Your account is suspended and is not permitted to access this feature.")],
    },
    {
      ...TEXT,
      told: [
        says(/duplicate.*Change the text/, duplicate()),
        numbered(/duplicate/, 187, "Status is a duplicate."),
        forbids(/^caption: is longer/, "Your Tweet text is too long."),
        forbids(
          /^mediaUrl: .*longer video/,
          "This user is not allowed to post a video longer than 2 minutes.",
        ),
        says(/Send the post again/, invalidRequest("Your media IDs are invalid.")),
        forbids(/^caption: .*cashtag/, "Posts may contain at most one cashtag."),
        forbids(/does not permit/, "You are not permitted to perform this action."),
        forbids(
          /does not allow this reply.*x\.com/,
          "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.",
        ),
        forbids(
          /does not offer this to the account/,
          "Your account is not permitted to access this feature.",
        ),
        forbids(
          /only to apps of its Enterprise plan.*address of the post/,
          "Quote-posting requires an Enterprise plan. It is not available on self-serve tiers.",
        ),
        forbids(/^caption: .*address/, "The Tweet contains an invalid URL."),
        ofType(/is gone, or X does not show it/, "Authorization Error", "not-authorized-for-resource"),
        says(/X refused the request with the error invalid-request/, invalidRequest("x")),
      ],
    },
  ],
  unfit: [
    ...unfitWith("", [
      [{}, /^caption: has 282 characters, as the platform counts them.* 280/, "日".repeat(141)],
      [{ thread: [{ caption: "日".repeat(141) }] }, /^metadata.thread\[0\].caption: has 282/],
      [{ thread: [{ caption: " One " }] }, /duplicate/, "One"],
      [{ thread: [{ caption: "  " }] }, /^metadata.thread\[0\].caption: is empty/],
      [{ moreMedia: [{ url: PHOTO_URL }] }, /first picture belongs in mediaUrl/],
      [{ subtitles: [ENGLISH] }, /^metadata.subtitles: belong to a video/],
      [{ thumbnailUrl: PHOTO_URL }, /^metadata.thumbnailUrl: /],
      [{ title: "x" }, /^metadata: "title" is not a known/],
      [{ poll: POLL, quote: "19" }, /^metadata\.quote: a post on X shows media, a poll/],
      [{ poll: { ...POLL, options: ["a".repeat(26), "b"] } }, /metadata\.poll\.options/],
      [{ poll: { ...POLL, options: ["a", "b", "c", "d", "e"] } }, /metadata\.poll\.options/],
      [{ poll: { ...POLL, hours: 169 } }, /metadata\.poll\.hours/],
      [{ poll: { ...POLL, multiple: true } }, /multiple/],
      [{ quote: "https://a.example/status/19" }, /metadata\.quote: must be the address or the number/],
    ]),
    ...unfitWith(PHOTO_URL, [
      [{ poll: POLL }, /^metadata\.poll: a post on X shows media, a poll or another/],
    ]),
    ...unfitWith(CLIP_URL, [
      [
        { subtitles: ["pt-BR", "pt-PT"].map((language) => ({ ...ENGLISH, language })) },
        /^metadata.subtitles\[1\].language: X knows languages of two letters/,
      ],
      [
        { subtitles: [ENGLISH, { ...ENGLISH, language: "EN" }] },
        /^metadata.subtitles: must have a language of their own each/,
      ],
    ]),
  ],
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
