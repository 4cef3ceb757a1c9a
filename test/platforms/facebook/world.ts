import type { MediaSource } from "../../../src/ports/media.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import facebook from "../../../src/platforms/facebook/index.ts";
import { keepGrant } from "../../../src/channels/connecting/renew-tokens.ts";
import { sealSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { insertAccount, type AccountRow } from "../../../src/store/queries/accounts.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { accountRow } from "../../support/publishing.ts";
import { FakeFacebook } from "./fake.ts";
import { APP, PAGE_ID } from "./spec.ts";

export const LONG_CLIP_URL = "https://media.example/long.mp4";

export interface World extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly fake: FakeFacebook;
}

export interface PageWorld extends World {
  readonly account: AccountRow;
}

/** The platform on the fake, and nobody connected. */
export async function openWorld(
  platform: AnyPlatform = facebook,
  settings: Readonly<Record<string, string>> = {},
): Promise<World> {
  const clock = new FakeClock();
  const fake = new FakeFacebook(() => clock.now());
  const ctx = await createTestContext({
    platformList: [platform],
    outbound: fake,
    clock,
    media: stageMedia(),
  });
  Object.assign(ctx.settings.platformSettings, {
    POSTHORN_FACEBOOK_CLIENT_ID: APP.id,
    POSTHORN_FACEBOOK_CLIENT_SECRET: APP.secret,
    ...settings,
  });
  return { ctx, fake, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

/** The same with a Page, as connecting leaves it. */
export async function openPage(platform: AnyPlatform = facebook): Promise<PageWorld> {
  const world = await openWorld(platform);
  const { ctx, fake } = world;
  const secrets = { accessToken: fake.people.give("user-token-canary", { kind: "user" }) };
  const pageToken = fake.people.give("page-token-canary", { kind: "page", pageId: PAGE_ID });
  const account = await ctx.store.write(async (tx) => {
    const grant_id = await keepGrant(ctx, tx, {
      ownerId: "default",
      platform,
      way: platform.connect[0],
      place: { instanceUrl: null, redirectUrl: "" },
      tokens: { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} },
    });
    const ids = {
      provider: platform.name,
      name: "The Horn",
      platform_account_id: PAGE_ID,
      way: "oauth",
      grant_id,
    };
    const row = accountRow(ctx, ids);
    const sealed = { ...row, secrets_enc: sealSecrets(ctx, row, { pageToken }) };
    await insertAccount(tx, sealed);
    return sealed;
  });
  return { ...world, account };
}

function stageMedia(): MediaSource {
  return createMemoryMedia(
    new Map([
      [PHOTO_URL, PHOTO],
      [CLIP_URL, CLIP],
      [LONG_CLIP_URL, CLIP],
    ]),
  );
}
