/** How far a connection that was started has come; `expired` is one whose address was not used in time. */
export const CONNECTION_STATUSES = ["pending", "connected", "failed", "expired"] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];
