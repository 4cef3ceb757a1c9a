import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import listPlatforms from "../../tools/list_platforms.ts";
import { createPhotobox, createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, createTestContext } from "../support/context.ts";

describe("list_platforms", () => {
  it("answers every platform with the schema of its metadata", async () => {
    const ctx = await createTestContext({ platformList: [createPinboard(), createPhotobox().platform] });
    const { result } = await createToolbox(ctx, [listPlatforms]).call(
      "list_platforms",
      {},
      callerOf({ permissions: ["read"] }),
    );
    expect(result).toMatchObject({
      platforms: [
        {
          provider: "photobox",
          connect: "secrets",
          metadataSchema: { properties: { title: { maxLength: 50 } } },
        },
        { provider: "pinboard", connect: "none", configured: true, missing: [] },
      ],
    });
  });
});
