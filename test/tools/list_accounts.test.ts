import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import connectChannel from "../../tools/connect_channel.ts";
import listAccounts from "../../tools/list_accounts.ts";
import { createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";

describe("list_accounts", () => {
  it("answers the accounts to any key that may read, as its schema says", async () => {
    const ctx = await createTestContext({ platformList: [createPinboard()] });
    const toolbox = createToolbox(ctx, [listAccounts, connectChannel]);
    await toolbox.call("connect_channel", { provider: "pinboard" }, callerOf());
    const { result } = await toolbox.call("list_accounts", {}, callerOf({ permissions: ["read"] }));
    expect(result).toMatchObject({
      accounts: [{ provider: "pinboard", queuedCount: 0, capabilities: { reconciles: "client_key" } }],
    });
    const [{ id }] = result["accounts"] as [{ id: string }];
    await toolbox.call("connect_channel", { provider: "pinboard" }, callerOf());
    const one = await toolbox.call("list_accounts", { accountId: id }, callerOf());
    expect(one.result).toMatchObject({ accounts: [{ id }] });
    await expect(toolbox.call("list_accounts", { accountId: "acc_x" }, callerOf())).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(toolbox.call("list_accounts", { status: "x" }, callerOf())).rejects.toMatchObject({
      kind: "invalid",
    });
    await expect(
      toolbox.call("list_accounts", {}, callerOf({ permissions: ["publish"] })),
    ).rejects.toMatchObject({ kind: "forbidden" });
  });
});
