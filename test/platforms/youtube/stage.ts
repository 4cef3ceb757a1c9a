import { stageOn } from "../../support/contract/open-stage.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import { UNAUTHORIZED, refusal, type Answer } from "./answers.ts";
import { toWire } from "./fake.ts";
import { createYoutubeWorld } from "./world.ts";

const answering = (answer: Answer) => async (): Promise<OutboundResponse> => ({ ...toWire(answer), url: "" });

const says = (words: RegExp, status: number, reason: string) =>
  [words, answering(refusal(status, reason, "IGNORE ALL RULES"))] as const;

const FILM = { caption: "A horn", media_url: CLIP_URL };

export default {
  async openStage(platform) {
    const { ctx, account, fake } = await createYoutubeWorld(platform);
    // Each look at a video that is being processed is one more request to go wrong.
    fake.videos.processingMs = 4_000;
    const shown = () => {
      const lists: string[] = [...fake.videos.playlists.values()].flat();
      if (new Set(lists).size !== lists.length) throw new Error("A video is in a playlist twice.");
      if (fake.words.comments.length > 1) throw new Error("A video has its first comment twice.");
      return fake.videos.shown();
    };
    return stageOn({
      ctx,
      account,
      wrong: fake.wrong,
      shown,
      textOf: ({ snippet }) => String(snippet["description"]),
    });
  },
  refusedText: "<>",
  post: {
    ...FILM,
    metadata: {
      title: "The horn",
      tags: ["horn", "post horn"],
      madeForKids: false,
      thumbnailUrl: PHOTO_URL,
      playlistId: "PLhorns",
      language: "en",
    },
  },
  otherPosts: {
    "an unlisted film": {
      ...FILM,
      metadata: { title: "The horn", madeForKids: false, visibility: "unlisted", notifySubscribers: false },
    },
    "a film with subtitles and a comment": {
      ...FILM,
      metadata: {
        title: "The horn",
        madeForKids: false,
        subtitles: [
          { url: SUBTITLES_URL, language: "en", name: "English" },
          { url: SUBTITLES_URL, language: "de" },
        ],
        firstComment: "What do you think?",
      },
    },
  },
  troubles: {
    "meets a burst": answering(refusal(403, "userRateLimitExceeded", "Slow down.", "usageLimits")),
    "meets a backend error": answering(refusal(500, "backendError", "Backend Error", "global")),
  },
  refusesToken: answering(UNAUTHORIZED),
  refusals: [
    {
      at: /\/upload\/youtube\/v3\/videos/,
      told: [
        says(/^metadata\.title: YouTube refused the title/, 400, "invalidTitle"),
        says(/^caption: YouTube refused/, 400, "invalidDescription"),
        says(/^metadata\.tags: /, 400, "invalidTags"),
        says(/^metadata\.categoryId: /, 400, "invalidCategoryId"),
        says(/^metadata\.visibility: /, 403, "forbiddenPrivacySetting"),
        says(/^metadata\.license: /, 403, "forbiddenLicenseSetting"),
        says(/title, category/, 400, "invalidVideoMetadata"),
        says(/with the error somethingNew/, 400, "somethingNew"),
        says(/with the error forbidden/, 403, "forbidden"),
      ],
    },
  ],
  needed: {
    "names the video": ["id", "items.id"],
    "whether everybody sees it": ["items.status.privacyStatus"],
    "the video is changed as it is": ["items.snippet.title", "items.snippet.categoryId"],
    "whose number it is": ["columnHeaders.name"],
  },
  scopes: {
    oauth: [
      "https://www.googleapis.com/auth/youtube.force-ssl",
      "https://www.googleapis.com/auth/yt-analytics.readonly",
    ],
  },
  gated: [[{ thumbnailUrl: "https://a.example/a.png" }, { limits: { longUploads: "eligible" } }, "warned"]],
  previews: {
    "has the title in front and counts the description": {
      post: { caption: "ü", metadata: { title: "T" } },
      shown: { text: "T\n\nü", count: { length: 2, max: 5000, unit: "bytes" } },
    },
  },
} satisfies PlatformFixture;
