import bluesky from "../../src/platforms/bluesky/index.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { JsonObject } from "../../src/ports/platform-io.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import type { AppContext } from "../../src/context.ts";
import { connectWithSecrets } from "../../src/channels/connecting/connections.ts";
import { findAccountRow } from "../../src/store/queries/accounts.ts";
import type { Tables, PostRow } from "../../src/store/schema/tables.ts";
import { DEFAULT_OWNER } from "../../src/domain/permissions.ts";
import { callOf, createTestContext, type TestContext } from "./context.ts";
import { createMemoryMedia, type MemoryMedia } from "./memory-media.ts";
import { addPost, drain, readPost } from "./publishing.ts";
import type { PdsUser } from "./pds.ts";

export interface PostContent {
  readonly caption?: string;
  readonly mediaUrl?: string;
  readonly metadata?: JsonObject;
}

export interface BlueskyWorld extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly media: Map<string, MemoryMedia>;
  connect(user: PdsUser, appPassword?: string): Promise<Tables["accounts"]>;
  /** A due post; goes on until it is published or has failed. */
  publish(account: Tables["accounts"], post: PostContent): Promise<PostRow>;
  schedule(account: Tables["accounts"], post: PostContent, overrides?: Partial<PostRow>): Promise<PostRow>;
  /** Works on what is due now. */
  tick(): Promise<void>;
  /** The same by another context over the same database. */
  tickWith(ctx: AppContext): Promise<void>;
  /**
   * Goes on, moving the clock, until the post is published, has failed, or its channel must be reconnected.
   */
  finish(id: string): Promise<PostRow>;
  read(id: string): Promise<PostRow>;
  readAccount(id: string): Promise<Tables["accounts"]>;
}

interface WorldOptions {
  /** Where every call of the network goes: the server itself, or a proxy before it. */
  readonly baseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Whole requests are given up after this; the product's own patience where left out. */
  readonly timeoutMs?: number;
  readonly overrides?: Partial<AppContext>;
}

/** The real publisher with the real platform and the real way out, over a database in memory. */
export async function createBlueskyWorld(options: WorldOptions): Promise<BlueskyWorld> {
  const media = new Map<string, MemoryMedia>();
  const door = createOutbound({
    allowedHosts: ["localhost", "127.0.0.1"].map((host) => ({ host, port: null })),
  });
  const { timeoutMs } = options;
  const outbound: Outbound =
    timeoutMs === undefined
      ? door
      : { ...door, request: (request) => door.request({ ...request, timeoutMs, idleMs: timeoutMs }) };
  const platformSettings = { POSTHORN_BLUESKY_BASE_URL: options.baseUrl, ...options.settings };
  const ctx = await createTestContext({
    platformList: [bluesky],
    outbound,
    media: createMemoryMedia(media),
    feed: { get: neverFeed, put: neverFeed, change: neverFeed, remove: neverFeed, keepMedia: neverFeed },
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings },
    ...options.overrides,
  });
  const finish = async (id: string): Promise<PostRow> => finishPost(ctx, id);
  const schedule: BlueskyWorld["schedule"] = (account, post, overrides) =>
    addPost(ctx, account, {
      caption: post.caption ?? null,
      media_url: post.mediaUrl ?? "",
      metadata: post.metadata === undefined ? null : JSON.stringify(post.metadata),
      ...overrides,
    });
  return {
    ctx,
    media,
    schedule,
    finish,
    tick: () => drain(ctx),
    tickWith: (other) => drain(other),
    read: (id) => readPost(ctx, id),
    readAccount: (id) => readAccount(ctx, id),
    connect: (user, appPassword) => connectUser(ctx, user, appPassword),
    publish: async (account, post) => finish((await schedule(account, post)).id),
    [Symbol.asyncDispose]: async () => {
      await ctx[Symbol.asyncDispose]();
      await door[Symbol.asyncDispose]();
    },
  };
}

async function neverFeed(): Promise<never> {
  throw new Error("Bluesky does not use the feed.");
}

async function connectUser(
  ctx: TestContext,
  user: PdsUser,
  appPassword?: string,
): Promise<Tables["accounts"]> {
  const secrets = {
    handle: user.handle,
    appPassword: appPassword ?? (await user.appPassword(`posthorn ${Math.random()}`)),
  };
  const { account } = await connectWithSecrets(callOf(ctx), { provider: "bluesky", secrets });
  return readAccount(ctx, account.id);
}

async function readAccount(ctx: TestContext, id: string): Promise<Tables["accounts"]> {
  const row = await findAccountRow(ctx.store, DEFAULT_OWNER, id);
  if (row === undefined) throw new Error("The account was not stored.");
  return row;
}

/** Works on what is due, moving the clock to the next try, until the post has come to its end. */
async function finishPost(ctx: TestContext, id: string): Promise<PostRow> {
  for (let round = 0; round < 40; round += 1) {
    await drain(ctx);
    const post = await readPost(ctx, id);
    if (post.status === "published" || post.status === "failed") return post;
    if ((await readAccount(ctx, post.account_id)).status === "reconnect_required") return post;
    await ctx.clock.advance(Math.max((post.next_at ?? 0) - ctx.clock.now(), 1_000));
  }
  return readPost(ctx, id);
}
