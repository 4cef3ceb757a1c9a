/** Rows of imported tables that were made once. A post's row holds what it became since. */
export const statements: readonly string[] = [
  `CREATE TABLE imported_rows (
    owner_id text COLLATE "C" NOT NULL, mark text COLLATE "C" NOT NULL, post_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner_id, mark)
  )`,
];
