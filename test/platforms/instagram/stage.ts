import { expectAskedRightly } from "../../support/contract/ends.ts";
import { Readable } from "node:stream";
import { DAY } from "../../../src/domain/time.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { unfitWith, type PlatformFixture, type Stage, type Trouble } from "../../support/contract/stage.ts";
import { createInstagram, type Instagram } from "./fake.ts";
import { refusal, type Answer } from "./meta-door.ts";
import { CLIENT } from "./meta-tokens.ts";
import { connectByConsent, createFetchedMedia } from "./stage-kit.ts";

export interface InstagramStage extends Stage {
  readonly ctx: TestContext;
  readonly instagram: Instagram;
}

/** A context in which nothing is connected yet. */
export async function openInstagram(platform: AnyPlatform) {
  const media = createFetchedMedia();
  const clock = new FakeClock();
  const instagram = createInstagram({ clock, fetched: media.fetched });
  const ctx = await createTestContext({ platformList: [platform], outbound: instagram.door, media, clock });
  Object.assign(ctx.settings.platformSettings, {
    POSTHORN_INSTAGRAM_CLIENT_ID: CLIENT.id,
    POSTHORN_INSTAGRAM_CLIENT_SECRET: CLIENT.secret,
  });
  return { ctx, instagram };
}

export async function openStage(platform: AnyPlatform): Promise<InstagramStage> {
  const { ctx, instagram } = await openInstagram(platform);
  const [account] = await connectByConsent(ctx, { provider: "instagram", agree: instagram.tokens.consent });
  if (account === undefined) throw new Error("Nothing was connected.");
  // A token can be renewed from its second day on.
  await ctx.clock.advance(2 * DAY);
  return stageOf({ ctx, account, instagram });
}

export function stageOf({
  ctx,
  account,
  instagram,
}: Pick<InstagramStage, "ctx" | "account" | "instagram">): InstagramStage {
  const visible = () => {
    expectAskedRightly(instagram.door);
    return instagram.shelf.posts.filter(({ isDeleted }) => !isDeleted);
  };
  return {
    ctx,
    account,
    instagram,
    wrong: instagram.door.wrong,
    published: async () => visible().length,
    captions: async () => visible().map(({ fields }) => fields["caption"] ?? ""),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

/** In its own form, with what else its answers say. */
export function refusesWith({ status, body, headers = {} }: Answer): Trouble {
  return async (): Promise<OutboundResponse> => ({
    status,
    headers,
    url: "",
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  });
}

const usage = {
  "x-business-use-case-usage": '{"1":[{"type":"instagram","estimated_time_to_regain_access":2}]}',
};
const transient = { error: { message: "Later", type: "OAuthException", code: 2, is_transient: true } };

/** Errors that all of Meta's platforms answer with. */
export const META_TROUBLES: Readonly<Record<string, Trouble>> = {
  "meets the app's limit": refusesWith({ ...refusal(4), headers: usage }),
  "meets trouble that passes": refusesWith({ status: 400, body: transient }),
};

export default {
  openStage,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, firstComment: "More of it soon" },
  },
  otherPosts: {
    "a reel": { caption: "It sounds", media_url: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } },
    "a picture of people": {
      caption: "Who blows",
      media_url: PHOTO_URL,
      metadata: { userTags: [{ username: "@blower", x: 0.5, y: 0.25 }], comments: false },
    },
    "a trial reel": {
      caption: "It tries",
      media_url: CLIP_URL,
      metadata: { trialReel: "manual", userTags: [{ username: "blower" }] },
    },
    "a picture made by AI": {
      caption: "No horn",
      media_url: PHOTO_URL,
      metadata: { aiGenerated: true },
    },
    "a story": { caption: "", media_url: PHOTO_URL, metadata: { story: true } },
  },
  troubles: META_TROUBLES,
  refusesToken: refusesWith(refusal(190, 463, 401)),
  refusals: [
    {
      at: /media_publish/,
      told: [
        [/spam/, refusesWith(refusal(4, 2_207_051))],
        [/rules/, refusesWith(refusal(368))],
      ],
    },
    { at: /\/media$/, told: [[/restricted/, refusesWith(refusal(25, 2_207_050))]] },
    { at: /media_publish/, end: "reconnect", told: [[/permission/, refusesWith(refusal(10))]] },
  ],
  unfit: [
    [{}, /^mediaUrl/],
    ...unfitWith(PHOTO_URL, [
      [{}, /^caption: .*30 hashtags/, Array.from({ length: 31 }, (_, n) => `#a${n}`).join(" ")],
      [{}, /^caption: .*20 people/, Array.from({ length: 21 }, (_, n) => `@a${n}`).join(" ")],
      [{ story: true, moreMedia: [{ url: PHOTO_URL }] }, /moreMedia/],
      [{ thumbOffsetMs: 1, moreMedia: [{ url: PHOTO_URL }] }, /thumbOffsetMs/],
      [{ moreMedia: Array(10).fill({ url: PHOTO_URL }) }, /moreMedia/],
      [{ collaborators: ["a", "b", "c", "d"] }, /collaborators/],
      [{ nope: 1 }, /nope/],
    ]),
  ],
  needed: {
    "names the container, the post or the account": ["id"],
    "whether the container is done": ["status_code"],
    "whose number it is": ["data.name"],
    "the number itself": ["data.quota_usage"],
  },
  scopes: {
    instagram: [
      "instagram_business_basic",
      "instagram_business_content_publish",
      "instagram_business_manage_insights",
      "instagram_business_manage_comments",
    ],
    facebook: [
      "instagram_basic",
      "instagram_content_publish",
      "instagram_manage_insights",
      "instagram_manage_comments",
      "pages_show_list",
      "pages_read_engagement",
    ],
  },
  askedOnlyWhen: {
    business_management: "asked for only when accounts of business portfolios' Pages are wanted",
    instagram_manage_contents: "asked for only when live posts are to be deleted",
  },
  gated: [
    [{ firstComment: "First" }, { scopes: ["instagram_basic"] }, "refused"],
    [{ comments: false }, { scopes: ["instagram_business_basic"] }, "refused"],
    [{ trialReel: "manual" }, {}, "warned"],
    [{ comments: true }, { scopes: ["instagram_basic"] }, "taken"],
  ],
  previews: {
    "shows a story without text": {
      post: { caption: "a", mediaUrl: PHOTO_URL, metadata: { story: true } },
      shown: { text: null, note: "A story: Instagram shows it without a text, for a day." },
    },
  },
} satisfies PlatformFixture;
