import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import checkConnection from "../../tools/check_connection.ts";
import connectChannel from "../../tools/connect_channel.ts";
import { createPhotobox, createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";

async function setUp() {
  const ctx = await createTestContext({ platformList: [createPhotobox().platform, createPinboard()] });
  return createToolbox(ctx, [connectChannel, checkConnection]);
}

describe("connect_channel", () => {
  it("gives the whole account of a platform that connects at once", async () => {
    const toolbox = await setUp();
    const { result } = await toolbox.call(
      "connect_channel",
      { provider: "pinboard", name: "News" },
      callerOf(),
    );
    expect(result).toMatchObject({
      status: "connected",
      url: null,
      account: { name: "News", scopes: [], queuedCount: 0 },
    });
  });

  it("makes one account for one idempotency key, and answers it again", async () => {
    const toolbox = await setUp();
    const args = { provider: "pinboard", idempotencyKey: "once" };
    const first = await toolbox.call("connect_channel", args, callerOf());
    const second = await toolbox.call("connect_channel", args, callerOf());
    expect(second).toEqual({ ...first, isReplay: true });
  });

  it("needs the permission, and says what is wrong with its arguments", async () => {
    const toolbox = await setUp();
    await expect(
      toolbox.call("connect_channel", {}, callerOf({ permissions: ["read"] })),
    ).rejects.toMatchObject({ kind: "forbidden" });
    await expect(toolbox.call("connect_channel", {}, callerOf())).rejects.toThrow(/^provider: is required/);
    await expect(
      toolbox.call("connect_channel", { provider: "pinboard", password: "x" }, callerOf()),
    ).rejects.toThrow(/"password" is not a known field/);
  });

  it.each([
    ["instanceUrl", "https://example.com"],
    ["handle", "alice"],
  ])("drops no %s that its platform has no use for", async (field, value) => {
    const toolbox = await setUp();
    await expect(
      toolbox.call("connect_channel", { provider: "pinboard", [field]: value }, callerOf()),
    ).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(`^${field}: Pinboard has no`),
    });
  });
});
