/** The app that is registered at a platform, entered while Posthorn runs: of the installation, not of an owner. */
export const statements: readonly string[] = [
  `CREATE TABLE platform_apps (
    provider text COLLATE "C" NOT NULL PRIMARY KEY, apps_enc text COLLATE "C" NOT NULL, updated_at bigint NOT NULL,
    updated_by text COLLATE "C" NOT NULL
  )`,
];
