import { z } from "zod";
import { Account } from "../src/domain/accounts/account.ts";
import { connectChannel, linkOf } from "../src/services/accounts/connections.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  status: z.enum(["authorization_required", "connected"]).describe("Whether a person is needed."),
  connectId: z.string().nullable().describe("For check_connection."),
  url: z.string().nullable().describe("The person opens it; works once."),
  expiresAt: z.iso.datetime().nullable().describe("Until when url works."),
  instructions: z.string().nullable().describe("What to ask the person."),
  account: Account.nullable().describe("Set once connected."),
});

export default defineTool({
  name: "connect_channel",
  title: "Connect a channel",
  permission: "accounts",
  description:
    "Connect a channel, or reconnect one whose status asks for it. Answers an address that the person must open to enter the secrets; never ask for a password or token in the conversation. " +
    "Then call check_connection. Platforms that need no secrets connect at once. Take provider from list_platforms and accountId (to reconnect) from list_accounts. " +
    'Example: {"provider":"bluesky","handle":"alice.example"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({
    provider: z.string().min(1).max(64).describe("Platform name from list_platforms."),
    accountId: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("Reconnect this account; it keeps its id and posts."),
    instanceUrl: z
      .string()
      .min(1)
      .max(2_048)
      .optional()
      .describe("Server of a self-hosted platform, for example https://pds.example."),
    handle: z.string().min(1).max(320).optional().describe("User name on the platform."),
    name: z.string().min(1).max(100).optional().describe("What to call the channel."),
  }),
  output,
  link: linkOf,
  handle: (args, call) => connectChannel(call, args),
});
