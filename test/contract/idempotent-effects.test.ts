import { createReadStream } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadCatalog } from "../../src/app/setup.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import type { AppContext } from "../../src/context.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import type { PostRow, Tables } from "../../src/store/schema/tables.ts";
import type { Reader, Store } from "../../src/store/engine/store.ts";
import { insertDelivery } from "../../src/store/queries/webhooks.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { createToolbox, type CallResult } from "../../src/toolkit/toolbox.ts";
import { callerOf, callOf, isOnPostgres } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { rowsOf, withWrite } from "../support/handles.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const PHOTO = new URL("../fixtures/photo.png", import.meta.url);

/** What was asked of the platform and of the network, in order. */
let asked: string[] = [];

const platform = scriptedPlatform({
  capabilities: {
    ...TEXT_CAPABILITIES,
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["caption"] },
  },
  metadata: z.strictObject({ title: z.string().optional(), thumbnailUrl: z.string().optional() }),
  publish: async () => {
    asked.push("publish");
    return { state: "live", platformPostId: "1", platformUrl: null };
  },
  edit: async () => {
    asked.push("edit");
    return { platformPostId: "2" };
  },
  setThumbnail: async () => void asked.push("set thumbnail"),
  remove: async () => void asked.push("remove"),
});

const outbound: Outbound = {
  assertAllowed: (_field, url) => new URL(url),
  request: async ({ method, url }) => {
    asked.push(`${method} ${url}`);
    return { status: 200, headers: {}, url, body: createReadStream(PHOTO) };
  },
};

const { tools, platforms } = await loadCatalog();

let ctx: FileContext;
let account: Tables["accounts"];

