import { stageOn } from "../../support/contract/open-stage.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import type { Answer } from "../youtube/answers.ts";
import { toWire } from "../youtube/fake.ts";
import { refusal, UNAUTHORIZED } from "./spec.ts";
import { createVimeoWorld } from "./world.ts";

const answering = (answer: Answer) => async (): Promise<OutboundResponse> => ({ ...toWire(answer), url: "" });

const FILM = { caption: "A horn", media_url: CLIP_URL };
const LIMITED = {
  ...refusal(429, 9000),
  headers: {
    "x-ratelimit-limit": "250",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "2026-01-01T00:15:00+00:00",
  },
};

export default {
  async openStage(platform) {
    const { ctx, account, fake } = await createVimeoWorld(platform);
    // Each look at a video that is being transcoded is one more request to go wrong.
    fake.videos.processingMs = 4_000;
    const shown = () => {
      if (fake.videos.all.size > 1) throw new Error("There is more than one video.");
      return fake.videos.shown();
    };
    return stageOn({
      ctx,
      account,
      wrong: fake.wrong,
      shown,
      textOf: ({ fields }) => String(fields["description"]),
    });
  },
  post: {
    ...FILM,
    metadata: {
      title: "The horn",
      tags: ["horn", "post horn"],
      thumbnailUrl: PHOTO_URL,
      license: "by",
      language: "en",
      comments: "disabled",
    },
  },
  otherPosts: { "an unlisted film": { ...FILM, metadata: { visibility: "unlisted" } } },
  troubles: {
    "meets its own limit": answering(LIMITED),
    "meets a server that cannot begin": answering(refusal(500, 4003)),
  },
  refusesToken: answering(UNAUTHORIZED),
  refusals: [
    {
      at: /\/me\/videos/,
      told: [
        [/space on Vimeo is used up/, answering(refusal(403, 4102))],
        [/no upload access/, answering(refusal(403, 3200))],
        [/^metadata\.downloadEnabled: .*plan/, answering(refusal(400, 2204, ["privacy.download"]))],
        [/^metadata\.title: /, answering(refusal(400, 2204, ["name"]))],
      ],
    },
  ],
  unfit: [
    [{ mediaUrl: CLIP_URL, metadata: { title: "x".repeat(129) } }, /metadata\.title/],
    [{ mediaUrl: CLIP_URL, metadata: { license: "mine" } }, /metadata\.license/],
    [{ mediaUrl: CLIP_URL, metadata: { categoryId: "1" } }, /metadata/],
    [{ metadata: {} }, /mediaUrl/],
  ],
  needed: {
    "names the video": ["uri", "link"],
    "whether everybody sees it": ["privacy.view"],
    "the number itself": ["metadata.connections.followers.total"],
    "where the film goes": ["upload.upload_link"],
  },
  scopes: { oauth: ["public", "private", "upload", "edit", "delete", "stats"] },
  gated: [
    [{ visibility: "unlisted" }, { limits: { plan: "free" } }, "refused"],
    [{ downloadEnabled: true }, { limits: { plan: "basic" } }, "refused"],
    [{ visibility: "unlisted" }, {}, "warned"],
    [{ visibility: "unlisted" }, { limits: { plan: "starter" } }, "taken"],
  ],
  previews: {
    "takes the first line for the title": {
      post: { caption: "a\nb", mediaUrl: CLIP_URL },
      shown: { text: "a\n\na\nb", media: [{ url: CLIP_URL, type: "video", change: null }] },
    },
    "calls a film without words so": { post: { mediaUrl: CLIP_URL }, shown: { text: "Untitled" } },
  },
} satisfies PlatformFixture;
