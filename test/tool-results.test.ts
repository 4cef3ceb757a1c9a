import { createReadStream } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { loadCatalog } from "../src/app/setup.ts";
import { storeUpload } from "../src/files/file-uploads.ts";
import type { AnyTool } from "../src/toolkit/define-tool.ts";
import { createToolbox } from "../src/toolkit/toolbox.ts";
import { createCinema } from "./support/cinema.ts";
import { callOf, callerOf } from "./support/context.ts";
import { scriptedPlatform, targetOf, TEXT_CAPABILITIES } from "./support/scripted-platform.ts";
import { startService, type Service } from "./support/service.ts";
import { queryOf } from "./support/handles.ts";

/** What a platform answers beyond what anybody asked it for. */
const MORE = { token: "more than was asked for" };

const talkative = scriptedPlatform({
  name: "talkative",
  title: "Talkative",
  capabilities: {
    ...TEXT_CAPABILITIES,
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["caption"] },
    analytics: { account: ["followers"], post: ["views"] },
  },
  metadata: z.strictObject({ title: z.string().optional(), thumbnailUrl: z.string().optional() }),
  connect: [
    {
      kind: "none",
      name: "talkative",
      label: "At once",
      instructions: "It is made at once.",
      connect: async () => ({
        tokens: { secrets: MORE, expiresAt: null, renewableUntil: null, scopes: ["write"], answer: MORE },
        targets: [
          {
            ...targetOf({ platformAccountId: "1", name: "Talkative channel" }),
            settings: MORE,
            secrets: MORE,
            ...MORE,
          },
        ],
      }),
    },
  ],
  choices: { shelf: async () => [{ value: "1", label: "Poems", ...MORE }] },
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null, ...MORE }),
  edit: async () => ({ platformPostId: "2", ...MORE }),
  setThumbnail: async () => {},
  insights: async () => ({ state: "live", visibility: null, metrics: { views: 0, ...MORE }, ...MORE }),
  analytics: async () => ({
    totals: { followers: 3 },
    days: [{ date: "2026-11-20", metrics: { followers: 3 }, ...MORE }],
    unavailable: [{ metric: "views", reason: "Not offered.", ...MORE }],
    ...MORE,
  }),
});

const { tools, platforms } = await loadCatalog();

let service: Service;
let account: string;

beforeAll(async () => {
  service = await startService(
    {},
    {
      platforms: new Map(
        [...platforms, talkative, createCinema()].map((platform) => [platform.name, platform]),
      ),
    },
  );
  account = (await service.call("connect_channel", { provider: "talkative" })).account.id;
});

afterAll(() => service[Symbol.asyncDispose]());

async function addPost(set: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const args = { accountId: account, caption: "A post", scheduledAt: "2030-01-01T00:00:00Z" };
  const { post } = await service.call("schedule_post", args);
  await queryOf(service.ctx.store)
    .updateTable("posts")
    .set({ updated_at: service.clock.now(), ...set })
    .where("id", "=", post.id)
    .execute();
  return post.id;
}

const LIVE = { status: "published", next_at: null, platform_post_id: "1" };
const FAILED = { status: "failed", next_at: null, error: "It failed." };

async function addFile(): Promise<string> {
  const body = createReadStream(new URL("./fixtures/photo.png", import.meta.url));
  const { file } = await storeUpload(callOf(service.ctx), { name: "photo.png", altText: null, body });
  return file.id;
}

async function addDraft(): Promise<string> {
  const targets = [{ accountId: account }];
  return (await service.call("save_draft", { caption: "A draft", targets, note: "Later" })).draft.id;
}

async function addWebhook(): Promise<string> {
  return (await service.call("create_webhook", { url: "https://hooks.example/" })).webhook.id;
}

