import { z } from "zod";
import { ACCOUNT_STATUSES } from "./account.ts";

/** How far a connection that was started has come; `expired` is one whose address was not used in time. */
export const CONNECTION_STATUSES = ["pending", "connected", "failed", "expired"] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/**
 * A whole `Account`, of which the schema tells the fields that matter here: list_accounts describes all of them, and the list
 * of tools has to stay small.
 */
export const ConnectedChannel = z
  .looseObject({
    id: z.string(),
    provider: z.string(),
    name: z.string(),
    status: z.enum(ACCOUNT_STATUSES),
    statusReason: z.string().nullable(),
  })
  .describe("All fields as in list_accounts.");
