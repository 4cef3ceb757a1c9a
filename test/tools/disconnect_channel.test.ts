import connectChannel from "../../tools/connect_channel.ts";
import disconnectChannel from "../../tools/disconnect_channel.ts";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { startService } from "../support/service.ts";

describe("disconnect_channel", () => {
  it("answers the account as it is then", async () => {
    const ctx = await createTestContext({ platformList: [createPinboard()] });
    const toolbox = createToolbox(ctx, [connectChannel, disconnectChannel]);
    const { result } = await toolbox.call("connect_channel", { provider: "pinboard" }, callerOf());
    const { id } = result["account"] as { id: string };
    const { result: gone } = await toolbox.call("disconnect_channel", { accountId: id }, callerOf());
    expect(gone).toMatchObject({
      account: { id, status: "disconnected", statusReason: "It was disconnected on request." },
    });
    await expect(
      toolbox.call("disconnect_channel", { accountId: "acc_unknown" }, callerOf()),
    ).rejects.toMatchObject({ kind: "not_found" });
  });

  it("leaves the channel its name, by which it is found and reconnected", async () => {
    await using service = await startService();
    const accountId = await service.addFeed();
    await service.call("save_draft", { caption: "Later", targets: [{ accountId }] });
    await service.call("disconnect_channel", { accountId });
    const named = { accountId: "feed OF default" };
    expect((await service.call("list_drafts", named)).drafts).toHaveLength(1);
    await expect(service.call("schedule_post", { ...named, caption: "Now" })).rejects.toThrow(
      `must be reconnected first`,
    );
    const { account } = await service.call("connect_channel", named);
    expect(account).toMatchObject({ id: accountId, status: "connected" });
  });
});
