import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { hostname } from "node:os";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { isTime } from "../../src/domain/time-fields.ts";
import { unwrapped } from "../../src/domain/optional.ts";
import type { Server } from "../../src/cli/host.ts";
import { createHost } from "../../src/app/host.ts";
import { callerOf, isOnPostgres } from "../support/context.ts";
import { createFakeTerminal, runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { queryOf } from "../support/handles.ts";

const API_KEY = "the-parity-test-has-a-fixed-key-of-its-own";
const LATER = "2100-01-01T09:00:00Z";

/** Nobody listens there, and no name is looked up: a resolver that is asked for many at once may take seconds. */
const NOBODY = "http://127.0.0.1:9/events";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

type Args = Readonly<Record<string, unknown>>;

/** What a caller sees of a call: the result, or the sentence that refuses it. */
type Outcome = { readonly result: unknown } | { readonly sentence: string };

type Shape = Readonly<
  Record<string, { isOptional(): boolean; isNullable(): boolean; unwrap?(): { minLength?: number } }>
>;

interface Face {
  readonly name: string;
  call(tool: string, args: unknown): Promise<Outcome>;
}

/**
 * What calls are about; each face gets posts of its own, so that what one does does not stand in another's
 * way.
 */
interface World {
  readonly accountId: string;
  readonly publishedId: string;
  readonly failedId: string;
  readonly fileId: string;
  newPost(): Promise<string>;
  newAccount(): Promise<string>;
  newFile(): Promise<string>;
}

/** Posts alike are warned of, so each has a text of its own. */
let batches = 0;

/** A good call of every tool. */
const GOOD: Readonly<Record<string, (world: World) => Promise<Args> | Args>> = {
  cancel_post: async (world) => ({ id: await world.newPost() }),
  change_posts: async (world) => ({ ids: [await world.newPost()], shiftMinutes: 30 }),
  check_connection: async () => ({ connectId: await openConnection() }),
  connect_channel: () => ({ provider: "bluesky", handle: "alice.example.com" }),
  create_webhook: () => ({ url: NOBODY, events: ["post.failed"], secret: SECRET }),
  decide_draft: async (world) => ({ ...(await newDraft(world)), decision: "changes", note: "Shorter" }),
  delete_file: async (world) => ({ id: await world.newFile() }),
  delete_webhook: async () => ({ id: await newWebhook() }),
  disconnect_channel: async (world) => ({ accountId: await world.newAccount() }),
  edit_published_post: async ({ publishedId: id }) => {
    // Each face is to change it.
    await queryOf(server.ctx.store)
      .updateTable("posts")
      .set({ caption: "Before" })
      .where("id", "=", id)
      .execute();
    return { id, caption: "Corrected" };
  },
  get_account_analytics: (world) => ({ accountId: world.accountId, from: "2026-01-01", to: "2026-01-02" }),
  get_report: (world) => ({
    accountId: [world.accountId],
    from: "2026-01-01",
    to: "2026-01-02",
    by: "account",
  }),
  get_post: (world) => ({ id: world.publishedId, insights: true, history: true }),
  get_status: () => ({}),
  list_accounts: () => ({}),
  list_drafts: async (world) => ({ id: (await newDraft(world)).id }),
  list_files: () => ({ limit: 1 }),
  list_platforms: () => ({ provider: ["feed", "bluesky"] }),
  list_posts: () => ({ status: ["published", "failed"], search: "parity" }),
  list_webhooks: async () => ({ id: await newWebhook() }),
  replay_webhook: async () => ({ id: await newWebhook(), since: "2026-01-01" }),
  resolve_post: async (world) => ({
    id: await failPost(await world.newPost(), "in doubt"),
    outcome: "not_published",
  }),
  retry_post: async (world) => ({ id: await failPost(await world.newPost()) }),
  save_draft: (world) => ({ caption: nextCaption(), targets: [{ accountId: world.accountId }] }),
  schedule_post: (world) => ({
    accountId: world.accountId,
    caption: "Face to face",
    scheduledAt: LATER,
    dryRun: true,
  }),
  import_posts: (world) => ({
    csv: `accountId,scheduledAt,caption\n${world.accountId},${LATER},Row\nacc_none,${LATER},Two`,
    dryRun: false,
  }),
  schedule_posts: (world) => ({
    posts: [
      { accountId: world.accountId, caption: `Batch ${(batches += 1)}`, scheduledAt: LATER },
      { accountId: "acc_none", caption: "Two" },
    ],
  }),
  set_thumbnail: (world) => ({ id: world.publishedId, thumbnailUrl: world.fileId }),
  show_calendar: (world) => ({ accountId: [world.accountId], from: "2026-01-01", to: "2026-01-31" }),
  test_webhook: async () => ({ id: await newWebhook() }),
  update_account: async (world) => ({
    accountId: await world.newAccount(),
    schedule: { slots: [{ days: ["mon"], times: ["09:30"] }] },
    dryRun: true,
  }),
  update_post: async (world) => ({
    id: await world.newPost(),
    caption: `Changed, Batch ${(batches += 1)}`,
    metadata: { title: "New" },
  }),
  upload_file: () => ({ name: "picture.png" }),
};

/** Bad calls: each face refuses them with the same words. */
const BAD: readonly (readonly [tool: string, args: unknown | ((world: World) => unknown)])[] = [
  ["cancel_post", {}],
  ["cancel_post", (world: World) => ({ id: world.publishedId })],
  ["cancel_post", (world: World) => ({ id: world.failedId, fromPlatform: true })],
  ["change_posts", { cancel: true }],
  ["change_posts", { ids: ["post_none"], cancel: true }],
  ["change_posts", (world: World) => ({ ids: [world.publishedId], shiftMinutes: 5 })],
  ["change_posts", (world: World) => ({ ids: [world.publishedId], toDay: "2027-02-30" })],
  ["change_posts", { from: "2027-01-01", toDay: "soon" }],
  ["check_connection", { connectId: "con_none" }],
  ["connect_channel", { provider: "myspace" }],
  ["connect_channel", { provider: "bluesky", instanceUrl: "http://127.0.0.1:1" }],
  ["create_webhook", { url: "http://127.0.0.1/hook" }],
  ["create_webhook", { url: "https://hooks.example/", events: ["post.liked"] }],
  ["create_webhook", { url: "https://hooks.example/", accountId: ["acc_none"] }],
  ["decide_draft", { id: "dft_none", revision: 1, decision: "approve" }],
  ["delete_file", { id: "file_none" }],
  ["delete_webhook", { id: "whk_none" }],
  ["disconnect_channel", { accountId: "acc_none" }],
  ["edit_published_post", { id: "post_none", caption: "x" }],
  ["edit_published_post", (world: World) => ({ id: world.failedId, caption: "x" })],
  ["get_account_analytics", { accountId: "acc_none", from: "2026-01-01" }],
  ["get_report", { from: "2026-02-01", to: "2026-01-01" }],
  ["get_account_analytics", (world: World) => ({ accountId: world.accountId, from: "soon" })],
  ["get_post", { id: "post_none" }],
  ["get_post", { id: 5 }],
  ["get_status", { verbose: true }],
  ["list_accounts", { limit: 5 }],
  ["list_choices", (world: World) => ({ accountId: world.accountId, field: "boardId" })],
  ["list_choices", { accountId: "acc_none", field: "boardId" }],
  ["list_drafts", { id: "dft_none" }],
  ["list_files", { type: "paper" }],
  ["list_files", { cursor: "nonsense" }],
  ["list_platforms", { provider: 5 }],
  ["list_platforms", { provider: ["feed", "myspace"] }],
  ["list_posts", { limit: 501 }],
  ["list_posts", { status: ["sent"] }],
  ["list_posts", { cursor: "nonsense" }],
  ["list_posts", { from: "yesterday" }],
  ["list_webhooks", { id: "whk_none" }],
  ["list_webhooks", { cursor: "nonsense" }],
  ["no_such_tool", {}],
  ["replay_webhook", { id: "whk_none" }],
  ["resolve_post", (world: World) => ({ id: world.publishedId, outcome: "published" })],
  ["resolve_post", (world: World) => ({ id: world.failedId, outcome: "perhaps" })],
  ["resolve_post", (world: World) => ({ id: world.publishedId, outcome: "dismissed" })],
  ["retry_post", (world: World) => ({ id: world.publishedId })],
  ["retry_post", (world: World) => ({ id: world.failedId, metadata: { colour: "red" } })],
  ["retry_post", { id: "post_none", scheduledAt: "soon" }],
  ["save_draft", { targets: [{ accountId: "acc_none" }] }],
  ["save_draft", { repeat: { unit: "day", time: "soon" } }],
  ["schedule_post", { caption: "x" }],
  [
    "schedule_post",
    (world: World) => ({ accountId: world.accountId, caption: "x", scheduledAt: "2001-01-01T00:00:00" }),
  ],
  [
    "schedule_post",
    (world: World) => ({
      accountId: world.accountId,
      caption: "x",
      scheduledAt: LATER,
      metadata: { colour: "red" },
    }),
  ],
  [
    "schedule_post",
    (world: World) => ({ accountId: world.accountId, mediaUrl: "file:///etc/passwd", scheduledAt: LATER }),
  ],
  ["import_posts", {}],
  ["import_posts", { csv: "accountId,text\na,b" }],
  ["import_posts", { fileId: "file_none" }],
  ["schedule_posts", { posts: [] }],
  ["schedule_posts", { posts: [{ caption: "a\0" }] }],
  ["schedule_post", { caption: "half \ud83d" }],
  ["list_posts", { search: "a\0" }],
  ["edit_published_post", (world: World) => ({ id: world.failedId, metadata: { colour: "red" } })],
  ["set_thumbnail", (world: World) => ({ id: world.failedId, thumbnailUrl: "ftp://example.com/a" })],
  ["set_thumbnail", (world: World) => ({ id: world.publishedId })],
  ["set_thumbnail", (world: World) => ({ id: world.failedId, thumbnailUrl: world.fileId })],
  ["show_calendar", { from: "2026-02-01", to: "2026-01-01" }],
  ["test_webhook", { id: "whk_none" }],
  ["update_post", (world: World) => ({ id: world.publishedId, caption: "x" })],
  ["update_post", { id: "post_none" }],
  ["upload_file", { url: "http://169.254.169.254/latest/meta-data" }],
  ["upload_file", { url: "ftp://example.com/a" }],
];

/** Where a tool takes the time of something that goes out: `posts[].scheduledAt`. */
function timesOf(schema: z.ZodType, path = ""): string[] {
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodArray) return timesOf(plain.element as z.ZodType, `${path}[]`);
  if (plain instanceof z.ZodObject)
    return Object.entries(plain.shape).flatMap(([name, field]) =>
      timesOf(field as z.ZodType, path === "" ? name : `${path}.${name}`),
    );
  if (isTime(plain)) return [path];
  expect(path).not.toMatch(/scheduledAt$/);
  return [];
}

