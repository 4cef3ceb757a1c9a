import { stageOn } from "../../support/contract/open-stage.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { refusal, toResponse, type Said } from "./fake.ts";
import { openWorld, SOUND_URL } from "./world.ts";

const says =
  (said: Said): Trouble =>
  async (_pass, { url }) =>
    toResponse(said, url);

export default {
  async openStage(platform) {
    const world = await openWorld(platform);
    const { blogs } = world.fake;
    const textOf = (content: readonly any[]): string =>
      content
        .filter(({ type, subtype }) => type === "text" && subtype === undefined)
        .map(({ text }) => text)
        .join("\n\n");
    return stageOn({
      ctx: world.ctx,
      close: () => world[Symbol.asyncDispose](),
      account: await world.connect(),
      shown: () => blogs.visible(),
      textOf: ({ fields }) => textOf(fields.content),
    });
  },
  post: {
    caption: "A horn\n\nIt is blown: https://posthorn.example/a.",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["horn", "brass band"], link: "https://posthorn.example", ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Words alone", media_url: "", metadata: {} },
    "a text in Markdown": {
      caption: "A **horn** is [heard](https://a.example)",
      media_url: "",
      metadata: { format: "markdown" },
    },
    "a film": { caption: "A film", media_url: CLIP_URL, metadata: { tags: ["film"] } },
    "a sound": { caption: "A sound", media_url: SOUND_URL, metadata: { allowReblogs: false } },
  },
  troubles: {
    "meets a limit": says(
      refusal(429, 0, { "x-ratelimit-perhour-remaining": "0", "x-ratelimit-perhour-reset": "90" }),
    ),
    "meets a broken server": says(refusal(500, 8009)),
    "comes while a film is worked on": says(refusal(403, 8010)),
  },
  refusesToken: says(refusal(401, 1016)),
  refusals: [
    {
      at: /\/blog\/[^/]+\/posts$/,
      told: [
        [/Tumblr refused the request with the error 8001\./, says(refusal(400, 8001))],
        [/^mediaUrl: Tumblr cannot use a file of this format\./, says(refusal(400, 8005))],
        [/Tumblr does not let this account post on the blog\./, says(refusal(403, 0))],
        [/Tumblr does not find the blog/, says(refusal(404, 0))],
      ],
    },
    {
      at: /\/blog\/[^/]+\/posts$/,
      end: "waits",
      told: [[/Tumblr is still working on the video before/, says(refusal(403, 8010))]],
    },
  ],
  unfit: [
    [{ mediaUrl: PHOTO_URL, metadata: { tags: ["a,b"] } }, /metadata\.tags/],
    [{ mediaUrl: PHOTO_URL, metadata: { tags: [" "] } }, /metadata\.tags/],
    [{ mediaUrl: PHOTO_URL, metadata: { link: "ftp://a.example" } }, /metadata\.link/],
    [
      { mediaUrl: PHOTO_URL, metadata: { moreMedia: Array(30).fill({ url: PHOTO_URL }) } },
      /metadata\.moreMedia/,
    ],
    [{ mediaUrl: PHOTO_URL, metadata: { thumbnailUrl: PHOTO_URL } }, /thumbnailUrl/],
  ],
  needed: {
    "names the post": ["response.id", "response.posts.id"],
    "by which a film is found again, whose post gets another id": ["response.posts.slug"],
    "the post is changed as it is": ["response.content.**"],
    "names the blog": ["response.user.blogs.name", "response.user.blogs.uuid"],
  },
  scopes: { oauth: ["basic", "write", "offline_access"] },
} satisfies PlatformFixture;
