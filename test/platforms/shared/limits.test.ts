import { expect, it } from "vitest";
import { Capabilities } from "../../../src/domain/accounts/account.ts";
import { ACCEPTED, limits } from "../../../src/platforms/shared/limits.ts";

it("fills in that what is left out is no limit", () => {
  const made = limits("image", { mimeTypes: ACCEPTED.image, maxItems: 4, maxBytes: 5, maxWidth: 10 });
  expect(made).toEqual({
    kind: "image",
    mimeTypes: [...ACCEPTED.image],
    maxItems: 4,
    maxBytes: 5,
    maxWidth: 10,
    maxSeconds: null,
    minAspectRatio: null,
    maxAspectRatio: null,
  });
  expect(Capabilities.shape.media.safeParse({ required: false, maxItems: 4, accepts: [made] }).success).toBe(
    true,
  );
});