/** A call with an empty time at a path, and with what its object needs beside it. */
function withTime(
  args: Args,
  path: string,
  { accountId, empty }: { accountId: string; empty: string },
): Args {
  const [name = "", rest] = path.split(/\.(.*)/s);
  if (rest === undefined) return { ...args, [name.replace("[]", "")]: name.endsWith("[]") ? [empty] : empty };
  const beside: Record<string, Args> = {
    "posts[]": { accountId, caption: "Hello" },
    "targets[]": { accountId },
    repeat: { unit: "day", time: "09:00" },
    schedule: {},
    "slots[]": { days: ["mon"], times: ["09:00"] },
  };
  const inner = withTime(beside[name]!, rest, { accountId, empty });
  return { ...args, [name.replace("[]", "")]: name.endsWith("[]") ? [inner] : inner };
}

const folder = temporaryFolder();
let server: Server;
let world: World;
let faces: readonly Face[] = [];
let mcpClient: Client;

beforeAll(async () => {
  const env = {
    ...folder.env,
    POSTHORN_API_KEY: API_KEY,
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_ALLOWED_HOSTS: "127.0.0.1:9",
  };
  server = await startServer({ ...env, POSTHORN_PORT: "0", POSTHORN_TOOLS: "all" });
  mcpClient = new Client({ name: "parity", version: "1" });
  const requestInit = { headers: { Authorization: `Bearer ${API_KEY}` } };
  await mcpClient.connect(
    new StreamableHTTPClientTransport(new URL(`${server.address}/mcp`), { requestInit }),
  );
  faces = [
    httpFace(server.address),
    mcpFace(mcpClient),
    cliFace({ ...env, POSTHORN_PORT: new URL(server.address).port }),
  ];
  world = await createWorld();
}, 60_000);

