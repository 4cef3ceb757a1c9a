import { stageOn } from "../../support/contract/open-stage.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { type PlatformFixture, unfitWith } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import type { Answer } from "../youtube/answers.ts";
import { toWire } from "../youtube/fake.ts";
import { problem } from "./spec.ts";
import { createPeertubeWorld } from "./world.ts";

const answering = (answer: Answer) => async (): Promise<OutboundResponse> => ({ ...toWire(answer), url: "" });

const FILM = { caption: "A horn", media_url: CLIP_URL };
const LIMITED = {
  ...problem(429, "too_many_requests", "Too many requests"),
  headers: { "retry-after": "7" },
};

export default {
  async openStage(platform) {
    const { ctx, account, fake } = await createPeertubeWorld(platform);
    // Each look at a video that is being transcoded is one more request to go wrong.
    fake.videos.processingMs = 4_000;
    const shown = () => {
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
      categoryId: "15",
      language: "en",
      comments: "approval",
    },
  },
  otherPosts: { "an unlisted film": { ...FILM, metadata: { title: "The horn", visibility: "unlisted" } } },
  troubles: {
    "meets its own limit": answering(LIMITED),
    "meets a server in maintenance": answering({ status: 502, text: "<html>Bad gateway</html>" }),
  },
  refusesToken: answering(problem(401, "invalid_token", "Token is invalid")),
  refusals: [
    {
      at: /\/upload-resumable$/,
      told: [
        [/^mediaUrl: .*size/, answering(problem(413, "max_file_size_reached"))],
        [/^mediaUrl: .*MP4/, answering(problem(415, "invalid_file"))],
        [/^metadata\.tags: /, answering(problem(400, "x", "no", { "invalid-params": { tags: {} } }))],
        [/does not let this account/, answering(problem(403, "hook"))],
        [/space for this account is used up/, answering(problem(413, "quota_reached"))],
      ],
    },
  ],
  unfit: unfitWith(CLIP_URL, [
    [{}, /metadata\.title/],
    [{ title: "ab" }, /metadata\.title/],
    [{ title: "x".repeat(121) }, /metadata\.title/],
    [{ title: "The horn", tags: ["a"] }, /metadata\.tags/],
    [{ title: "The horn", tags: ["a1", "b1", "c1", "d1", "e1", "f1"] }, /metadata\.tags/],
    [{ title: "The horn", categoryId: "Music" }, /metadata\.categoryId/],
    [{ title: "The horn", playlistId: "1" }, /metadata/],
    [{ title: "The horn" }, /^caption: .*at least 3 characters/, "ab"],
  ]),
  needed: {
    "names the video": ["uuid", "video.uuid"],
    "whether everybody sees it": ["privacy.id", "state.id"],
    "the account's name": ["username"],
    "names the channel": ["videoChannels.id", "videoChannels.name"],
    "which files it takes": ["video.file.extensions"],
    "whose number it is": ["data.id"],
  },
} satisfies PlatformFixture;
