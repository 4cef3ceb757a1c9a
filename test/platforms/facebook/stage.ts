import { stageOn } from "../../support/contract/open-stage.ts";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { toResponse } from "./fake-http.ts";
import { LONG_CLIP_URL, openPage } from "./world.ts";

function refusal(code: number, more: object = {}, headers: Record<string, string> = {}): Trouble {
  const error = { message: `(#${code}) No.`, type: "OAuthException", code, ...more, fbtrace_id: "A1b" };
  return async () => toResponse(400, { error }, headers);
}

const usage = JSON.stringify({
  123: [{ type: "pages", call_count: 100, estimated_time_to_regain_access: 2 }],
});

export default {
  async openStage(platform) {
    const { ctx, fake, account } = await openPage(platform);
    const { wrong } = fake;
    return stageOn({ ctx, account, wrong, shown: () => fake.visible(), textOf: (text) => text });
  },
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: { ...PICTURES, firstComment: "It is blown." } },
  otherPosts: {
    "a link": { caption: "Read", media_url: "", metadata: { link: "https://posts.example/a" } },
    "a reel": { caption: "Film", media_url: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } },
    "a video": { caption: "Long film", media_url: LONG_CLIP_URL, metadata: { kind: "video", title: "Long" } },
    "a text on a background": {
      caption: "Blow!",
      media_url: "",
      metadata: { background: "106018623298955", locationId: "7640348500" },
    },
    "a reel of several": {
      caption: "Together",
      media_url: CLIP_URL,
      metadata: { collaborators: ["8001", "8002"], locationId: "7640348500" },
    },
    "a story": { caption: "", media_url: PHOTO_URL, metadata: { story: true } },
    "a story of a film": { caption: "", media_url: CLIP_URL, metadata: { story: true } },
  },
  troubles: {
    "meets a limit": refusal(32, {}, { "x-business-use-case-usage": usage }),
    "meets a broken server": refusal(2, { is_transient: true }),
  },
  refusesToken: async () =>
    toResponse(401, {
      error: {
        message: "Session has expired",
        type: "OAuthException",
        code: 190,
        error_subcode: 463,
        fbtrace_id: "A",
      },
    }),
  refusals: [
    {
      at: /\/feed/,
      post: { media_url: "", metadata: {} },
      told: [
        [/posted too fast/, refusal(368, { error_subcode: 1_390_008 })],
        [/could not read the page that the link leads to/, refusal(100, { error_subcode: 1_609_005 })],
        [/Page Publishing Authorization/, refusal(1_404_078)],
        [/error 100\/77/, refusal(100, { error_subcode: 77 })],
      ],
    },
    {
      at: /\/feed/,
      post: { media_url: "", metadata: {} },
      end: "reconnect",
      told: [
        [/must be reconnected/, refusal(190, { error_subcode: 460 })],
        [/lacks a permission/, refusal(200)],
      ],
    },
    {
      at: /\/feed/,
      post: { media_url: "", metadata: {} },
      end: "waits",
      told: [
        [/API_VERSION/, refusal(2_635)],
        [/slow down/, refusal(4)],
      ],
    },
  ],
  unfit: [
    [{ metadata: { link: "https://a.example", moreMedia: [{ url: PHOTO_URL }] } }, /a link card or media/],
    [{ metadata: { title: "T" } }, /metadata\.title: only videos/],
    [{ metadata: { kind: "reel" } }, /metadata\.kind: only videos/],
    [{ metadata: { place: "1" } }, /place/],
  ],
  needed: {
    "names the post or the Page": ["id", "video_id"],
    "names the upload": ["h"],
    "tells one story from another": ["data.media_id"],
    "whether the film is done": ["status.**"],
    "whose number it is": ["data.name", "data.values"],
  },
  scopes: {
    oauth: [
      "pages_show_list",
      "pages_read_engagement",
      "pages_manage_posts",
      "read_insights",
      "pages_manage_engagement",
    ],
  },
  askedOnlyWhen: { business_management: "asked for only when Pages of business portfolios are wanted" },
  gated: [
    [{ firstComment: "First" }, { scopes: ["pages_manage_posts"] }, "refused"],
    [{ firstComment: "First" }, { scopes: ["pages_manage_engagement"] }, "taken"],
  ],
  previews: {
    "has the first comment below": {
      post: { caption: "a", metadata: { firstComment: "b", link: "https://a.example/" } },
      shown: {
        text: "a",
        parts: [{ text: "b", count: { length: 1, max: null } }],
        link: "https://a.example/",
      },
    },
  },
} satisfies PlatformFixture;
