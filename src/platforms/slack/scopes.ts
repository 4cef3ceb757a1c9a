/** What the bot is asked to be allowed. */
export const SCOPES: readonly string[] = [
  "chat:write",
  "chat:write.public",
  "channels:read",
  "groups:read",
  "files:write",
  "files:read",
  "channels:history",
  "groups:history",
];

/** Without them, nothing can be posted, or no channel chosen. */
export const NEEDED_SCOPES: readonly string[] = ["chat:write", "channels:read"];
