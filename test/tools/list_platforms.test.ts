import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import listPlatforms from "../../tools/list_platforms.ts";
import { createPhotobox, createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";

describe("list_platforms", () => {
  it("answers every platform in short, and those that are named with the schema of their metadata", async () => {
    const ctx = await createTestContext({ platformList: [createPinboard(), createPhotobox().platform] });
    const list = async (args: object) =>
      (
        await createToolbox(ctx, [listPlatforms]).call(
          "list_platforms",
          args,
          callerOf({ permissions: ["read"] }),
        )
      ).result;
    const short = await list({});
    expect(short).toMatchObject({
      platforms: [
        { provider: "photobox", connect: "secrets" },
        { provider: "pinboard", connect: "none", configured: true, missing: [] },
      ],
    });
    expect(JSON.stringify(short)).not.toContain("metadataSchema");
    expect(await list({ provider: ["photobox"] })).toMatchObject({
      platforms: [{ provider: "photobox", metadataSchema: { properties: { title: { maxLength: 50 } } } }],
    });
  });
});
