import { expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { nearestTool } from "../../src/toolkit/nearest-tool.ts";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext } from "../support/context.ts";

const { tools } = await loadCatalog();
const names = tools.map(({ name }) => name);

it.each([
  ["delete_posts", "cancel_post"],
  ["delete_post", "cancel_post"],
  ["deletePost", "cancel_post"],
  ["create_post", "schedule_post"],
  ["create-posts", "schedule_posts"],
  ["publish_post", "schedule_post"],
  ["shedule_post", "schedule_post"],
  ["list_channels", "list_accounts"],
  ["get_accounts", "list_accounts"],
  ["delete_channel", "disconnect_channel"],
  ["edit_post", "update_post"],
  ["create_draft", "save_draft"],
  ["approve_draft", "decide_draft"],
  ["get_analytics", "get_account_analytics"],
  ["list_providers", "list_platforms"],
  ["view_calendar", "show_calendar"],
  ["remove_file", "delete_file"],
  ["upload_image", "upload_file"],
])("%s means %s", (given, meant) => {
  expect(nearestTool(given, names)).toBe(meant);
});

it.each(["", "_", "make_coffee", "post", "delete", "exec_sql", "x".repeat(500)])("%j means none", (given) => {
  expect(nearestTool(given, names)).toBeNull();
});

it("is one that the caller may call, and only those are named", async () => {
  await using ctx = await createTestContext();
  const toolbox = createToolbox(ctx, tools);
  const said = (name: string, caller = callerOf()): Promise<string> =>
    toolbox.call(name, {}, caller).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await said("delete_posts")).toMatch(
    /^There is no tool "delete_posts"\. Did you mean cancel_post\? The tools are cancel_post, change_posts, /,
  );
  const reader = callerOf({ permissions: ["read"] });
  const refused = await said("delete_posts", reader);
  expect(refused).toBe(
    `There is no tool "delete_posts". The tools are ${toolbox
      .list(reader)
      .map(({ name }) => name)
      .join(", ")}.`,
  );
});

it("names no field that is not listed", async () => {
  await using ctx = await createTestContext();
  const toolbox = createToolbox(ctx, tools);
  for (const { name, inputSchema } of toolbox.list(callerOf())) {
    const listed = Object.keys(inputSchema["properties"] ?? {});
    const refused = await toolbox.call(name, { nonsense: 1 }, callerOf()).catch(agentsWordsFor);
    const hint = listed.length === 0 ? "It takes no fields." : `The fields are ${listed.join(", ")}.`;
    expect(refused, name).toContain(`"nonsense" is not a known field. ${hint}`);
  }
});
