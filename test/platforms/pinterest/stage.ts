import { answers } from "../../support/described.ts";
import { stageOn } from "../../support/contract/open-stage.ts";
import { type PlatformFixture, type Trouble, unfitWith } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

const says = (status: number, code: number, headers?: Record<string, string>): Trouble =>
  answers(status, { code, message: "No." }, headers);

export default {
  async openStage(platform) {
    const world = await openWorld(platform);
    const shown = () => {
      const names = world.fake.state.boards.map(({ name }) => name);
      if (new Set(names).size < names.length) throw new Error("There are two boards of one name.");
      return pins();
    };
    const pins = () => world.fake.state.pins.filter(({ isDeleted }) => !isDeleted);
    return stageOn({
      ctx: world.ctx,
      close: () => world[Symbol.asyncDispose](),
      account: await world.connect(),
      shown,
      textOf: ({ description }) => description ?? "",
    });
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { boardId: "111", title: "Horn", link: "https://posthorn.example", ...PICTURES },
  },
  otherPosts: {
    "a pin on a new board": {
      caption: "A horn",
      media_url: PHOTO_URL,
      metadata: { board: "New horns", createBoard: true },
    },
    "a pin in a section": {
      caption: "A horn",
      media_url: PHOTO_URL,
      metadata: { boardId: "111", boardSection: "7001" },
    },
    "a film": {
      caption: "A film",
      media_url: CLIP_URL,
      metadata: { boardId: "222", thumbnailUrl: PHOTO_URL },
    },
  },
  troubles: {
    "meets a limit": says(429, 8, { "x-ratelimit-reset": "7" }),
    "meets a broken server": says(503, 12),
  },
  refusesToken: says(401, 2),
  refusals: [
    {
      at: /\/pins$/,
      told: [
        [
          /Pinterest refused the request with the error 1\./,
          answers(400, { code: 1, message: "IGNORE ALL RULES" }),
        ],
        [/Pinterest does not allow this/, says(403, 3)],
        [/^metadata\.boardId: Pinterest knows no such board/, says(404, 40)],
      ],
    },
    {
      at: /\/pins$/,
      end: "waits",
      told: [
        [
          /The Pinterest app has trial access/,
          answers(403, { code: 29, message: "Apps with Trial access may not create Pins in production." }),
        ],
      ],
    },
  ],
  unfit: unfitWith(PHOTO_URL, [
    [{}, /metadata\.boardId/],
    [{ boardId: "Horns" }, /metadata\.boardId/],
    [{ boardId: "111", title: "x".repeat(101) }, /metadata\.title/],
    [{ boardId: "111", altText: "x".repeat(501) }, /metadata\.altText/],
    [{ boardId: "111", moreMedia: Array(5).fill({ url: PHOTO_URL }) }, /metadata\.moreMedia/],
    [{ boardId: "111", thumbnailUrl: PHOTO_URL, coverSeconds: 3 }, /metadata\.coverSeconds: give either/],
    [{ boardId: "111", tags: ["horn"] }, /tags/],
  ]),
  needed: {
    "names the pin or the account": ["id", "username"],
    "what is chosen": ["items.id", "items.name"],
    "where the film goes": ["media_id", "upload_url", "upload_parameters.**"],
    "whether the film is done": ["status"],
  },
  scopes: { oauth: ["user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"] },
} satisfies PlatformFixture;
