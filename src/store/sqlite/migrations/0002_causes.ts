/**
 * Why a post was late, what its account waits for, and whether it brings media, each known when it is
 * written.
 */
export const statements: readonly string[] = [
  `ALTER TABLE posts ADD COLUMN is_light INTEGER NOT NULL DEFAULT 0`,
  // Those that still wait; nobody asks it of the others. Addresses of media stood in metadata under names
  // that end so.
  `UPDATE posts SET is_light = 1
   WHERE next_at IS NOT NULL AND media_url = '' AND (metadata IS NULL OR metadata NOT LIKE '%url":%')`,
  `ALTER TABLE accounts ADD COLUMN wait_cause TEXT`,
  `ALTER TABLE accounts ADD COLUMN freed_at INTEGER`,
  `ALTER TABLE attempts ADD COLUMN late_cause TEXT`,
];
