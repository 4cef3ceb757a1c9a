import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { startPublisher, type Publisher } from "../../src/publishing/loop.ts";
import { connectChannel, disconnectChannel } from "../../src/channels/connecting/connections.ts";
import type { AppContext } from "../../src/context.ts";
import { openStore } from "../../src/store/open-store.ts";
import { giveGrant } from "../../src/store/queries/accounts.ts";
import { findGrant, insertGrant, storeRenewed, takeRenewal } from "../../src/store/queries/grants.ts";
import { FakeClock } from "../support/clock.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** In real time: what "within 5 s" promises. */
const SOON = { timeout: 5_000, interval: 20 };

let folder: ReturnType<typeof temporaryFolder>;
let clock: FakeClock;
let ctx: TestContext;
let publishers: Publisher[];
let onPublish: () => Promise<unknown>;
const opened: TestContext[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock();
  publishers = [];
  onPublish = async () => {};
  ctx = await open();
});
afterEach(async () => {
  for (const publisher of publishers) await publisher.close(10);
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A process on the one data folder. */
async function open(): Promise<TestContext> {
  const own: Publisher[] = [];
  const process = await createTestContext({
    store: await openStore({ file: join(folder.path, "posthorn.db"), locks: join(folder.path, "workers") }),
    clock,
    platformList: [
      scriptedPlatform({
        publish: async (post) => {
          await onPublish();
          return { state: "live", platformPostId: post.id, platformUrl: null };
        },
      }),
    ],
    media: { forPost: () => ({}) as never, release: async () => {} },
    workerId: newId("wrk"),
    wakePublisher: () => own.forEach((one) => one.wake()),
  });
  opened.push(process);
  started.set(process, own);
  return process;
}
const started = new WeakMap<AppContext, Publisher[]>();

async function start(process: TestContext): Promise<void> {
  const publisher = await startPublisher(process, {
    identity: { role: "serve", host: "test", pid: 1, version: "0" },
  });
  publishers.push(publisher);
  started.get(process)?.push(publisher);
}

const reconnect = (accountId: string): Promise<unknown> =>
  connectChannel(callOf(ctx), { provider: "scripted", accountId });

const becomes = (id: string, row: object): Promise<void> =>
  expect.poll(() => readPost(ctx, id), SOON).toMatchObject(row);

describe("a post that is due on a channel that cannot be used", () => {
  it.each(["disconnected", "reconnect_required"] as const)("waits and says so once: %s", async (status) => {
    await start(ctx);
    const account = await addAccount(ctx, { status, status_reason: "The password was refused." });
    const post = await addPost(ctx, account, { scheduled_at: clock.now() + 10 * SECOND });
    const future = await addPost(ctx, account, { scheduled_at: clock.now() + HOUR });
    const before = await readPost(ctx, future.id);
    await clock.advance(10 * SECOND);
    const at = clock.now();
    const says = { status: "scheduled", error: expect.stringMatching(/reconnected first\. The password/) };
    await becomes(post.id, { ...says, updated_at: at, attempts: 0 });
    for (let minute = 1; minute <= 3; minute++) {
      await clock.advance(MINUTE);
      await becomes(post.id, { ...says, updated_at: at, next_at: clock.now() + MINUTE });
    }
    expect(await readPost(ctx, future.id)).toEqual(before);
  });

  it.each(["this process", "another process"])("starts when it is connected again, in %s", async (whose) => {
    await start(whose === "this process" ? ctx : await open());
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { scheduled_at: clock.now() + SECOND });
    const future = await addPost(ctx, account, { scheduled_at: clock.now() + HOUR });
    await disconnectChannel(callOf(ctx), { accountId: account.id });
    await clock.advance(SECOND);
    await becomes(post.id, {
      status: "scheduled",
      error: expect.stringContaining("must be reconnected first"),
    });
    await clock.advance(5 * SECOND);
    await reconnect(account.id);
    await becomes(post.id, { status: "published", error: null, attempts: 1 });
    expect(await readPost(ctx, future.id)).toMatchObject({ status: "scheduled", attempts: 0, error: null });
  });

  it("fails when its time is over, a moment later, and says how to go on", async () => {
    await start(ctx);
    const account = await addAccount(ctx, { status: "disconnected" });
    const post = await addPost(ctx, account);
    await becomes(post.id, { error: expect.stringContaining("must be reconnected first") });
    await clock.advance(HOUR - 500);
    await becomes(post.id, { status: "scheduled", next_at: post.scheduled_at + HOUR + 1 });
    await clock.advance(501);
    await becomes(post.id, {
      status: "failed",
      error: expect.stringMatching(
        /^It missed its time\. .*must be reconnected first\..* Then send it again\.$/,
      ),
      next_at: null,
    });
  });
});

describe("a post whose tokens were refused", () => {
  const refuse = async (): Promise<never> => {
    throw new PlatformFault("auth", "The password was refused.");
  };

  it("waits with one sentence, and starts when its channel is connected again", async () => {
    onPublish = refuse;
    await start(ctx);
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account);
    await becomes(post.id, { status: "scheduled", error: expect.stringContaining("password was refused") });
    const at = clock.now();
    await clock.advance(2 * SECOND);
    // Looked at, and nothing new to say.
    await becomes(post.id, { status: "scheduled", next_at: clock.now() + MINUTE, updated_at: at });
    onPublish = async () => {};
    await reconnect(account.id);
    await becomes(post.id, { status: "published", error: null, attempts: 2 });
  });

  it("tries again at once where the channel was connected anew while it was on its way", async () => {
    let goOn = (): void => {};
    let isOnItsWay = false;
    onPublish = async () => {
      isOnItsWay = true;
      await new Promise<void>((resolve) => (goOn = resolve));
      await refuse();
    };
    await start(ctx);
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account);
    await expect.poll(() => isOnItsWay, SOON).toBe(true);
    await reconnect(account.id);
    onPublish = async () => {};
    goOn();
    await becomes(post.id, { status: "scheduled", lease_worker: null });
    await clock.advance(SECOND);
    await becomes(post.id, { status: "published", error: null });
  });
});

