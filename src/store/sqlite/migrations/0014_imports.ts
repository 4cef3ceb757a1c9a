/** Rows of imported tables that were made once. A post's row holds what it became since. */
export const statements: readonly string[] = [
  `CREATE TABLE imported_rows (
    owner_id TEXT NOT NULL, mark TEXT NOT NULL, post_id TEXT NOT NULL, PRIMARY KEY (owner_id, mark)
  ) STRICT, WITHOUT ROWID`,
];
