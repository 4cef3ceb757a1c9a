import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Agent } from "undici";
import { loadCatalog } from "../../src/app/setup.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { isOnPostgres } from "../support/context.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

const { tools } = await loadCatalog();

/** 1,000 inputs a tool, sent some at a time. */
const AT_ONCE = 20;
const ROUNDS = 50;

const MEANT_STATUSES = new Set([200, 400, 404, 409, 503]);

let service: Service;
let key: string;
let agent: Agent;
let ids: readonly string[];

beforeEach(async () => {
  service = await startService();
  agent = new Agent({ connections: AT_ONCE });
  key = await service.keyFor("default");
  const account = await service.addFeed();
  const posts = ["scheduled", "published", "failed", "uploaded", "cancelled"];
  const made = await Promise.all(
    posts.map((status) => service.call("schedule_post", { accountId: account, caption: status })),
  );
  for (const [at, { post }] of made.entries()) {
    await queryOf(service.ctx.store)
      .updateTable("posts")
      .set({ status: posts[at] as "failed" })
      .where("id", "=", post.id)
      .execute();
  }
  ids = [account, ...made.map(({ post }) => post.id), "acc_missing", "post_missing"];
});

afterEach(async () => {
  await agent.close();
  await service[Symbol.asyncDispose]();
});

/** Texts on which software stumbles. */
const nasty = fc.constantFrom(
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e",
  "💥".repeat(40),
  "x".repeat(5_000),
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "%00%0a",
  "../../etc/passwd",
  "file:///etc/passwd",
  "http://127.0.0.1:1/",
  "https://[::1]/",
  "https://example.com/a.jpg",
  "r2://x/../y",
  "r2://a/b.jpg",
  "file_missing",
  "2026-13-45",
  "2026-11-21T10:00:00",
  "+275760-09-13T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "2027-01-01",
  "NaN",
  "null",
  "<script>alert(1)</script>",
  "feed",
  "webhook",
  "bluesky",
  "published",
  "not_published",
  "scheduled",
  '"',
  "*",
  "a OR b NOT c",
  "日本語",
);

const number = fc.oneof(
  fc.integer({ min: -3, max: 600 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 1e308, 2 ** 53),
);

function anyValue(known: readonly string[]): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    nasty,
    nasty,
    fc.constantFrom(...known),
    fc.string({ unit: "binary" }),
    number,
    fc.boolean(),
    fc.constant(null),
  );
  const field = fc.oneof(
    nasty,
    fc.constantFrom(
      "title",
      "tags",
      "altText",
      "moreMedia",
      "thumbnailUrl",
      "accountId",
      "caption",
      "mediaUrl",
      "url",
    ),
  );
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(field, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
}

/** Near enough to what the tool takes to get past the first check, often. */
function argsOf(tool: AnyTool, known: readonly string[]): fc.Arbitrary<unknown> {
  const value = anyValue(known);
  const names = Object.keys(tool.input.shape);
  const shaped = fc.record(
    Object.fromEntries(
      [...names, "idempotencyKey"].map((name) => [name, fc.oneof(value, likely(tool, name, known))]),
    ),
    {
      requiredKeys: [],
    },
  );
  const whole = fc.record(Object.fromEntries(names.map((name) => [name, likely(tool, name, known)])), {
    requiredKeys: requiredOf(tool),
  });
  return fc.oneof(
    { weight: 5, arbitrary: whole },
    { weight: 2, arbitrary: shaped },
    { weight: 1, arbitrary: value },
  );
}

function requiredOf(tool: AnyTool): string[] {
  const shape: Record<string, { safeParse(value: unknown): { success: boolean } }> = tool.input.shape;
  return Object.entries(shape)
    .filter(([, field]) => !field.safeParse(undefined).success)
    .map(([name]) => name);
}

