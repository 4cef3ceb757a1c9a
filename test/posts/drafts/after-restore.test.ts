import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createKey } from "../../../src/access/api-keys.ts";
import { loadCatalog } from "../../../src/app/setup.ts";
import { noticeRestore } from "../../../src/publishing/restored.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf, rowsOf } from "../../support/handles.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const { tools } = await loadCatalog();
const plain = scriptedPlatform({
  name: "plain",
  capabilities: TEXT_CAPABILITIES,
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});

let folder: ReturnType<typeof temporaryFolder>;
let ctx: TestContext;
let toolbox: Toolbox;
let draft: { id: string };
beforeEach(async () => {
  folder = temporaryFolder();
  ctx = await createTestContext({ platformList: [plain] });
  toolbox = createToolbox(ctx, tools);
  await addAccount(ctx, { name: "Blog", provider: "plain" });
  const content = {
    caption: "Launch day",
    targets: [{ accountId: "Blog" }],
    scheduledAt: "2027-03-01T09:00:00Z",
  };
  const saved = await toolbox.call("save_draft", { ...content, submit: true }, callerOf());
  draft = saved.result["draft"] as { id: string };
});
afterEach(async () => {
  await ctx[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The database was put back from a copy, and nothing tells what was decided since. */
async function putBack(): Promise<void> {
  const file = join(folder.path, "generation");
  await noticeRestore(ctx, join(folder.path, "new"));
  writeFileSync(file, `${randomUUID()} 7\n`);
  await noticeRestore(ctx, file);
}

function approve(options: Parameters<Toolbox["call"]>[3] = {}, caller = callerOf()): Promise<unknown> {
  const decision = { id: draft.id, revision: 1, decision: "approve" };
  return toolbox.call("decide_draft", decision, caller, options);
}

const LOOK = {
  kind: "conflict",
  message: expect.stringMatching(/put back from a copy.*Look at its channels/),
};

it("asks once to look at the channels of a draft that may have been approved since", async () => {
  await putBack();
  await expect(approve()).rejects.toMatchObject(LOOK);
  expect(await rowsOf(ctx.store, "SELECT * FROM posts")).toEqual([]);
  await approve();
  expect(await rowsOf(ctx.store, "SELECT * FROM posts")).toHaveLength(1);
});

it("is not spent by calls that approve nothing anyway", async () => {
  await putBack();
  const writer = callerOf({ keyId: "key_writer", permissions: ["read", "draft"] });
  await expect(approve({}, writer)).rejects.toMatchObject({ kind: "forbidden" });
  await expect(approve({ isByModel: true })).rejects.toThrow(/is for a person/);
  await expect(approve({ isByModel: true, ask: async () => "no" })).rejects.toThrow(/declined/);
  await expect(
    toolbox.call("decide_draft", { id: draft.id, revision: 7, decision: "approve" }, callerOf()),
  ).rejects.toThrow(/revision: 7/);
  const asked: string[] = [];
  const ask = async ({ text }: { readonly text: string }) => {
    asked.push(text);
    return "yes" as const;
  };
  await expect(approve({ isByModel: true, ask })).rejects.toMatchObject(LOOK);
  await approve({ isByModel: true, ask });
  expect(asked).toHaveLength(2);
});

it("asks nothing of what is written or decided after it", async () => {
  await putBack();
  await toolbox.call("decide_draft", { id: draft.id, decision: "discard" }, callerOf());
  const content = { caption: "New", targets: [{ accountId: "Blog" }], scheduledAt: "2027-03-02T09:00:00Z" };
  const saved = await toolbox.call("save_draft", content, callerOf());
  draft = saved.result["draft"] as { id: string };
  await approve();
  expect(await rowsOf(ctx.store, "SELECT key FROM meta WHERE key LIKE 'restored_draft:%'")).toEqual([]);
});

it("ends the access of programs and who is signed in, and names the keys that are good again", async () => {
  const { apiKey } = await createKey(callOf(ctx), { name: "Stolen" });
  const { apiKey: program } = await createKey(callOf(ctx), { name: "Program" });
  const of = {
    owner_id: "default",
    given_by: "local",
    giver_mark: null,
    client: "{}",
    client_id: "c",
    resource: "",
  };
  await queryOf(ctx.store)
    .insertInto("oauth_grants")
    .values({ ...of, id: program.id })
    .execute();
  const token = { token_hash: "t", owner_id: "default", grant_id: program.id, kind: "refresh" } as const;
  await queryOf(ctx.store)
    .insertInto("oauth_tokens")
    .values({ ...token, expires_at: Number.MAX_SAFE_INTEGER, replaced_at: null })
    .execute();
  await queryOf(ctx.store)
    .insertInto("page_sign_ins")
    .values({ token_hash: "s", owner_id: "default", expires_at: Number.MAX_SAFE_INTEGER })
    .execute();
  await putBack();
  expect(ctx.log.lines).toMatchObject([
    { level: "warn", fields: { posts: 0, programs: 1, drafts: 1, keys: [`Stolen (${apiKey.id})`] } },
  ]);
  const rows = await queryOf(ctx.store).selectFrom("api_keys").select(["id", "revoked_at"]).execute();
  expect(rows.filter((row) => row.revoked_at !== null).map(({ id }) => id)).toEqual([program.id]);
  for (const table of ["oauth_tokens", "page_sign_ins"])
    expect(await rowsOf(ctx.store, `SELECT * FROM ${table}`)).toEqual([]);
});
