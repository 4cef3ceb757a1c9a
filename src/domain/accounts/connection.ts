import * as z from "zod";
import { Said } from "../sentences.ts";
import { optionalName } from "../optional.ts";
import { Account } from "./account.ts";

/** `choose`: several channels were found, and a person says which. `expired`: not used in time. */
export const CONNECTION_STATUSES = ["pending", "choose", "connected", "failed", "expired"] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** What is to be connected. */
export const ConnectArgs = z.strictObject({
  provider: optionalName(64).describe("From list_platforms. Needed without accountId."),
  way: optionalName(64).describe("One of its ways, from list_platforms."),
  accountId: optionalName(320).describe("Reconnect this channel."),
  instanceUrl: optionalName(2_048).describe("Server of a self-hosted platform."),
  handle: optionalName(320).describe("User name on the platform."),
  name: optionalName(100).describe("What to call the channel."),
});
export type ConnectArgs = z.infer<typeof ConnectArgs>;

/** The channel, or the page on which a person connects it. */
export const ConnectResult = z.strictObject({
  status: z.enum(["authorization_required", "connected"]).describe("Whether a person is needed."),
  connectId: z.string().nullable().describe("For check_connection."),
  url: z.string().nullable().describe("The person opens it. It works once."),
  expiresAt: z.iso.datetime().nullable().describe("Until when url works."),
  instructions: Said.nullable().describe("What to ask the person."),
  account: Account.nullable().describe("Set once connected."),
  accounts: z.array(Account).describe("All that it connected."),
});
export type ConnectResult = z.infer<typeof ConnectResult>;
/** Before a face words it. */
export type SaidConnectResult = z.input<typeof ConnectResult>;
