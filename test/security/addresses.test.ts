import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadCatalog } from "../../src/app/setup.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { connectWithSecrets } from "../../src/channels/connecting/connections.ts";
import { sealSecrets } from "../../src/channels/platform-io/secrets.ts";
import { deliverDue } from "../../src/reporting/webhooks/webhook-deliveries.ts";
import { startCanary, type Canary } from "../support/canary.ts";
import { callOf } from "../support/context.ts";
import { startDnsServer, type DnsServer } from "../support/dns-server.ts";
import { addAccount, drain } from "../support/publishing.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";
import { INSIDE, ZONE } from "./inside.ts";

const { tools, platforms } = await loadCatalog();

let dns: DnsServer;
let canary: Canary;
let outbound: ReturnType<typeof createOutbound>;
let service: Service;
let feed: string;
let bluesky: string;
let waiting: string;
let live: string;
let failed: string;

beforeAll(async () => {
  [dns, canary] = await Promise.all([startDnsServer(ZONE), startCanary()]);
  outbound = createOutbound({ allowedHosts: [], lookup: dns.lookup });
  service = await startService({}, { outbound });
  feed = await service.addFeed();
  bluesky = (await addAccount(service.ctx, { provider: "bluesky" })).id;
  const later = { caption: "x", scheduledAt: "2026-12-24T18:00:00Z" };
  failed = (await service.call("schedule_post", { accountId: feed, ...later })).post.id;
  await queryOf(service.ctx.store)
    .updateTable("posts")
    .set({ status: "failed", next_at: null })
    .where("id", "=", failed)
    .execute();
  waiting = (await service.call("schedule_post", { accountId: feed, ...later })).post.id;
  live = (await service.call("schedule_post", { accountId: feed, caption: "live" })).post.id;
  await drain(service.ctx);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await outbound[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

// The one thing that counts, for every test of this file.
afterEach(() => expect(canary.connections).toBe(0));

interface Refusal {
  readonly status: number;
  readonly error: string;
}

type Way = (address: string) => Promise<Refusal>;

/** A call of a tool with the address somewhere in its arguments. */
const tool =
  (name: string, args: (address: string) => object): Way =>
  async (address) => {
    const { status, json } = await service.ask(`POST /api/v1/tools/${name}`, { json: args(address) });
    return { status, error: json.error ?? json.result?.results?.[0]?.error ?? "" };
  };

/** Every reason why a draft cannot be scheduled is told together, as a conflict. */
const submitting =
  (args: (address: string) => object): Way =>
  async (address) => {
    const json = { caption: "x", submit: true, ...args(address) };
    const answer = await service.ask("POST /api/v1/tools/save_draft", { json });
    return { status: answer.status === 409 ? 400 : answer.status, error: answer.json.error ?? "" };
  };

const onFeed = (args: (address: string) => object): Way =>
  tool("schedule_post", (address) => ({ accountId: feed, ...args(address) }));
const onBluesky = (metadata: (address: string) => object): Way =>
  tool("schedule_post", (address) => ({ accountId: bluesky, caption: "x", metadata: metadata(address) }));

/**
 * A server's address may be written without its scheme, which makes names that nobody knows of some of the
 * tricks.
 */
const REFUSED: readonly string[] = ["invalid", "unavailable"];

/** As a person who connects a channel enters it. */
const connecting =
  (
    args: (address: string) => { provider: string; instanceUrl?: string; secrets: Record<string, string> },
  ): Way =>
  (address) =>
    connectWithSecrets(callOf(service.ctx), args(address)).then(
      () => ({ status: 200, error: "" }),
      (error: { kind?: string; message: string }) => ({
        status: REFUSED.includes(error.kind ?? "") ? 400 : 500,
        error: error.message,
      }),
    );

/** Every way by which an address of a user's comes in, by the name of its argument. */
const WAYS: Readonly<Record<string, Way>> = {
  "save_draft mediaUrl": submitting((mediaUrl) => ({ mediaUrl, targets: [{ accountId: feed }] })),
  "save_draft targets.mediaUrl": submitting((mediaUrl) => ({ targets: [{ accountId: feed, mediaUrl }] })),
  "schedule_post mediaUrl": onFeed((mediaUrl) => ({ mediaUrl })),
  "schedule_post thumbnailUrl": onFeed((thumbnailUrl) => ({ caption: "x", thumbnailUrl })),
  "schedule_post metadata.thumbnailUrl": onFeed((thumbnailUrl) => ({
    caption: "x",
    metadata: { thumbnailUrl },
  })),
  "schedule_post metadata.moreMedia.url": onFeed((url) => ({
    caption: "x",
    metadata: { moreMedia: [{ url }] },
  })),
  "schedule_post metadata.thread.mediaUrl": onBluesky((mediaUrl) => ({
    thread: [{ caption: "y", mediaUrl }],
  })),
  "schedule_post metadata.subtitles.url": onBluesky((url) => ({ subtitles: [{ url, language: "en" }] })),
  "schedule_post dryRun": onFeed((mediaUrl) => ({ mediaUrl, dryRun: true })),
  "schedule_posts posts.mediaUrl": tool("schedule_posts", (mediaUrl) => ({
    posts: [{ accountId: feed, mediaUrl }],
  })),
  "schedule_posts posts.thumbnailUrl": tool("schedule_posts", (thumbnailUrl) => ({
    posts: [{ accountId: feed, thumbnailUrl }],
  })),
  "retry_post mediaUrl": tool("retry_post", (mediaUrl) => ({ id: failed, mediaUrl })),
  "update_post mediaUrl": tool("update_post", (mediaUrl) => ({ id: waiting, mediaUrl })),
  "update_post thumbnailUrl": tool("update_post", (thumbnailUrl) => ({ id: waiting, thumbnailUrl })),
  "set_thumbnail thumbnailUrl": tool("set_thumbnail", (thumbnailUrl) => ({ id: live, thumbnailUrl })),
  "upload_file url": tool("upload_file", (url) => ({ url })),
  "create_webhook url": tool("create_webhook", (url) => ({ url })),
  "connect_channel instanceUrl": connecting((instanceUrl) => ({
    provider: "bluesky",
    instanceUrl,
    secrets: { handle: "a.example", appPassword: "abcd-efgh-ijkl-mnop" },
  })),
  "the form of a webhook channel": connecting((url) => ({ provider: "webhook", secrets: { url } })),
  "POST /files url": async (url) => {
    const { status, json } = await service.ask("POST /api/v1/files", { json: { url } });
    return { status, error: json.error ?? "" };
  },
};

/** Shown as links, never opened by us. */
const NEVER_OPENED: readonly string[] = [
  "resolve_post platformUrl",
  "metadata.canonicalUrl",
  "metadata.link",
  "metadata.redeemOnlineUrl",
];

describe("every argument that takes an address", () => {
  it.each(Object.entries(WAYS))("%s refuses all that leads inside", async (_name, way) => {
    for (const text of INSIDE) {
      const address = text.replaceAll("PORT", String(canary.port));
      const { status, error } = await way(address);
      const isBatch = status === 200 && error !== "";
      expect([address, isBatch ? 400 : status, error]).toEqual([address, 400, expect.stringMatching(/\.$/)]);
      // Where a name leads to is told to nobody; the name itself they know.
      if (!URL.canParse(address) || !address.includes(".test")) continue;
      const { hostname } = new URL(address);
      // An address that is kept as a secret is struck out.
      const told = error.replaceAll(address, "").replaceAll("[secret]", "").replaceAll(hostname, "");
      expect(told).not.toMatch(/\b(?:10|127|169\.254|192\.168)\.\d|::1|fd00|secret/);
    }
  });

  it("is among them", () => {
    const schemas = tools.map((each) => ({
      name: each.name,
      schema: z.toJSONSchema(each.input, { io: "input", unrepresentable: "any" }),
    }));
    const found = schemas.flatMap(({ name, schema }) =>
      addressNames(schema).map((path) => `${name} ${path}`),
    );
    const known = [...Object.keys(WAYS), ...NEVER_OPENED];
    const isKnown = (name: string): boolean =>
      known.includes(name) || NEVER_OPENED.includes(name.split(" ")[1] ?? "");
    expect(found.filter((name) => !isKnown(name))).toEqual([]);
    expect(found.length).toBeGreaterThan(8);
  });

  it("of a platform's own fields is among them, too", () => {
    const found = [...platforms].flatMap((platform) =>
      addressNames(z.toJSONSchema(platform.metadata, { io: "input", unrepresentable: "any" })).map(
        (path) => `metadata.${path}`,
      ),
    );
    const known = [...Object.keys(WAYS).map((name) => name.split(" ")[1]), ...NEVER_OPENED];
    expect([...new Set(found)].filter((name) => !known.includes(name))).toEqual([]);
  });
});

/** Paths of properties that hold an address by their name or format. */
function addressNames(schema: unknown, path = ""): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const {
    properties = {},
    items,
    anyOf,
    $defs,
  } = schema as {
    properties?: Record<string, unknown>;
    items?: unknown;
    anyOf?: unknown[];
    $defs?: Record<string, unknown>;
  };
  const named = Object.entries(properties).flatMap(([name, inner]) => {
    const full = path === "" ? name : `${path}.${name}`;
    const isAddress = /url$|^link$/i.test(name) || JSON.stringify(inner).includes('"format":"uri"');
    const deeper = addressNames(inner, full);
    return deeper.length > 0 ? deeper : isAddress ? [full] : [];
  });
  return [
    ...named,
    ...[items, ...(anyOf ?? []), ...Object.values($defs ?? {})].flatMap((inner) => addressNames(inner, path)),
  ];
}

describe("an address that was harmless when it was given", () => {
  it("is checked again when its post is published", async () => {
    dns.zone.set("turning.test", []);
    const mediaUrl = `http://turning.test:${canary.port}/a.jpg`;
    const { post, warnings } = await service.call("schedule_post", { accountId: feed, mediaUrl });
    expect(warnings).toEqual([expect.stringContaining("does not answer now")]);
    dns.zone.set("turning.test", ["127.0.0.1"]);
    await drain(service.ctx);
    const { post: after } = await service.call("get_post", { id: post.id });
    expect(after).toMatchObject({ status: "failed", error: expect.stringContaining("private network") });
  });

  it("is checked again for each event, and for a test", async () => {
    dns.zone.set("turning-hook.test", []);
    const { webhook } = await service.call("create_webhook", {
      url: `http://turning-hook.test:${canary.port}/`,
    });
    dns.zone.set("turning-hook.test", ["127.0.0.1"]);
    const { delivery } = await service.call("test_webhook", { id: webhook.id });
    expect(delivery).toMatchObject({ status: "failed", error: expect.stringContaining("private network") });
    await service.call("schedule_post", { accountId: feed, caption: "x" });
    await deliverDue(service.ctx, webhook.id, new AbortController().signal);
    const { deliveries } = await service.call("list_webhooks", { id: webhook.id, limit: 50 });
    expect(deliveries.length).toBeGreaterThan(1);
    for (const { error } of deliveries) expect(error).toContain("private network");
  });

  it("is checked again for each delivery of a channel's posts", async () => {
    dns.zone.set("turning-channel.test", ["3ffe:ffff::1"]);
    const settings = "{}";
    const channel = { owner_id: "default", id: "acc_turning", provider: "webhook", settings, grant_id: null };
    const sealed = sealSecrets(service.ctx, channel, {
      url: `http://turning-channel.test:${canary.port}/`,
      secret: `whsec_${"A".repeat(32)}`,
    });
    await addAccount(service.ctx, { ...channel, secrets_enc: sealed, secrets_version: 1 });
    dns.zone.set("turning-channel.test", ["127.0.0.1"]);
    const { post } = await service.call("schedule_post", { accountId: "acc_turning", caption: "x" });
    await drain(service.ctx);
    const { post: after } = await service.call("get_post", { id: post.id });
    expect(after).toMatchObject({ status: "failed", error: expect.stringContaining("private network") });
  });
});
