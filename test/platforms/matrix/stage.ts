import { answers } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import { textOfHtml } from "../../../src/domain/text/html-text.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PDF_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { openMatrix } from "./world.ts";

/** What the files after the first one tell. */
const FURTHER = "The same horn";

const refusal = (status: number, errcode: string) => answers(status, { errcode, error: "No." });

export default {
  async openStage(platform) {
    const world = await openMatrix(platform);
    const heads = () => {
      const all = world.shown();
      const keys = all.map(({ event }) => event.content["posthorn.key"]);
      if (new Set(keys).size < keys.length) throw new Error("A message of the post is there twice.");
      return all.map(({ content }) => content).filter(({ body }) => body !== FURTHER);
    };
    return stageOn({
      ctx: world.ctx,
      account: await world.connect(),
      wrong: world.fake.state.wrong,
      shown: heads,
      // A space that stays looks like any other.
      textOf: ({ body, formatted_body: html }) =>
        html === undefined ? body : textOfHtml(html).replaceAll("\u00a0", " "),
      close: () => world[Symbol.asyncDispose](),
    });
  },
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: PICTURES },
  // A message holds the text, and the same as HTML.
  markdownLimit: 19_991,
  otherPosts: {
    "a document": { caption: "A score", media_url: PDF_URL, metadata: {} },
    "a text": { caption: "A horn is heard.", media_url: "", metadata: {} },
    "a text with HTML": {
      caption: "A horn",
      media_url: "",
      metadata: { html: '<b>A</b> <a href="https://horn.example">horn</a>' },
    },
    "a text in Markdown": {
      caption: "A **horn** is ||loud||, [far](https://horn.example/a_b) &\nfor @[Ann](@ann:horn.example)",
      media_url: "",
      metadata: { format: "markdown" },
    },
    "a picture with a mention": {
      caption: "*A  horn* for\n@[Ann](@ann:horn.example) <b>",
      media_url: PHOTO_URL,
      metadata: {},
    },
    "a film": { caption: "It plays", media_url: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } },
  },
  troubles: {
    "meets a limit": answers(429, {
      errcode: "M_LIMIT_EXCEEDED",
      error: "Too Many Requests",
      retry_after_ms: 4_521,
    }),
    "meets a broken server": answers(500, { errcode: "M_UNKNOWN", error: "Internal server error" }),
    "meets a server that starts": answers(502, {}),
  },
  refusesToken: answers(401, {
    errcode: "M_UNKNOWN_TOKEN",
    error: "Invalid access token passed.",
    soft_logout: false,
  }),
  refusals: [
    {
      at: /\/send\//,
      end: "reconnect",
      told: [
        [/The account may not post in the room/, refusal(403, "M_FORBIDDEN")],
        [/locked, suspended or deactivated/, refusal(403, "M_USER_SUSPENDED")],
        [/accept its terms/, refusal(403, "M_CONSENT_NOT_GIVEN")],
      ],
    },
    {
      at: /\/send\//,
      told: [
        [/^caption: is too long for a message on Matrix/, refusal(413, "M_TOO_LARGE")],
        [/with the error M_BAD_JSON/, refusal(400, "M_BAD_JSON")],
      ],
    },
    {
      at: /\/upload/,
      told: [
        [/^mediaUrl: the server refused the file as too large/, refusal(413, "M_TOO_LARGE")],
        [/^mediaUrl: the server does not take files/, refusal(403, "M_FORBIDDEN")],
      ],
    },
  ],
  unfit: [
    [
      { caption: "", metadata: { html: "<b>x</b>" }, mediaUrl: PHOTO_URL },
      /metadata\.html: give the same text as caption/,
    ],
    [{ metadata: { thumbnailUrl: PHOTO_URL } }, /metadata\.thumbnailUrl: only a video/],
    [{ metadata: { moreMedia: [{ url: PHOTO_URL }] } }, /metadata\.moreMedia: the first file/],
    [{ caption: '"'.repeat(25_000), metadata: {} }, /caption: is too long for a message/],
    [{ metadata: { title: "x" } }, /title/],
  ],
  needed: {
    "where the file is": ["content_uri"],
    "names the event": ["event_id", "chunk.event_id"],
    "the event is changed as it is": ["content.**"],
    "whether the account is in the room": ["membership"],
    "whose number it is, and the number": ["rooms.room_id", "rooms.num_joined_members"],
  },
  previews: {
    "tells a file without a caption by its alternative text": {
      post: { mediaUrl: PHOTO_URL, metadata: { altText: "A horn" } },
      shown: { text: "A horn", count: { length: 0, unit: "bytes" } },
    },
  },
} satisfies PlatformFixture;
