/** What a statement of posts notes for each of the files that its row names. */
const NOTE_USES = `INSERT INTO file_uses (account_id, file_id, posts)
      SELECT NEW.account_id, value, 1 FROM json_each(NEW.file_ids) WHERE TRUE
      ON CONFLICT (account_id, file_id) DO UPDATE SET posts = posts + 1;`;

/** Which API key brought a file, and the posts of which accounts use it: what a limited key may see. */
export const statements: readonly string[] = [
  // Null for files of before: nobody knows who brought them.
  `ALTER TABLE files ADD COLUMN key_id TEXT`,
  `CREATE INDEX files_key ON files (owner_id, key_id, id) WHERE key_id IS NOT NULL`,

  // The files that stand where a post shows media. A text that only looks like one's address does not count.
  `ALTER TABLE posts ADD COLUMN file_ids TEXT`,
  `UPDATE posts SET file_ids = (
     SELECT json_group_array(id) FROM (
       SELECT files.id FROM files
       WHERE files.owner_id = posts.owner_id AND files.storage_key IN (
         SELECT substr(posts.media_url, 6)
         UNION SELECT substr(value, 6) FROM json_tree(posts.metadata)
           WHERE type = 'text' AND key LIKE '%url' AND value LIKE 'r2://%')
       ORDER BY files.id))
   WHERE media_url LIKE 'r2://%' OR instr(metadata, '"r2://') > 0`,
  `UPDATE posts SET file_ids = NULL WHERE file_ids = '[]'`,

  // How many posts of an account, in whatever state, use a file.
  `CREATE TABLE file_uses (
    account_id TEXT NOT NULL, file_id TEXT NOT NULL, posts INTEGER NOT NULL, PRIMARY KEY (account_id, file_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX file_uses_file ON file_uses (file_id)`,
  `INSERT INTO file_uses (account_id, file_id, posts)
   SELECT posts.account_id, value, count(*) FROM posts, json_each(posts.file_ids)
   WHERE posts.file_ids IS NOT NULL GROUP BY posts.account_id, value`,
  // Triggers, so that no statement that writes a post can forget them.
  `CREATE TRIGGER posts_files_made AFTER INSERT ON posts WHEN NEW.file_ids IS NOT NULL
    BEGIN
      ${NOTE_USES}
    END`,
  `CREATE TRIGGER posts_files_changed AFTER UPDATE OF file_ids ON posts WHEN NEW.file_ids IS NOT OLD.file_ids
    BEGIN
      UPDATE file_uses SET posts = posts - 1
        WHERE account_id = OLD.account_id AND file_id IN (SELECT value FROM json_each(OLD.file_ids));
      DELETE FROM file_uses
        WHERE account_id = OLD.account_id AND file_id IN (SELECT value FROM json_each(OLD.file_ids)) AND posts <= 0;
      ${NOTE_USES}
    END`,
];
