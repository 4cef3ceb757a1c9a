import { z } from "zod";
import { PlatformListing } from "../src/domain/accounts/platform-listing.ts";
import { listPlatforms } from "../src/services/platforms/platforms.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_platforms",
  title: "List platforms",
  permission: "read",
  description:
    "List every platform a channel can be on: whether it can be connected here (and which settings are missing), what it can do, and the JSON Schema of a post's metadata on it. " +
    "Call it before connect_channel for the provider's name, and before schedule_post for the metadata fields. Example: {}",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({}),
  output: z.strictObject({
    platforms: z.array(PlatformListing).describe("By name."),
  }),
  handle: (_args, call) => listPlatforms(call),
});
