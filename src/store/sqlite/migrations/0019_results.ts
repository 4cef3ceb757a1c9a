/**
 * What platforms told of live posts, by their age, and of channels ("" as the post) by day. In the order of the
 * channel and the time, in which a report reads them. Figures of a snapshot are one text (`packFigures`).
 */
export const statements: readonly string[] = [
  `CREATE TABLE results (
    account_id TEXT NOT NULL, at INTEGER NOT NULL, post_id TEXT NOT NULL, provider TEXT NOT NULL, media TEXT NOT NULL,
    next_at INTEGER, step INTEGER NOT NULL, h1 TEXT, h24 TEXT, d7 TEXT, d30 TEXT, reason TEXT,
    PRIMARY KEY (account_id, at, post_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX results_post ON results (post_id) WHERE post_id <> ''`,
  `CREATE INDEX results_next ON results (provider, next_at) WHERE next_at IS NOT NULL`,
];
