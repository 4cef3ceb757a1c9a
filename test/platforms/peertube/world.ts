import type { AnyPlatform } from "../../../src/ports/platform.ts";
import peertube from "../../../src/platforms/peertube/index.ts";
import { keepGrant } from "../../../src/channels/connecting/renew-tokens.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { insertAccount, type AccountRow } from "../../../src/store/queries/accounts.ts";
import type { AppContext } from "../../../src/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext } from "../../support/context.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createMemoryMedia, type MemoryMedia } from "../../support/memory-media.ts";
import { accountRow } from "../../support/publishing.ts";
import { createFakePeertube, SERVER } from "./fake.ts";
import { PERSON } from "./tokens.ts";

/** A server with a channel that is connected to it. */
export async function createPeertubeWorld(platform: AnyPlatform = peertube) {
  const clock = new FakeClock();
  const fake = createFakePeertube({ now: () => clock.now() });
  const media = new Map<string, MemoryMedia>([
    [CLIP_URL, CLIP],
    [PHOTO_URL, PHOTO],
  ]);
  const ctx = await createTestContext({
    clock,
    outbound: fake.outbound,
    media: createMemoryMedia(media),
    platformList: [platform],
  });
  const account = await addChannel(ctx, platform, fake.tokens.grant());
  return { ctx, clock, fake, media, platform, account };
}

export type PeertubeWorld = Awaited<ReturnType<typeof createPeertubeWorld>>;

/** As connecting leaves it. */
async function addChannel(
  ctx: AppContext,
  platform: AnyPlatform,
  secrets: Readonly<Record<string, string>>,
): Promise<AccountRow> {
  const [way] = platform.connect;
  const tokens = { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} };
  const place = { instanceUrl: SERVER, redirectUrl: "" };
  return ctx.store.write(async (tx) => {
    const grant_id = await keepGrant(ctx, tx, { ownerId: "default", platform, way, place, tokens });
    const row = accountRow(ctx, {
      provider: platform.name,
      name: "Horns",
      platform_account_id: "7",
      settings: JSON.stringify({ instanceUrl: SERVER, accountName: PERSON.username }),
      grant_id,
      way: way.name,
    });
    const sealed = { ...row, secrets_enc: sealSecrets(ctx, row, {}) };
    await insertAccount(tx, sealed);
    return sealed;
  });
}
