import * as z from "zod";
import { PlatformListing, PlatformsArgs } from "../src/domain/accounts/platform-listing.ts";
import { listPlatforms } from "../src/channels/platform-io/list-platforms.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_platforms",
  title: "List platforms",
  permission: "read",
  description:
    "Every platform in short: whether it can be connected, what it takes. With provider, all of it: capabilities, JSON Schema of metadata, steps to register an app. Call it with a channel's provider before schedule_post for the metadata. " +
    'Example: {"provider":["bluesky"]}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: PlatformsArgs,
  output: z.strictObject({
    platforms: z.array(PlatformListing).describe("By name."),
  }),
  handle: (args, call) => listPlatforms(call, args),
});