const times = fc.constantFrom(
  "2026-11-21T09:00:00Z",
  "2027-01-31T09:00:00+05:30",
  "2027-02-28",
  "2026-12-24T18:00",
  "2026-11-01",
);
const addresses = fc.constantFrom("", "https://example.com/a.jpg", "file_missing", "r2://a/b.jpg");
const texts = fc.oneof(nasty, fc.string({ unit: "grapheme", maxLength: 40 }));
const metadata = (known: readonly string[]): fc.Arbitrary<unknown> =>
  fc.record(
    {
      title: texts,
      description: texts,
      tags: fc.array(texts, { maxLength: 3 }),
      language: fc.constantFrom("en", "xx-yy-zz"),
      altText: texts,
      moreMedia: anyValue(known),
    },
    { requiredKeys: [] },
  );

/** What a field of this name often holds, in the right type; now and then something else. */
function likely(tool: AnyTool, name: string, known: readonly string[]): fc.Arbitrary<unknown> {
  const takesList = tool.input.shape[name]?.safeParse(["feed"]).success === true;
  // One name, two types: a list where it filters, one text where it points.
  const arbitrary = right(name, known).map((value) =>
    Array.isArray(value) && !takesList && name !== "posts" ? value[0] : value,
  );
  return fc.oneof({ weight: 19, arbitrary }, { weight: 1, arbitrary: nasty });
}

function right(name: string, known: readonly string[]): fc.Arbitrary<unknown> {
  const ids = (prefix: string): fc.Arbitrary<string> =>
    fc.constantFrom(...known.filter((id) => id.startsWith(prefix)));
  const accounts = fc.array(ids("acc_"), { minLength: 1, maxLength: 3 });
  const post = {
    accountId: ids("acc_"),
    caption: texts,
    mediaUrl: addresses,
    scheduledAt: times,
    metadata: metadata(known),
    dryRun: fc.boolean(),
  };
  const kinds: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    id: ids("post_"),
    accountId: accounts,
    scheduledAt: times,
    from: times,
    to: times,
    mediaUrl: addresses,
    thumbnailUrl: addresses,
    url: addresses,
    platformUrl: addresses,
    instanceUrl: addresses,
    limit: fc.integer({ min: 1, max: 500 }),
    leadMinutes: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.constant(null)),
    dryRun: fc.boolean(),
    atomic: fc.boolean(),
    insights: fc.boolean(),
    history: fc.boolean(),
    fromPlatform: fc.boolean(),
    metadata: metadata(known),
    posts: fc.array(fc.record(post, { requiredKeys: ["accountId"] }), { minLength: 1, maxLength: 3 }),
    outcome: fc.constantFrom("published", "not_published"),
    granularity: fc.constantFrom("day", "total"),
    type: fc.constantFrom("image", "video"),
    provider: fc.array(fc.constantFrom("feed", "webhook", "bluesky"), { minLength: 1 }),
    status: fc.array(fc.constantFrom("scheduled", "failed"), { minLength: 1 }),
    cursor: fc.constantFrom("eyJrIjoiMSJ9", "AAAA"),
  };
  return kinds[name] ?? texts;
}

describe.skipIf(isOnPostgres)("whatever a tool is given", () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    "%s answers with a result or a sentence",
    async (_name, tool) => {
      const before = service.log.lines.length;
      const round = fc.array(argsOf(tool, ids), { minLength: AT_ONCE, maxLength: AT_ONCE });
      await fc.assert(
        fc.asyncProperty(
          round,
          async (inputs) => void (await Promise.all(inputs.map((args) => check(tool, args)))),
        ),
        { numRuns: ROUNDS, endOnFailure: true },
      );
      expect(service.log.lines.slice(before).filter((line) => line.level === "error")).toEqual([]);
    },
  );
});

async function check(tool: AnyTool, args: unknown): Promise<void> {
  const answer = await agent.request({
    origin: `http://127.0.0.1:${service.port}`,
    path: `/api/v1/tools/${tool.name}`,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(args),
  });
  const body: any = await answer.body.json();
  expect([JSON.stringify(args), answer.statusCode, body]).toEqual([
    JSON.stringify(args),
    expect.toSatisfy((status: number) => MEANT_STATUSES.has(status)),
    expect.anything(),
  ]);
  if (answer.statusCode === 200) return expect(Object.keys(body)).toEqual(["result"]);
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error).toMatch(/[.…"]$/);
  expect(body.error).not.toMatch(/\n\s+at |\.ts:\d|node_modules|SQLITE|undefined|\[object|Error:/);
}