afterAll(async () => {
  await mcpClient?.close();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function startServer(env: Readonly<Record<string, string>>): Promise<Server> {
  const host = createHost({
    env,
    terminal: createFakeTerminal().terminal,
    self: { host: hostname(), pid: process.pid },
    node: process.execPath,
    stopSignal: new AbortController().signal,
    stdio: { stdin: new PassThrough(), stdout: new PassThrough(), readParentId: () => 1 },
  });
  return host.startServer({ role: "serve" });
}

function httpFace(address: string): Face {
  return {
    name: "HTTP",
    async call(tool, args) {
      const response = await fetch(`${address}/api/v1/tools/${tool}`, {
        method: "POST",
        // Over MCP what is sent at once is waited for unasked.
        headers: {
          Authorization: `Bearer ${API_KEY}`,
          "Content-Type": "application/json",
          Prefer: "wait=30",
        },
        body: JSON.stringify(args),
      });
      const body = (await response.json()) as { result?: unknown; error?: string };
      return body.error === undefined ? { result: body.result } : { sentence: body.error };
    },
  };
}

const MODELS_ONLY = /^(?:Names, and what a platform says|Send the bytes there)/;

function mcpFace(client: Client): Face {
  return {
    name: "MCP",
    async call(tool, args) {
      const answer = await client.callTool({ name: tool, arguments: args as Record<string, unknown> });
      // Hosts give the model one of them alone: whatever stands in one stands in the other.
      const [first, ...others] = answer.content;
      expect(others).toEqual([]);
      const text = first?.type === "text" ? first.text : "";
      if (answer.isError === true) {
        // Clients of the older SDK hold anything structured to the schema of a result.
        expect(answer.structuredContent).toBeUndefined();
        return { sentence: text };
      }
      expect(JSON.parse(text)).toEqual(answer.structuredContent);
      const { note, ...result } = answer.structuredContent as { note?: string };
      // Only MCP marks them, where a model reads.
      return {
        result: MODELS_ONLY.test(note ?? "") ? result : answer.structuredContent,
      };
    },
  };
}

function cliFace(env: Readonly<Record<string, string>>): Face {
  return {
    name: "command line",
    async call(tool, args) {
      const run = await runCli(["call", tool, JSON.stringify(args)], { env });
      return run.status === 0
        ? { result: JSON.parse(run.stdout) as unknown }
        : { sentence: run.stderr.trimEnd() };
    },
  };
}

async function call(tool: string, args: Args): Promise<Record<string, unknown>> {
  return (await server.toolbox.call(tool, args, callerOf())).result;
}

async function newPost(accountId: string, more: Args = {}): Promise<string> {
  const { post } = (await call("schedule_post", {
    accountId,
    caption: `A post for parity, Batch ${(batches += 1)}`,
    scheduledAt: LATER,
    ...more,
  })) as {
    post: { id: string };
  };
  return post.id;
}

async function createWorld(): Promise<World> {
  const { accounts } = (await call("list_accounts", {})) as { accounts: { id: string }[] };
  const accountId = accounts[0]!.id;
  // Whatever comes to these minutes is warned of alike.
  for (const scheduledAt of [LATER, "2100-01-01T09:30:00Z"]) await newPost(accountId, { scheduledAt });
  const publishedId = await newPost(accountId, { scheduledAt: undefined });
  await untilPublished(publishedId);
  return {
    accountId,
    publishedId,
    failedId: await failPost(await newPost(accountId)),
    fileId: await newFile(),
    newPost: () => newPost(accountId),
    async newAccount() {
      const { account } = (await call("connect_channel", { provider: "feed", name: "To go" })) as {
        account: { id: string };
      };
      return account.id;
    },
    newFile,
  };
}

async function untilPublished(id: string): Promise<void> {
  for (;;) {
    const { post } = (await call("get_post", { id })) as { post: { status: string; error: string | null } };
    if (post.status === "published") return;
    expect(post.error).toBeNull();
    await server.ctx.clock.sleep(20);
  }
}

async function newFile(): Promise<string> {
  const { default: sharp } = await import("sharp");
  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#369" } })
    .png()
    .toBuffer();
  const response = await fetch(`${server.address}/api/v1/files?name=picture.png`, {
    method: "POST",
    headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "image/png" },
    body: new Uint8Array(picture),
  });
  const { file } = (await response.json()) as { file: { id: string } };
  return file.id;
}

/** As a publisher leaves a post whose outcome it could not learn. */
async function failPost(id: string, doubt?: "in doubt"): Promise<string> {
  await queryOf(server.ctx.store)
    .updateTable("posts")
    .set({
      status: "failed",
      error: "The platform refused it.",
      next_at: null,
      in_doubt: doubt === undefined ? 0 : 1,
    })
    .where("id", "=", id)
    .execute();
  return id;
}

async function newWebhook(): Promise<string> {
  const { webhook } = (await call("create_webhook", { url: NOBODY })) as {
    webhook: { id: string };
  };
  return webhook.id;
}

let drafted = 0;

/** Equal drafts would be told of each other. */
function nextCaption(): string {
  return `Drafted ${(drafted += 1)}`;
}

async function newDraft({ accountId }: World): Promise<{ id: string; revision: number }> {
  const content = { caption: nextCaption(), targets: [{ accountId }] };
  const { draft } = (await call("save_draft", content)) as { draft: { id: string; revision: number } };
  return { id: draft.id, revision: draft.revision };
}

async function openConnection(): Promise<string> {
  const { connectId } = (await call("connect_channel", { provider: "bluesky" })) as { connectId: string };
  return connectId;
}

/** Without what differs between any two calls: new ids, times, tokens and signatures. */
function comparable(outcome: Outcome): unknown {
  const text = JSON.stringify(outcome)
    .replaceAll(/\b[0-9a-hjkmnp-tv-z]{26}\b|(?<=_)[0-9a-hjkmnp-tv-z]{26}\b/g, "ID")
    .replaceAll(/(Batch|Drafted) \d+/g, "$1")
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "TIME")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/"keyId":"[^"]*","name":"[^"]*"/g, '"keyId":"KEY"')
    .replaceAll(/(https?:\/\/localhost:\d+\/\w+)[^"]*/g, "$1/…")
    .replaceAll(/"(\w*[lL]ateness\w*|p50Ms|p95Ms|maxMs)":\d+/g, '"$1":0');
  return JSON.parse(text) as unknown;
}

/** Also without what MCP says beside it: the channel's name, and twice what stands whole once. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const isTwice = "account" in value && value.account !== null && "accounts" in value;
  const fields = Object.entries(value).filter(
    ([key, field]) =>
      field !== null &&
      key !== "accountName" &&
      !(key === "text" && "parts" in value) &&
      !(isTwice && key === "accounts"),
  );
  return Object.fromEntries(
    fields.map(([key, field]) => [
      key,
      key === "accounts" ? listed(withoutNulls(field)) : withoutNulls(field),
    ]),
  );
}

/** Of several channels MCP says in short what each can do, and not what nobody asks of a list. */
function listed(accounts: any): unknown {
  if (!Array.isArray(accounts) || accounts.length < 2) return accounts;
  const UNSAID = ["platformAccountId", "avatarUrl", "scopes", "createdAt", "updatedAt"];
  return accounts.map(({ capabilities, ...account }) => ({
    ...Object.fromEntries(Object.entries(account).filter(([key]) => !UNSAID.includes(key))),
    ...(capabilities && { capabilities: capabilities.caption }),
  }));
}

describe.skipIf(isOnPostgres)("every face", () => {
  it("is asked about every tool", () => {
    // Only platforms out there have choices; how they are refused is asked below.
    const asked = [...Object.keys(GOOD), "list_choices"];
    expect(asked.sort()).toEqual(server.toolbox.tools.map(({ name }) => name).sort());
  });

  it.each(Object.entries(GOOD))(
    "answers %s alike, but for nulls in lists over MCP",
    async (tool, makeArgs) => {
      const outcomes: any[] = [];
      for (const face of faces) outcomes.push(comparable(await face.call(tool, await makeArgs(world))));
      expect(outcomes[0]).toHaveProperty("result");
      expect(withoutNulls(outcomes[1].result)).toEqual(withoutNulls(outcomes[0].result));
      expect(outcomes[2]).toEqual(outcomes[0]);
      // What is left out are nulls of rows, and nothing else.
      for (const [key, value] of Object.entries(outcomes[0].result))
        if (!Array.isArray(value)) expect(outcomes[1].result[key]).toEqual(value);
    },
  );

  it.each([
    ["status", "failed", ["failed"]],
    ["limit", "1", 1],
    ["accountId", "my feed", undefined],
  ])("takes %s %j for the same", async (name, written, meant) => {
    const usual = await faces[0]!.call("list_posts", { [name]: meant ?? [world.accountId] });
    for (const face of faces)
      expect(withoutNulls(await face.call("list_posts", { [name]: written })), face.name).toEqual(
        withoutNulls(usual),
      );
  });

  it.each(Object.entries(GOOD))(
    "takes null and an empty text for what %s may leave out",
    async (tool, makeArgs) => {
      const shape = server.toolbox.tools.find(({ name }) => name === tool)!.input.shape as Shape;
      for (const [index, face] of faces.entries()) {
        const args = await makeArgs(world);
        // What is nullable is emptied, which is another call.
        const unsaid = Object.entries(shape)
          .filter(([name, field]) => !(name in args) && field.isOptional() && !field.isNullable())
          .filter(([, field]) => !isTime(field as unknown as z.ZodType))
          .filter(([, field]) => !(field.unwrap?.().minLength === 0))
          .map(([name], at) => [name, (at + index) % 2 === 0 ? null : ""]);
        const outcome = await face.call(tool, { ...args, ...Object.fromEntries(unsaid) });
        expect(outcome, face.name).toHaveProperty("result");
      }
    },
  );

  it("refuses an empty time wherever one is taken, naming it", async () => {
    const taken = server.toolbox.tools.flatMap(({ name, input }) =>
      timesOf(input).map((path) => ({ name, path })),
    );
    expect(taken.length).toBeGreaterThan(8);
    for (const { name, path } of taken) {
      const args = await GOOD[name]!(world);
      for (const empty of ["", " "]) {
        const given = withTime(args, path, { accountId: world.accountId, empty });
        const outcomes = await Promise.all(faces.map((face) => face.call(name, given)));
        for (const outcome of outcomes) {
          const field = path.replaceAll("[]", "[0]");
          const sentence = "sentence" in outcome ? outcome.sentence : "none";
          expect(sentence.startsWith(`${field}: `), `${name}, ${field}: ${sentence}`).toBe(true);
          expect(outcome).toEqual(outcomes[0]);
        }
      }
    }
  });

  it.each(BAD.map(([tool, args], index) => [tool, index, args] as const))(
    "refuses %s (%i) with the same words",
    async (tool, _index, given) => {
      const args = typeof given === "function" ? (given as (world: World) => unknown)(world) : given;
      const outcomes: unknown[] = [];
      for (const face of faces) outcomes.push(comparable(await face.call(tool, args)));
      expect(outcomes[0]).toHaveProperty("sentence");
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    },
  );

  it("lists the same tools with the same schemas", async () => {
    const response = await fetch(`${server.address}/api/v1/tools`, {
      headers: { Authorization: `Bearer ${API_KEY}` },
    });
    const overHttp = (await response.json()) as { tools: { name: string; inputSchema: unknown }[] };
    const { tools: overMcp } = await mcpClient.listTools();
    expect(overMcp.map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual(
      overHttp.tools.map(({ name, inputSchema }) => ({ name, inputSchema })),
    );
    const onCli = await runCli(["tools"], { env: { ...folder.env, POSTHORN_API_KEY: API_KEY } });
    const names = (JSON.parse(onCli.stdout) as typeof overHttp).tools.map(({ name }) => name);
    expect(names).toEqual(overHttp.tools.map(({ name }) => name));
  });
});
