const TEXT = `text COLLATE "C"`;

/** Films that are made what a platform takes, each once for its content and form. */
export const statements: readonly string[] = [
  `ALTER TABLE files ADD COLUMN frames_per_second double precision`,
  `CREATE TABLE films (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, file_key ${TEXT}, post_id ${TEXT}, original ${TEXT} NOT NULL,
    form ${TEXT} NOT NULL, percent integer NOT NULL, worker_id ${TEXT}, error ${TEXT}, facts ${TEXT}, created_at bigint NOT NULL
  )`,
];
