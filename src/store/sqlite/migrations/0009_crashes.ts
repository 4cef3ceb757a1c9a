/** One count of the attempts in a row that ended with their process, in place of three columns. */
export const statements: readonly string[] = [
  `DROP INDEX posts_suspects`,
  `ALTER TABLE posts RENAME COLUMN ends TO crashes`,
  `ALTER TABLE posts DROP COLUMN lone_ends`,
  `ALTER TABLE posts DROP COLUMN ends_at_step`,
  `UPDATE posts SET crashes = 1 WHERE crashes > 1`,
  // Nearly always empty: posts that one more crash makes fail.
  `CREATE INDEX posts_crashed ON posts (next_at) WHERE crashes >= 2`,
];
