import { describe, expect, it } from "vitest";
import { showCapabilities } from "../../../src/domain/accounts/capabilities.ts";
import { listPlatforms } from "../../../src/services/platforms/platforms.ts";
import { createPhotobox, createPinboard } from "../../support/connect-fixtures.ts";
import { callOf, createTestContext } from "../../support/context.ts";

describe("listPlatforms", () => {
  it("tells what each can do, what is missing, and the schema of its metadata", async () => {
    const { platform } = createPhotobox({ requiredSettings: ["POSTHORN_PHOTOBOX_CLIENT_ID"] });
    const ctx = await createTestContext({ platformList: [createPinboard(), platform] });
    const { platforms } = await listPlatforms(callOf(ctx));
    expect(platforms.map((one) => [one.provider, one.configured, one.missing, one.connect])).toEqual([
      ["photobox", false, ["POSTHORN_PHOTOBOX_CLIENT_ID"], "secrets"],
      ["pinboard", true, [], "none"],
    ]);
    expect(platforms[0]).toMatchObject({
      title: "Photobox",
      docs: platform.docs,
      capabilities: showCapabilities(platform.capabilities),
    });
    expect(platforms[0]?.metadataSchema).toMatchObject({
      type: "object",
      properties: { title: { type: "string", maxLength: 50 } },
      additionalProperties: false,
    });
  });
});
