import type { AnyPlatform } from "../../../src/ports/platform.ts";
import vimeo from "../../../src/platforms/vimeo/index.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { insertAccount } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext } from "../../support/context.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createMemoryMedia, type MemoryMedia } from "../../support/memory-media.ts";
import { accountRow } from "../../support/publishing.ts";
import { APP, createFakeVimeo } from "./fake.ts";

export const SETTINGS = { POSTHORN_VIMEO_CLIENT_ID: APP.id, POSTHORN_VIMEO_CLIENT_SECRET: APP.secret };

/** Vimeo with an account that is connected to it by a token. */
export async function createVimeoWorld(platform: AnyPlatform = vimeo) {
  const clock = new FakeClock();
  const fake = createFakeVimeo({ now: () => clock.now() });
  const media = new Map<string, MemoryMedia>([
    [CLIP_URL, CLIP],
    [PHOTO_URL, PHOTO],
  ]);
  const ctx = await createTestContext({
    clock,
    outbound: fake.outbound,
    media: createMemoryMedia(media),
    platformList: [platform],
    settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings: SETTINGS },
  });
  const row = accountRow(ctx, { provider: "vimeo", platform_account_id: "152184", way: "token" });
  const account = { ...row, secrets_enc: sealSecrets(ctx, row, { accessToken: fake.state.grant() }) };
  await ctx.store.write((tx) => insertAccount(tx, account));
  return { ctx, clock, fake, media, platform, account };
}

export type VimeoWorld = Awaited<ReturnType<typeof createVimeoWorld>>;
