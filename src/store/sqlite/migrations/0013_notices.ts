/** Webhooks that are told in words, for people. */
export const statements: readonly string[] = [
  `ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT 'standard'`,
  // When people were last told of each account, as a JSON object of milliseconds by id.
  `ALTER TABLE webhooks ADD COLUMN last_told TEXT NOT NULL DEFAULT '{}'`,
];
