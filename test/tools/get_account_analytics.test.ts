import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import tool from "../../tools/get_account_analytics.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { addAccount } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

describe("get_account_analytics", () => {
  it("answers by day unless told otherwise", async () => {
    const platform = scriptedPlatform({ publish: async () => ({ state: "prepared" }) });
    await using ctx = await createTestContext({ platformList: [platform] });
    await addAccount(ctx, { id: "acc_1" });
    const { result } = await createToolbox(ctx, [tool]).call(
      tool.name,
      { accountId: "acc_1", from: "2026-11-20" },
      callerOf(),
    );
    expect(result).toMatchObject({
      granularity: "day",
      series: [{ date: "2026-11-20", postsPublished: 0 }, { date: "2026-11-21" }],
    });
  });

  it.each([
    [{ accountId: "acc_1" }, /^from: /],
    [{ from: "2026-11-20" }, /^accountId: /],
    [
      { accountId: "acc_1", from: "2026-11-20", granularity: "hour" },
      /^granularity: must be one of "day", "total"\.$/,
    ],
  ])("refuses %j", async (args, sentence) => {
    await using ctx = await createTestContext();
    await expect(createToolbox(ctx, [tool]).call(tool.name, args, callerOf())).rejects.toThrow(sentence);
  });
});
