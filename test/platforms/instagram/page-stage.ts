import { keepGrant } from "../../../src/channels/connecting/renew-tokens.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { insertAccount } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { accountRow } from "../../support/publishing.ts";
import { createInstagram, USER_ID } from "./fake.ts";
import { refusal } from "./meta-door.ts";
import { createFetchedMedia } from "./stage-kit.ts";
import instagram, { type InstagramStage, META_TROUBLES, refusesWith, stageOf } from "./stage.ts";

/** An account that is used through its Page, on a machine whose films nobody can fetch. */
export async function openPageStage(platform: AnyPlatform): Promise<InstagramStage> {
  const media = createFetchedMedia({ isHome: true });
  const clock = new FakeClock();
  const pageToken = "page-token-canary";
  const instagram = createInstagram({ clock, fetched: media.fetched, pageToken });
  const ctx = await createTestContext({ platformList: [platform], outbound: instagram.door, media, clock });
  const account = await ctx.store.write(async (tx) => {
    const grant_id = await keepGrant(ctx, tx, {
      ownerId: "default",
      platform,
      way: platform.connect[1] ?? platform.connect[0],
      place: { instanceUrl: null, redirectUrl: "" },
      tokens: {
        secrets: { accessToken: "user-token-canary" },
        expiresAt: null,
        renewableUntil: null,
        scopes: null,
        answer: {},
      },
    });
    const settings = JSON.stringify({ login: "facebook", pageId: "2" });
    const ids = { provider: platform.name, name: "The Horn", platform_account_id: USER_ID };
    const row = accountRow(ctx, { ...ids, way: "facebook", grant_id, settings });
    const sealed = { ...row, secrets_enc: sealSecrets(ctx, row, { pageToken }) };
    await insertAccount(tx, sealed);
    return sealed;
  });
  return stageOf({ ctx, account, instagram });
}

export default {
  openStage: openPageStage,
  post: {
    caption: "It sounds",
    media_url: CLIP_URL,
    metadata: { firstComment: "More of it soon" },
  },
  otherPosts: {
    "a carousel with films": {
      caption: "All of it",
      media_url: CLIP_URL,
      metadata: { moreMedia: [{ url: PHOTO_URL }, { url: CLIP_URL }], aiGenerated: true },
    },
    "a story": { caption: "", media_url: CLIP_URL, metadata: { story: true } },
  },
  troubles: META_TROUBLES,
  refusesToken: refusesWith(refusal(190, 463, 401)),
  needed: instagram.needed,
} satisfies PlatformFixture;