beforeEach(async () => {
  asked = [];
  ctx = await createFileContext({ outbound, platformList: [platform, ...platforms] });
  account = await addAccount(ctx);
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function post(set: Partial<PostRow> = {}): Promise<string> {
  return (await addPost(ctx, account, { scheduled_at: ctx.clock.now() + 86_400_000, ...set })).id;
}

const LIVE = { status: "published", next_at: null, platform_post_id: "1" } as const;
const FAILED = { status: "failed", next_at: null, error: "It failed." } as const;

async function storedFile(): Promise<string> {
  const body = createReadStream(PHOTO);
  return (await storeUpload(callOf(ctx), { name: "photo.png", altText: null, body })).file.id;
}

async function webhook(): Promise<string> {
  const call = createToolbox(ctx, tools).call(
    "create_webhook",
    { url: "https://hooks.example/" },
    callerOf(),
  );
  return ((await call).result as { webhook: { id: string } }).webhook.id;
}

async function tool<T = Record<string, never>>(name: string, args: object): Promise<T> {
  return (await createToolbox(ctx, tools).call(name, args, callerOf())).result as T;
}

async function draft(more: object = {}): Promise<{ id: string; revision: number }> {
  const content = { caption: "A draft", targets: [{ accountId: account.id }], ...more };
  const { id, revision } = (await tool<{ draft: { id: string; revision: number } }>("save_draft", content))
    .draft;
  return { id, revision };
}

/** An event of the webhook that was delivered long ago. */
async function delivery(webhookId: string): Promise<string> {
  const row = {
    id: "evt_1",
    owner_id: account.owner_id,
    webhook_id: webhookId,
    event: "post.failed" as const,
    happened_at: ctx.clock.now(),
    snapshot: "{}",
    status: "delivered" as const,
    tries: 1,
    next_at: null,
    tried_at: ctx.clock.now(),
    http_status: 200,
    error: null,
  };
  return (await ctx.store.write((tx) => insertDelivery(tx, row))).id;
}

interface Example {
  /** Which of the tool's ways it is, where there are several. */
  readonly way?: string;
  readonly args: () => Promise<object>;
  /** A query whose answer the call's effect changes, and nothing before it does. */
  readonly effect: string;
}

const POSTS = "SELECT id, status, caption, metadata, in_doubt FROM posts";
const TIMES = "SELECT id, scheduled_at FROM posts";
const ACCOUNTS = "SELECT id, status FROM accounts";
const DRAFTS = "SELECT id, state, revision, caption FROM drafts";
const PAUSES = "SELECT id, paused FROM accounts";
const DELIVERIES = "SELECT id, status, next_at FROM webhook_deliveries";
const WEBHOOKS = "SELECT id FROM webhooks";
const READY = "SELECT id FROM files WHERE status = 'ready'";

const tableOf = (accountId: string): string =>
  `accountId,scheduledAt,caption\n${accountId},2150-01-01T09:00:00Z,One\n${accountId},2150-01-02T09:00:00Z,Two`;

/** Calls of every tool that changes something, for each way in which it does; a new tool adds its own. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  cancel_post: [
    { args: async () => ({ id: await post() }), effect: POSTS },
    {
      way: "fromPlatform",
      args: async () => ({
        id: await post({ status: "uploaded", platform_post_id: "1" }),
        fromPlatform: true,
      }),
      effect: POSTS,
    },
    {
      way: "of a live post",
      args: async () => ({ id: await post(LIVE), fromPlatform: true }),
      effect: POSTS,
    },
  ],
  change_posts: [
    { way: "moved", args: async () => ({ ids: [await post()], shiftMinutes: 60 }), effect: TIMES },
    {
      way: "cancelled",
      args: async () => ({ ids: [await post(), await post()], cancel: true }),
      effect: POSTS,
    },
  ],
  import_posts: [{ args: async () => ({ csv: tableOf(account.id), dryRun: false }), effect: POSTS }],
  connect_channel: [
    { way: "at once", args: async () => ({ provider: "feed" }), effect: ACCOUNTS },
    { way: "by a page", args: async () => ({ provider: "webhook" }), effect: "SELECT id FROM connections" },
  ],
  create_webhook: [{ args: async () => ({ url: "https://hooks.example/" }), effect: WEBHOOKS }],
  decide_draft: [
    { way: "approved", args: async () => ({ ...(await draft()), decision: "approve" }), effect: POSTS },
    { way: "sent back", args: async () => ({ ...(await draft()), decision: "changes" }), effect: DRAFTS },
    { way: "discarded", args: async () => ({ ...(await draft()), decision: "discard" }), effect: DRAFTS },
    {
      way: "a series that is stopped",
      args: async () => {
        const { id } = await draft({ repeat: { unit: "day", time: "09:00" } });
        await tool("decide_draft", { id, revision: 1, decision: "approve" });
        return { id, decision: "stop" };
      },
      effect: DRAFTS,
    },
  ],
  delete_file: [{ args: async () => ({ id: await storedFile() }), effect: READY }],
  delete_webhook: [{ args: async () => ({ id: await webhook() }), effect: WEBHOOKS }],
  disconnect_channel: [{ args: async () => ({ accountId: account.id }), effect: ACCOUNTS }],
  edit_published_post: [
    { args: async () => ({ id: await post(LIVE), caption: "Another text" }), effect: POSTS },
  ],
  save_draft: [
    { args: async () => ({ caption: "A draft" }), effect: DRAFTS },
    { way: "changed", args: async () => ({ ...(await draft()), caption: "Changed" }), effect: DRAFTS },
  ],
  replay_webhook: [
    {
      args: async () => {
        const id = await webhook();
        return { id, deliveryId: await delivery(id) };
      },
      effect: DELIVERIES,
    },
  ],
  resolve_post: [
    {
      way: "published",
      args: async () => ({ id: await post({ ...FAILED, in_doubt: 1 }), outcome: "published" }),
      effect: POSTS,
    },
    {
      way: "not_published",
      args: async () => ({ id: await post({ ...FAILED, in_doubt: 1 }), outcome: "not_published" }),
      effect: POSTS,
    },
    {
      way: "dismissed",
      args: async () => ({ id: await post(FAILED), outcome: "dismissed" }),
      effect: POSTS,
    },
  ],
  retry_post: [
    {
      way: "with changes",
      args: async () => ({ id: await post(FAILED), caption: "Corrected" }),
      effect: POSTS,
    },
    { args: async () => ({ id: await post(FAILED) }), effect: POSTS },
    {
      way: "found published",
      args: async () => ({ id: await post({ ...FAILED, in_doubt: 1 }) }),
      effect: POSTS,
    },
  ],
  schedule_post: [{ args: async () => ({ accountId: account.id, caption: "Now" }), effect: POSTS }],
  schedule_posts: [
    {
      args: async () => ({
        posts: [{ accountId: account.id, caption: "One" }, { accountId: "acc_missing" }],
      }),
      effect: POSTS,
    },
  ],
  set_thumbnail: [
    {
      args: async () => ({ id: await post(LIVE), thumbnailUrl: "https://example.com/a.png" }),
      effect: POSTS,
    },
  ],
  test_webhook: [{ args: async () => ({ id: await webhook() }), effect: DELIVERIES }],
  update_account: [{ args: async () => ({ accountId: account.id, paused: true }), effect: PAUSES }],
  update_post: [{ args: async () => ({ id: await post(), caption: "Changed" }), effect: POSTS }],
  upload_file: [
    { way: "url", args: async () => ({ url: "https://example.com/a.png" }), effect: READY },
    {
      way: "path",
      args: async () => {
        const path = join(ctx.folder, "a.png");
        await copyFile(PHOTO, path);
        return { path };
      },
      effect: READY,
    },
    { way: "address", args: async () => ({}), effect: "SELECT id FROM files" },
  ],
};

async function ask(reader: Reader, query: string): Promise<string> {
  return JSON.stringify(await rowsOf(reader, query, []));
}

/** All that is stored, without the keys themselves. */
async function everything(reader: Reader): Promise<Record<string, string>> {
  const tables = await rowsOf<{ name: string }>(reader, isOnPostgres ? TABLES.postgres : TABLES.sqlite, []);
  const entries: [string, string][] = [];
  for (const { name } of tables) entries.push([name, await ask(reader, await textsOf(reader, name))]);
  return Object.fromEntries(entries);
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'idempotency' ORDER BY name",
  postgres: `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_name <> 'idempotency' ORDER BY table_name`,
};

/** All of a table as texts: not every driver takes integers beyond 2^53, as sort keys are. */
async function textsOf(reader: Reader, table: string): Promise<string> {
  const columns = await rowsOf<{ name: string }>(
    reader,
    isOnPostgres
      ? `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}'`
      : `SELECT name FROM pragma_table_info('${table}')`,
    [],
  );
  const texts = columns.map(({ name }) => `CAST("${name}" AS TEXT) AS "${name}"`);
  return `SELECT ${texts.join(", ")} FROM "${table}"`;
}

const DEATH = "The process ended here.";

/**
 * Right after the transaction with the effect became durable its process is gone: it hears of nothing and
 * writes no more.
 */
async function dyingStore(store: Store, effect: string): Promise<Store> {
  const before = await ask(store, effect);
  let isDead = false;
  return withWrite(store, async (work) => {
    if (isDead) throw new Error(DEATH);
    const done = await store.write(work);
    isDead = (await ask(store, effect)) !== before;
    if (isDead) throw new Error(DEATH);
    return done;
  });
}

const caller = callerOf({ isLocal: true });
const once = { idempotencyKey: "k1" };

/** A process of its own on the same data. */
function processOf(workerId: string, store: Store = ctx.store): AppContext {
  return { ...ctx, store, workerId, settings: { ...ctx.settings, uploadFolders: [ctx.folder] } };
}

const writing = tools.filter((tool: AnyTool) => !tool.hints.readOnly).map(({ name }) => name);

describe.each(writing)("%s", (name) => {
  const examples = EXAMPLES[name] ?? [];

  it("has an example here", () => expect(examples).not.toEqual([]));

  it.each(examples.map((example) => [example.way ?? "called", example] as const))(
    "%s: after a death between effect and answer the same key gets the answer, and nothing is done twice",
    async (_way, { args, effect }) => {
      const given = await args();
      const dying = processOf("wrk_dead", await dyingStore(ctx.store, effect));
      await expect(createToolbox(dying, tools).call(name, given, caller, once)).rejects.toThrow(DEATH);
      const [stored, requests] = [await everything(ctx.store), [...asked]];

      const next = createToolbox(processOf("wrk_next"), tools);
      const second = await next.call(name, given, caller, once);
      expect(second.isReplay).toBe(true);
      expect(tools.find((tool) => tool.name === name)?.output.safeParse(second.result).error).toBeUndefined();
      expect(await everything(ctx.store)).toEqual(stored);
      expect(asked).toEqual(requests);
      expect(await next.call(name, given, caller, once)).toEqual(second);
    },
  );
});

/** What a call comes to; ids and secrets, which differ from call to call, are left out. */
async function outcomeOf(call: Promise<CallResult>): Promise<unknown> {
  try {
    const { result, isReplay } = await call;
    return { isReplay, text: JSON.stringify(result).replaceAll(/[\w+/=-]{20,}/g, "…") };
  } catch (error) {
    return error instanceof AppError ? { kind: error.kind, message: error.message } : error;
  }
}

describe.each(writing)("%s with another key's idempotency key", (name) => {
  it.each((EXAMPLES[name] ?? []).map((example) => [example.way ?? "called", example] as const))(
    "%s: a key with less reach gets what it would get without",
    async (_way, { args }) => {
      const other = await addAccount(ctx);
      const toolbox = createToolbox(processOf("wrk_1"), tools);
      const given = await args();
      await toolbox.call(name, given, caller, once);
      const narrow = { ...caller, keyId: "key_narrow", accountIds: [other.id] };
      const keyed = await outcomeOf(toolbox.call(name, given, narrow, once));
      expect(keyed).toEqual(await outcomeOf(toolbox.call(name, given, narrow)));
      expect(keyed).not.toMatchObject({ isReplay: true });
      // Nor does it learn that the key was used for something else.
      const third = { ...narrow, keyId: "key_third" };
      await expect(toolbox.call("cancel_post", { id: "post_missing" }, third, once)).rejects.toThrow(
        "There is no post",
      );
    },
  );

  it("gives its answer to no key that was narrowed since", async () => {
    const { args } = EXAMPLES[name]?.[0] ?? expect.unreachable();
    const toolbox = createToolbox(processOf("wrk_1"), tools);
    const given = await args();
    await toolbox.call(name, given, caller, once);
    const narrowed = { ...caller, accountIds: [(await addAccount(ctx)).id] };
    await expect(toolbox.call(name, given, narrowed, once)).rejects.toThrow("was used for another request");
  });
});

it("knows no tool that is not there", () => {
  expect(Object.keys(EXAMPLES).filter((name) => !writing.includes(name))).toEqual([]);
});
