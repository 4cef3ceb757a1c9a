import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { isAllowed, type Permission, ROLES } from "../../src/domain/permissions.ts";
import { offerSets } from "../../src/mcp/server.ts";
import { createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../support/context.ts";

const { tools } = await loadCatalog();
const CONNECTIONS = { stdio: { isLocal: true }, OAuth: { isProgram: true } } as const;
const PERMISSIONS: Readonly<Record<string, readonly Permission[]>> = {
  ...ROLES,
  "keeper of files": ["files"],
  nobody: [],
};

let ctx: TestContext;
let toolbox: Toolbox;

beforeAll(async () => {
  ctx = await createTestContext();
  toolbox = createToolbox(ctx, tools);
});

afterAll(async () => {
  await ctx[Symbol.asyncDispose]();
});

async function sentenceOf(call: Promise<unknown>): Promise<string> {
  return call.then(() => expect.unreachable(), agentsWordsFor);
}

describe.each(Object.entries(CONNECTIONS))("over %s", (_way, kind) => {
  it.each(Object.entries(PERMISSIONS))(
    "a %s is told what it may do instead of each tool",
    async (_role, permissions) => {
      const caller = callerOf({ permissions: [...permissions], ...kind });
      const own = toolbox.names(caller);
      for (const { name, permission } of tools.filter((tool) => !isAllowed(caller, tool.permission))) {
        const sentence = await sentenceOf(toolbox.call(name, {}, caller));
        expect(sentence, `${name} needs ${permission}`).toMatch(/^This assistant [a-z ]+\. .*\.$/);
        expect(sentence).not.toMatch(/\bkey\b|permission/);
        const named = sentence.match(/[a-z]+(?:_[a-z]+)+/g) ?? [];
        expect(named.filter((one) => !own.includes(one))).toEqual([]);
        if (own.length > 0 && permissions.includes("read")) expect(named).not.toEqual([]);
      }
    },
  );

  it("a writer is told of drafts", async () => {
    const writer = callerOf({ permissions: [...ROLES.writer], ...kind });
    expect(await sentenceOf(toolbox.call("import_posts", {}, writer))).toBe(
      'This assistant writes drafts. import_posts with as "drafts"; a person approves.',
    );
    for (const name of ["schedule_post", "schedule_posts"])
      expect(await sentenceOf(toolbox.call(name, {}, writer))).toBe(
        "This assistant writes drafts. save_draft with submit; a person approves.",
      );
    const withoutDrafts = offerSets(toolbox, ["read", "publish"]);
    expect(await sentenceOf(withoutDrafts.call("schedule_post", {}, writer))).not.toContain("save_draft");
  });
});

it("a key is told which permission it lacks", async () => {
  for (const { name, permission } of tools.filter(
    (tool) => !isAllowed({ permissions: ROLES.viewer }, tool.permission),
  ))
    expect(await sentenceOf(toolbox.call(name, {}, callerOf({ permissions: ["read"] })))).toBe(
      `This key may not call ${name}: it lacks the permission "${permission}". Use a key that has it, or ask the owner to create one.`,
    );
});

it("a tool that is not there is named with the nearest of those that are offered", async () => {
  const ask = (name: string, tools: Pick<Toolbox, "call"> = toolbox): Promise<string> =>
    sentenceOf(tools.call(name, {}, callerOf()));
  for (const name of ["listPosts", "posthorn_list_posts", "mcp__posthorn__list_posts"])
    expect(await ask(name)).toMatch(`There is no tool "${name}". Did you mean list_posts?`);
  expect(await ask("list_webhook")).toContain("Did you mean list_webhooks?");
  expect(await ask("list_webhook", offerSets(toolbox, ["read"]))).not.toContain("list_webhooks");
});
