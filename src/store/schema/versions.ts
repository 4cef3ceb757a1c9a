import { AppError } from "../../domain/errors.ts";

/** The schema of an engine, and how a database is brought to it. */
export interface Schema {
  /** What an empty database is given: its first schema. */
  readonly first: readonly string[];
  /** Each later change, append-only: a released one is never edited. */
  readonly changes: readonly (readonly string[])[];
  /** The number of the last schema from before the first release, and what makes it the first. Newer engines have none. */
  readonly early?: { readonly version: number; readonly statements: readonly string[] };
  /** The setting that names another database. */
  readonly setting: string;
}

/** Numbers below were given before the first release. */
const FIRST_VERSION = 100;

/** The number of the schema that this program reads and writes. */
export function newestVersion({ changes }: Schema): number {
  return FIRST_VERSION + changes.length;
}

/** What brings a database of that version (0: empty) to the newest. Throws `unavailable` where nothing does. */
export function statementsFrom(version: number, schema: Schema): readonly string[] {
  const { first, changes, early, setting } = schema;
  if (version === 0) return [...first, ...changes.flat()];
  if (early !== undefined && version === early.version) return [...early.statements, ...changes.flat()];
  if (version > newestVersion(schema))
    throw new AppError(
      "unavailable",
      `The database was written by a newer Posthorn (schema ${version}, this one knows ${newestVersion(schema)}). Nothing was changed. Update Posthorn, or point ${setting} at another ${setting === "DATABASE_URL" ? "database" : "folder"}.`,
    );
  if (version < FIRST_VERSION)
    throw new AppError(
      "unavailable",
      `The database was written by an early Posthorn (schema ${version}). Nothing was changed. Start it once with a Posthorn of November 2026, then with this one.`,
    );
  return changes.slice(version - FIRST_VERSION).flat();
}
