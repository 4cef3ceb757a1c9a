import { describe, expect, it } from "vitest";
import { submitSecrets } from "../../src/channels/connecting/connect-page.ts";
import { guestCall } from "../../src/context.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import checkConnection from "../../tools/check_connection.ts";
import connectChannel from "../../tools/connect_channel.ts";
import { createPhotobox } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";

describe("check_connection", () => {
  it("follows a connection from pending to connected", async () => {
    const ctx = await createTestContext({ platformList: [createPhotobox().platform] });
    const toolbox = createToolbox(ctx, [connectChannel, checkConnection]);
    const { result: started } = await toolbox.call("connect_channel", { provider: "photobox" }, callerOf());
    const check = async () =>
      (await toolbox.call("check_connection", { connectId: started["connectId"] }, callerOf())).result;
    expect(await check()).toEqual({ status: "pending", account: null, accounts: [], error: null });
    const token = String(started["url"]).split("/connect/")[1] ?? "";
    const secrets = { handle: "alice.example", appPassword: "alice-password-1" };
    await submitSecrets(guestCall(ctx), { token, secrets });
    expect(await check()).toMatchObject({
      status: "connected",
      account: { handle: "alice.example" },
      error: null,
    });
    await expect(
      toolbox.call("check_connection", { connectId: "con_unknown" }, callerOf()),
    ).rejects.toMatchObject({ kind: "not_found" });
  });
});
