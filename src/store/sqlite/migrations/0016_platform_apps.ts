/** The app that is registered at a platform, entered while Posthorn runs: of the installation, not of an owner. */
export const statements: readonly string[] = [
  `CREATE TABLE platform_apps (
    provider TEXT NOT NULL PRIMARY KEY, apps_enc TEXT NOT NULL, updated_at INTEGER NOT NULL, updated_by TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];
