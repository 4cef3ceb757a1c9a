import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readConfig } from "../../src/app/config.ts";
import { DEFAULT_TOOL_SETS, PERMISSIONS } from "../../src/domain/permissions.ts";
import { offerSets } from "../../src/mcp/server.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext } from "../support/context.ts";

const { tools } = await loadCatalog();

describe("the sets of tools that MCP lists", () => {
  it("leave out those for administrators, whose calls are refused by name", async () => {
    await using ctx = await createTestContext();
    const toolbox = createToolbox(ctx, tools);
    const offered = offerSets(toolbox, DEFAULT_TOOL_SETS);
    const names = offered.list(callerOf()).map(({ name }) => name);
    expect(toolbox.list(callerOf()).filter(({ name }) => !names.includes(name))).toHaveLength(5);
    expect(names).toContain("import_posts");
    expect(names.filter((name) => name.includes("webhook"))).toEqual([]);
    await expect(offered.call("list_webhooks", {}, callerOf())).rejects.toThrow(
      /^The tool list_webhooks is not offered over MCP: .*POSTHORN_TOOLS=all/,
    );
    expect((await toolbox.call("list_webhooks", {}, callerOf())).result).toMatchObject({ webhooks: [] });
    expect((await offered.call("list_platforms", {}, callerOf())).result).toHaveProperty("platforms");
  });

  it("tell whoever lacks the permission the same as without them", async () => {
    await using ctx = await createTestContext();
    const toolbox = createToolbox(ctx, tools);
    const reader = callerOf({ permissions: ["read"] });
    const sentence = (access: Pick<typeof toolbox, "call">, name: string): Promise<string> =>
      access.call(name, {}, reader).then(
        () => "",
        (error: Error) => error.message,
      );
    for (const name of ["list_webhooks", "schedule_post", "no_such_tool"])
      expect(await sentence(offerSets(toolbox, DEFAULT_TOOL_SETS), name)).toBe(await sentence(toolbox, name));
  });

  it("are a setting, whose unknown names are refused", () => {
    const setsOf = (text?: string): unknown =>
      readConfig(text === undefined ? {} : { POSTHORN_TOOLS: text }, []).config.toolSets;
    expect(setsOf()).toEqual(["read", "draft", "publish", "accounts", "files"]);
    expect(setsOf("all")).toEqual(PERMISSIONS);
    expect(setsOf("publish, read")).toEqual(["read", "publish"]);
    for (const bad of ["webhooks", "read,", "all,read"])
      expect(() => setsOf(bad)).toThrow(
        "POSTHORN_TOOLS: must be all, or some of read, draft, publish, accounts, files, admin,",
      );
  });
});
