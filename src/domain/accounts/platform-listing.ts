import { z } from "zod";
import { Capabilities } from "./account.ts";

/** A platform that channels can be on. */
export const PlatformListing = z.strictObject({
  provider: z.string(),
  title: z.string(),
  configured: z.boolean(),
  missing: z.array(z.string()).describe("Settings that must be set first."),
  connect: z
    .enum(["none", "secrets", "oauth", "redirect"])
    .describe(
      "none: connects at once; secrets: a person enters them on a page; oauth, redirect: a person agrees on the platform.",
    ),
  docs: z.string(),
  capabilities: Capabilities,
  metadataSchema: z.looseObject({}).describe("JSON Schema of a post's metadata."),
});
export type PlatformListing = z.infer<typeof PlatformListing>;
