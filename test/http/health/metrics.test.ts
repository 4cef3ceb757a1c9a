import { afterEach, beforeEach, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { ASSERTIONS } from "../../../src/domain/assertions.ts";
import { assert } from "../../../src/domain/errors.ts";
import { HOUR, MINUTE } from "../../../src/domain/time.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";
import { addAccount, addPost, drain } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { queryOf } from "../../support/handles.ts";

const TOKEN = "a-token-for-the-scraper";

const { tools } = await loadCatalog();
let ctx: TestContext;
let server: TestServer;

beforeEach(async () => {
  const platform = scriptedPlatform({
    publish: async (post) => {
      if (post.caption === "bad") throw new Error("It does not work.");
      await ctx.clock.advance(post.caption === "slow" ? 1_700 : 0);
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });
  ctx = await createTestContext({
    platformList: [platform],
    media: { forPost: () => ({}) as never, release: async () => {} } as never,
  });
  server = await startTestServer(ctx, tools, { metricsToken: TOKEN });
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
});

const scrape = () => server.ask("GET /metrics", { key: TOKEN });

/** Each line's value by its name and labels. */
async function samples(): Promise<Record<string, number>> {
  const { text } = await scrape();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => {
      const match = /^([a-z_:][\w:]*(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})?) (\S+)$/i.exec(line);
      expect(match, line).not.toBeNull();
      return [match![1]!, Number(match![2])];
    }),
  );
}

it("is there for whoever brings the token alone, and nowhere without a token", async () => {
  for (const key of [null, "wrong", await server.keyFor("default")]) {
    const refused = await server.ask("GET /metrics", { key });
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    expect(refused.text).not.toContain("posthorn_");
  }
  const page = await scrape();
  expect([page.status, page.headers["content-type"]]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect((await server.ask("POST /metrics", { key: TOKEN })).status).toBe(405);
  await using other = await startTestServer(ctx, tools);
  expect((await other.ask("GET /metrics", { key: TOKEN })).status).toBe(404);
});

it("counts posts, attempts and lateness by platform", async () => {
  const account = await addAccount(ctx);
  await addPost(ctx, account, { caption: "good" });
  await drain(ctx);
  await addPost(ctx, account, { caption: "slow" });
  await drain(ctx);
  await addPost(ctx, account, { caption: "bad" });
  await drain(ctx);
  await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR, due_at: ctx.clock.now() + HOUR });
  expect(await samples()).toMatchObject({
    'posthorn_posts{status="scheduled"}': 1,
    'posthorn_posts{status="published"}': 2,
    'posthorn_posts{status="failed"}': 1,
    'posthorn_posts{status="cancelled"}': 0,
    posthorn_posts_overdue: 0,
    posthorn_publishers: 0,
    'posthorn_publish_attempts_total{provider="scripted",outcome="published"}': 2,
    'posthorn_publish_attempts_total{provider="scripted",outcome="failed"}': 1,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="0.05"}': 1,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="1"}': 1,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="2.5"}': 2,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="3600"}': 2,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="+Inf"}': 2,
    'posthorn_publish_lateness_seconds_sum{provider="scripted"}': 1.7,
    'posthorn_publish_lateness_seconds_count{provider="scripted"}': 2,
    'posthorn_info{version="0.0.0-test"}': 1,
  });
});

it("counts the checks of its own that failed, each under its name from the first", async () => {
  const named = async (): Promise<[string, number][]> =>
    Object.entries(await samples()).filter(([name]) => name.startsWith("posthorn_assertion_failures_total"));
  const before = await named();
  expect(before.map(([name]) => name)).toEqual(
    Object.keys(ASSERTIONS).map((name) => `posthorn_assertion_failures_total{assertion="${name}"}`),
  );
  expect(() => assert("send_due", false, "post_1")).toThrow("before its time");
  // Of the whole process: other tests may have made some fail.
  const more = (await named()).map(([name, count], at): [string, number] => [
    name,
    count - (before[at]?.[1] ?? 0),
  ]);
  expect(more.filter(([, count]) => count > 0)).toEqual([
    ['posthorn_assertion_failures_total{assertion="send_due"}', 1],
  ]);
});

it("counts what is later than the last bound, and what is overdue, from one minute to the next", async () => {
  const account = await addAccount(ctx);
  await addPost(ctx, account, {
    scheduled_at: ctx.clock.now() - 2 * HOUR,
    next_at: ctx.clock.now() - 2 * MINUTE,
  });
  expect(await samples()).toMatchObject({
    posthorn_posts_overdue: 1,
    'posthorn_posts{status="scheduled"}': 1,
  });
  await queryOf(ctx.store)
    .updateTable("posts")
    .set({ scheduled_at: ctx.clock.now() - 2 * HOUR })
    .execute();
  await drain({ ...ctx, settings: { ...ctx.settings, maxLatenessMs: 9 * HOUR } });
  expect(await samples()).toMatchObject({
    posthorn_posts_overdue: 0,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="3600"}': 0,
    'posthorn_publish_lateness_seconds_bucket{provider="scripted",le="+Inf"}': 1,
    'posthorn_posts{status="scheduled"}': 1,
  });
  await ctx.clock.advance(MINUTE);
  expect(await samples()).toMatchObject({
    'posthorn_posts{status="scheduled"}': 0,
    'posthorn_posts{status="published"}': 1,
  });
});

it("tells how long requests took by the pattern of their address, and how many events wait", async () => {
  const webhook = {
    id: "whk_1",
    address: "https://x.example",
    secrets_enc: "",
    events: '["post.scheduled"]',
    account_ids: null,
  };
  const standing = {
    status: "failing",
    status_reason: null,
    failing_since: null,
    lease_worker: null,
    lease_until: 0,
  } as const;
  await queryOf(ctx.store)
    .insertInto("webhooks")
    .values({ ...webhook, ...standing, owner_id: "default", created_at: 0, updated_at: 0 })
    .execute();
  await addPost(ctx, await addAccount(ctx));
  await ctx.clock.advance(5_000);
  await server.ask("GET /api/v1/posts/post_a");
  await server.ask("GET /api/v1/posts/post_b/?insights=1");
  await server.ask("GET /nowhere/at/all");
  await server.ask("POST /api/v1/tools/get_status", { json: {} });
  const found = await samples();
  expect(found).toMatchObject({
    'posthorn_http_request_duration_seconds_count{route="/api/v1/posts/:id",status="404",method="GET"}': 2,
    'posthorn_http_request_duration_seconds_count{route="other",status="404",method="GET"}': 1,
    'posthorn_webhooks{status="failing"}': 1,
    posthorn_events_pending: 1,
    posthorn_events_oldest_due_seconds: 5,
  });
  expect(found).toHaveProperty("process_cpu_seconds_total");
  const text = (await scrape()).text;
  for (const hidden of ["post_a", "default", "My channel", "x.example", TOKEN])
    expect(text).not.toContain(hidden);
});
