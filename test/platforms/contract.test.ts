import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/catalog.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import bluesky from "../../src/platforms/bluesky.ts";
import feed from "../../src/platforms/feed.ts";
import webhook from "../../src/platforms/webhook.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import type { MediaSource } from "../../src/ports/media.ts";
import { connectWithSecrets } from "../../src/services/accounts/connections.ts";
import { findAccountRow } from "../../src/store/tables/accounts.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createFeedShelf } from "../../src/store/tables/feed-items.ts";
import type { Tables } from "../../src/store/engine/schema.ts";
import { createBlueskyWorld } from "../support/bluesky.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { createMemoryMedia } from "../support/memory-media.ts";
import { startPds, type TestPds } from "../support/pds.ts";
import { addAccount } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlatform, type PlatformFixture, type Stage } from "../support/test-platform.ts";
import { startReceiver } from "../support/webhook-receiver.ts";
import { queryOf } from "../support/handles.ts";

const PHOTO_URL = "https://media.example/photo.jpg";
const PHOTO = {
  bytes: readFileSync(new URL("../fixtures/photo.jpg", import.meta.url)),
  mimeType: "image/jpeg",
  width: 64,
  height: 48,
};

const createMedia = (): MediaSource => createMemoryMedia(new Map([[PHOTO_URL, PHOTO]]));

const PICTURES = { altText: "A horn", moreMedia: [{ url: PHOTO_URL, altText: "The same horn" }] };

async function openFeed(platform: AnyPlatform): Promise<Stage> {
  const folder = temporaryFolder();
  const store = await openStore({ file: ":memory:" });
  const feedShelf = createFeedShelf(store, createFolderStore(folder.path));
  const ctx = await createTestContext({
    store,
    platformList: [platform],
    media: createMedia(),
    feed: feedShelf,
  });
  return {
    ctx,
    account: await addAccount(ctx, { provider: "feed" }),
    published: async () =>
      (await queryOf(store).selectFrom("feed_items").select("id").where("is_public", "=", 1).execute())
        .length,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function openWebhook(platform: AnyPlatform): Promise<Stage> {
  const receiver = await startReceiver();
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const ctx = await createTestContext({
    platformList: [platform],
    outbound,
    media: createMedia(),
    feed: {} as never,
  });
  return {
    ctx,
    account: await connect(ctx, { provider: "webhook", secrets: { url: receiver.url } }),
    published: async () => receiver.processed.size,
    async [Symbol.asyncDispose]() {
      for (const closer of [ctx, outbound, receiver]) await closer[Symbol.asyncDispose]();
    },
  };
}

let pds: TestPds;
beforeAll(async () => {
  pds = await startPds();
});
afterAll(() => pds[Symbol.asyncDispose]());

async function openBluesky(platform: AnyPlatform): Promise<Stage> {
  const world = await createBlueskyWorld({
    baseUrl: pds.url,
    overrides: { platforms: new Map([[platform.name, platform]]) },
  });
  world.media.set(PHOTO_URL, PHOTO);
  const user = await pds.createUser();
  return {
    ctx: world.ctx,
    account: await world.connect(user),
    // A thread is one post of ours.
    published: async () => (await user.records()).filter(({ value }) => value["reply"] === undefined).length,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

async function connect(
  ctx: TestContext,
  args: Parameters<typeof connectWithSecrets>[1],
): Promise<Tables["accounts"]> {
  const { account } = await connectWithSecrets(callOf(ctx), args);
  const row = await findAccountRow(ctx.store, callerOf().ownerId, account.id);
  if (row === undefined) throw new Error("The account was not stored.");
  return row;
}

const STAGES: readonly (readonly [AnyPlatform, PlatformFixture])[] = [
  [
    bluesky,
    {
      openStage: openBluesky,
      post: {
        caption: "A horn",
        media_url: PHOTO_URL,
        metadata: { ...PICTURES, thread: [{ caption: "And more", mediaUrl: PHOTO_URL }] },
      },
    },
  ],
  [
    feed,
    {
      openStage: openFeed,
      post: {
        caption: "A horn",
        media_url: PHOTO_URL,
        metadata: { ...PICTURES, title: "News", thumbnailUrl: PHOTO_URL },
      },
    },
  ],
  [
    webhook,
    { openStage: openWebhook, post: { caption: "A horn", media_url: PHOTO_URL, metadata: PICTURES } },
  ],
];

for (const [platform, fixture] of STAGES) testPlatform(platform, fixture);

it("leaves no platform out", async () => {
  const { platforms } = await loadCatalog();
  expect(STAGES.map(([{ name }]) => name)).toEqual(platforms.map(({ name }) => name));
});
