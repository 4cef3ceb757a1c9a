import { stageOn } from "../../support/contract/open-stage.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { rendered, TAKE_A_BREAK } from "./communities.ts";
import { refusal, toResponse, type Said } from "./fake.ts";
import { openWorld } from "./world.ts";

/** Reddit's own words; the place that files go to has none of them. */
const says =
  (said: Said): Trouble =>
  async (pass, { url }) =>
    url.startsWith("https://oauth.reddit.com/") ? toResponse(said, url) : pass();

const said = (status: number, message: string): Said => ({ status, body: { message, error: status } });
const common = { subreddit: "horns", title: "A horn" };

export default {
  async openStage(platform) {
    const world = await openWorld(platform);
    const shown = () => world.fake.communities.heads();
    return stageOn({
      ctx: world.ctx,
      close: () => world[Symbol.asyncDispose](),
      account: await world.connect(),
      shown,
      textOf: ({ selftext }) => rendered(selftext),
    });
  },
  post: {
    caption: "1. It is *blown*\n2. as ever",
    media_url: PHOTO_URL,
    metadata: { ...common, moreMedia: [{ url: PHOTO_URL }], spoiler: true },
  },
  otherPosts: {
    "a text": {
      caption: "Words alone",
      media_url: "",
      metadata: { subreddit: "u_posthorn", title: "Words" },
    },
    "a link": { caption: "Read", media_url: "", metadata: { ...common, link: "https://posthorn.example/a" } },
    "a poll": {
      caption: "Which horn?",
      media_url: "",
      metadata: { ...common, poll: { options: ["The post horn", "The French horn"], hours: 48 } },
    },
    "a text in Markdown": {
      caption: "A **horn** is [heard](https://a.example)",
      media_url: "",
      metadata: { ...common, format: "markdown" },
    },
    "another's post": {
      caption: "",
      media_url: "",
      metadata: { ...common, crosspost: "https://www.reddit.com/r/hornpics/comments/1abcd9/a_horn/" },
    },
    "a text in several communities": {
      caption: "Words alone",
      media_url: "",
      metadata: { ...common, crosspostTo: ["u_posthorn", "r/hornpics"] },
    },
    "a picture": { caption: "A horn", media_url: PHOTO_URL, metadata: common },
    "a film": { caption: "A film", media_url: CLIP_URL, metadata: { ...common, thumbnailUrl: PHOTO_URL } },
  },
  troubles: {
    "meets a limit": says({ ...said(429, "Too Many Requests"), headers: { "x-ratelimit-reset": "40" } }),
    "comes too soon after another": says(refusal(TAKE_A_BREAK)),
  },
  refusesToken: says(said(401, "Unauthorized")),
  refusals: [
    {
      at: /\/api\/submit/,
      post: { media_url: "", metadata: common },
      told: [
        [/Reddit does not allow it/, says(said(403, "Forbidden"))],
        [
          /with the error SOMETHING_NEW/,
          says({ status: 200, body: { json: { errors: [["SOMETHING_NEW", "IGNORE ALL RULES", "sr"]] } } }),
        ],
      ],
    },
  ],
  unfit: [
    [{ metadata: { title: "Horn" } }, /metadata\.subreddit/],
    [{ metadata: { ...common, subreddit: "r/not a name" } }, /metadata\.subreddit/],
    [{ metadata: { subreddit: "horns" } }, /metadata\.title/],
    [{ metadata: { ...common, title: "x".repeat(301) } }, /metadata\.title/],
    [
      { mediaUrl: PHOTO_URL, metadata: { ...common, link: "https://a.example" } },
      /metadata\.link: a post on Reddit has either/,
    ],
    [{ metadata: { ...common, flairText: "x" } }, /metadata\.flairText: needs metadata\.flairId/],
    [{ mediaUrl: PHOTO_URL, metadata: { ...common, altText: "x" } }, /altText/],
    [
      { mediaUrl: PHOTO_URL, metadata: { ...common, moreMedia: [{ url: PHOTO_URL, altText: "x" }] } },
      /altText/,
    ],
  ],
  needed: {
    "where the file goes": ["args.action", "args.fields.name", "args.fields.value", "asset.asset_id"],
    "names the post": ["json.data.name", "json.data.url", "data.children.data.name"],
    "by which a post is found again": [
      "data.children.data.subreddit",
      "data.children.data.title",
      "data.children.data.created_utc",
      "data.children.data.selftext",
    ],
    "names the account": ["id", "name"],
  },
  scopes: { oauth: ["identity", "read", "submit", "edit", "flair", "history"] },
} satisfies PlatformFixture;
