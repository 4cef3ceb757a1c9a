/** Webhooks that are told in words, for people. */
export const statements: readonly string[] = [
  `ALTER TABLE webhooks ADD COLUMN format text COLLATE "C" NOT NULL DEFAULT 'standard'`,
  // When people were last told of each account, as a JSON object of milliseconds by id.
  `ALTER TABLE webhooks ADD COLUMN last_told text COLLATE "C" NOT NULL DEFAULT '{}'`,
];