describe("tokens that are refreshed", () => {
  /** By a worker that asked the platform for new tokens because those of this account were refused. */
  const refresh = async (account: Awaited<ReturnType<typeof addAccount>>, version = 1) => {
    const grant = { owner_id: account.owner_id, id: `grt_${account.id}`, secrets_version: version };
    return ctx.store.write(async (tx) => {
      if ((await findGrant(tx, grant)) === undefined) {
        const made = { provider: "scripted", way: "token", instance_url: null, redirect_url: "" };
        const times = { renewed_at: 0, created_at: 0, updated_at: 0 };
        const ends = { expires_at: null, renewable_until: null, renew_at: null, scopes: null };
        const free = { renewing_worker: null, renewing_since: null, secrets_enc: "" };
        await insertGrant(tx, { ...grant, ...made, ...times, ...ends, ...free, secrets_version: 1 });
        await giveGrant(tx, account, { grant_id: grant.id, secrets_enc: "" });
      }
      await takeRenewal(tx, grant, { worker: "wrk_refresh", now: clock.now() });
      return storeRenewed(tx, grant, {
        worker: "wrk_refresh",
        secretsEnc: "",
        scopes: null,
        expiresAt: null,
        renewableUntil: null,
        renewAt: null,
        accessEndsAt: null,
        healed: account.id,
        now: clock.now(),
      });
    });
  };
  const readAccount = (id: string) =>
    queryOf(ctx.store).selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  it("start what waited for the account, in any process", async () => {
    await start(await open());
    const account = await addAccount(ctx, { status: "reconnect_required" });
    const post = await addPost(ctx, account);
    await becomes(post.id, { error: expect.stringContaining("must be reconnected first") });
    expect(await refresh(account, 7)).toBe(false);
    expect((await readAccount(account.id)).status).toBe("reconnect_required");
    expect(await refresh(account)).toBe(true);
    await becomes(post.id, { status: "published", error: null });
  });

  it("change nothing about posts where the account could be used all along", async () => {
    const account = await addAccount(ctx);
    const retry = { error: "It broke.", tries: 1, next_at: clock.now() + MINUTE };
    const post = await readPost(ctx, (await addPost(ctx, account, retry)).id);
    expect(await refresh(account)).toBe(true);
    expect(await readPost(ctx, post.id)).toEqual(post);
    expect(await readAccount(account.id)).toMatchObject({ next_allowed_at: 0, wait_cause: null });
  });

  it("leave a pause that the platform asked for", async () => {
    const until = clock.now() + MINUTE;
    const account = await addAccount(ctx, {
      status: "reconnect_required",
      next_allowed_at: until,
      wait_cause: "rate_limit",
    });
    expect(await refresh(account)).toBe(true);
    expect(await readAccount(account.id)).toMatchObject({
      status: "connected",
      next_allowed_at: until,
      wait_cause: "rate_limit",
    });
  });
});
