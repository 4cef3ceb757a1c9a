import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import getStatus from "../../tools/get_status.ts";
import { callerOf, createTestContext } from "../support/context.ts";

describe("get_status", () => {
  it("answers without arguments", async () => {
    await using ctx = await createTestContext();
    const { result } = await createToolbox(ctx, [getStatus]).call(
      "get_status",
      undefined,
      callerOf({ permissions: ["read"] }),
    );
    expect(result).toMatchObject({
      now: "2026-11-21T09:00:00.000Z",
      publisher: { running: false },
      counts: { scheduled: 0 },
    });
  });

  it("needs the permission to read", async () => {
    await using ctx = await createTestContext();
    const call = createToolbox(ctx, [getStatus]).call("get_status", {}, callerOf({ permissions: ["files"] }));
    await expect(call).rejects.toMatchObject({ kind: "forbidden" });
  });
});
