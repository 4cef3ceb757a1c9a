import type { AnyPlatform } from "../../../src/ports/platform.ts";
import youtube from "../../../src/platforms/youtube/index.ts";
import { keepGrant } from "../../../src/channels/connecting/renew-tokens.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { insertAccount, type AccountRow } from "../../../src/store/queries/accounts.ts";
import type { AppContext } from "../../../src/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext } from "../../support/context.ts";
import {
  CLIP,
  CLIP_URL,
  PHOTO,
  PHOTO_URL,
  SUBTITLES,
  SUBTITLES_URL,
} from "../../support/contract/stage-media.ts";
import { createMemoryMedia, type MemoryMedia } from "../../support/memory-media.ts";
import { accountRow } from "../../support/publishing.ts";
import { createFakeYoutube } from "./fake.ts";
import { APP } from "./tokens.ts";

export const SETTINGS = {
  POSTHORN_YOUTUBE_CLIENT_ID: APP.id,
  POSTHORN_YOUTUBE_CLIENT_SECRET: APP.secret,
};

export const PLACE = { instanceUrl: null, redirectUrl: "http://localhost:4747/connect/callback" };

/** YouTube with a channel that is connected to it. */
export async function createYoutubeWorld(platform: AnyPlatform = youtube) {
  const clock = new FakeClock();
  const fake = createFakeYoutube({ now: () => clock.now() });
  const media = new Map<string, MemoryMedia>([
    [CLIP_URL, CLIP],
    [PHOTO_URL, PHOTO],
    [SUBTITLES_URL, SUBTITLES],
  ]);
  const ctx = await createTestContext({
    clock,
    outbound: fake.outbound,
    media: createMemoryMedia(media),
    feed: {} as never,
    platformList: [platform],
    settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings: SETTINGS },
  });
  return { ctx, clock, fake, media, platform, account: await addChannel(ctx, platform, fake.tokens.grant()) };
}

export type YoutubeWorld = Awaited<ReturnType<typeof createYoutubeWorld>>;

/** As connecting leaves it. */
export async function addChannel(
  ctx: AppContext,
  platform: AnyPlatform,
  secrets: Readonly<Record<string, string>>,
): Promise<AccountRow> {
  const [way] = platform.connect;
  const tokens = { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} };
  return ctx.store.write(async (tx) => {
    const grant_id = await keepGrant(ctx, tx, { ownerId: "default", platform, way, place: PLACE, tokens });
    const row = accountRow(ctx, {
      provider: platform.name,
      name: "Horn Channel",
      platform_account_id: "UChorn00000000000000000",
      settings: JSON.stringify({ uploads: "UUhorn00000000000000000" }),
      grant_id,
      way: way.name,
    });
    const sealed = { ...row, secrets_enc: sealSecrets(ctx, row, {}) };
    await insertAccount(tx, sealed);
    return sealed;
  });
}