/** Arguments with which each tool answers all it can; a new tool adds its own. */
const CALLS: Readonly<Record<string, () => Promise<readonly object[]>>> = {
  cancel_post: async () => [{ id: await addPost() }],
  change_posts: async () => [{ ids: [await addPost()], shiftMinutes: 5, dryRun: true }],
  check_connection: async () => [
    { connectId: (await service.call("connect_channel", { provider: "webhook" })).connectId },
  ],
  connect_channel: async () => [{ provider: "webhook" }, { provider: "talkative" }],
  create_webhook: async () => [{ url: "https://hooks.example/made" }],
  decide_draft: async () => [{ id: await addDraft(), revision: 1, decision: "approve", note: "Good." }],
  delete_file: async () => [{ id: await addFile() }],
  delete_webhook: async () => [{ id: await addWebhook() }],
  disconnect_channel: async () => [{ accountId: await service.addFeed() }],
  edit_published_post: async () => [{ id: await addPost(LIVE), caption: "Another text" }],
  get_account_analytics: async () => [{ accountId: account, from: "2026-11-19" }],
  get_post: async () => [{ id: await addPost(LIVE), insights: true, history: true }],
  get_report: async () => [
    {},
    { by: "weekdayHour", from: "2026-11-01", to: "2026-11-30", at: "7d", limit: 5 },
  ],
  get_status: async () => [(await addPost({ ...FAILED, scheduled_at: service.clock.now() - 1_000 }), {})],
  list_accounts: async () => [{}],
  list_drafts: async () => [{ id: await addDraft() }, { limit: 1 }],
  list_files: async () => [(await addFile(), {})],
  list_choices: async () => [{ accountId: account, field: "shelf" }],
  list_platforms: async () => [{}, { provider: ["talkative", "cinema", "feed", "bluesky"] }],
  list_posts: async () => [(await addPost(), { limit: 1 })],
  list_webhooks: async () => {
    const id = await addWebhook();
    await service.call("test_webhook", { id });
    return [{}, { id }];
  },
  replay_webhook: async () => [{ id: await addWebhook(), since: "2026-11-01" }],
  resolve_post: async () => [{ id: await addPost({ ...FAILED, in_doubt: 1 }), outcome: "published" }],
  retry_post: async () => [{ id: await addPost(FAILED) }],
  save_draft: async () => [
    { caption: "A draft", targets: [{ accountId: account }], labels: ["x"], submit: true },
    { id: await addDraft(), revision: 1, repeat: { unit: "day", time: "09:00" } },
  ],
  schedule_post: async () => [{ accountId: account, caption: "Now" }],
  import_posts: async () => [
    { csv: `accountId,scheduledAt,caption\n${account},2150-01-01T09:00,Row\nacc_missing,2150-01-01T09:00,x` },
    { csv: `accountId,scheduledAt,caption\n${account},2150-01-01T09:00,Row`, dryRun: false },
  ],
  schedule_posts: async () => [
    { posts: [{ accountId: account, caption: "One" }, { accountId: "acc_missing" }] },
  ],
  set_thumbnail: async () => [{ id: await addPost(LIVE), thumbnailUrl: await addFile() }],
  show_calendar: async () => [(await addPost(), { from: "2030-01-01", to: "2030-01-02" })],
  test_webhook: async () => [{ id: await addWebhook() }],
  update_account: async () => {
    const accountId = await service.addFeed();
    const slots = [{ days: ["mon"], times: ["09:30"] }];
    const args = { accountId, schedule: { slots }, utm: { source: "news" }, move: true };
    return [args, { ...args, dryRun: true }];
  },
  update_post: async () => [{ id: await addPost(), caption: "Changed" }],
  upload_file: async () => [{}],
};

it.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s answers what its schema names, and nothing else",
  async (name, tool) => {
    const calls = CALLS[name];
    expect(calls, `the tool ${name} needs a call here`).toBeDefined();
    const production = createToolbox(service.ctx, tools, { checksOutput: false });
    for (const args of await calls!()) {
      const { result } = await production.call(name, args, callerOf());
      const sent = JSON.parse(JSON.stringify(result));
      expect(tool.output.safeParse(sent).error).toBeUndefined();
      expect(JSON.stringify(sent)).not.toContain(MORE.token);
    }
  },
);

it("leaves objects open only where nobody can name their fields", () => {
  expect(
    tools.flatMap((tool: AnyTool) =>
      openObjects(z.toJSONSchema(tool.output, { reused: "inline" }), tool.name),
    ),
  ).toEqual([
    "get_account_analytics.series",
    "list_platforms.platforms.metadataSchema",
    "list_platforms.platforms.connecting.secretsSchema",
  ]);
});

type Schema = Readonly<Record<string, any>>;

/**
 * Paths of objects with named fields, or with none at all, that take others; maps from texts to values are no
 * such objects.
 */
function openObjects(schema: Schema, path: string, root: Schema = schema): string[] {
  if (typeof schema["$ref"] === "string") {
    const id = schema["$ref"].replace("#/$defs/", "");
    return id.startsWith("__") || id === "Metadata" ? [] : openObjects(root["$defs"][id], path, root);
  }
  const inner = [
    schema["items"],
    ...["anyOf", "oneOf", "allOf"].flatMap((keyword) => schema[keyword] ?? []),
  ].filter(Boolean);
  const isOpen = schema["properties"] !== undefined && schema["additionalProperties"] !== false;
  return [
    ...(isOpen ? [path] : []),
    ...inner.flatMap((part) => openObjects(part, path, root)),
    ...Object.entries(schema["properties"] ?? {}).flatMap(([name, part]) =>
      openObjects(part as Schema, `${path}.${name}`, root),
    ),
  ];
}

it("finds a field too many where results are checked", async () => {
  const [tool] = tools.filter(({ name }) => name === "list_accounts");
  const spread = { ...tool!, handle: async () => ({ accounts: [], ...MORE }) };
  await expect(createToolbox(service.ctx, [spread]).call("list_accounts", {}, callerOf())).rejects.toThrow(
    z.ZodError,
  );
  const { result } = await createToolbox(service.ctx, [spread], { checksOutput: false }).call(
    "list_accounts",
    {},
    callerOf(),
  );
  expect(result).toHaveProperty("token");
});

it("names a tool that is not there", async () => {
  const calls = createToolbox(service.ctx, tools).call(`fly\n${"y".repeat(100)}`, {}, callerOf());
  await expect(calls).rejects.toThrow(/^There is no tool "fly\\ny{53}…"\. The tools are cancel_post, /);
});
