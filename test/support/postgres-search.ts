import { sql } from "kysely";
import { openConnections, type Door } from "../../src/store/postgres/connect/connections.ts";
import { postIndex } from "../../src/store/postgres/search/post-index.ts";
import { createSearch } from "../../src/store/postgres/search/post-pages.ts";
import type { Tuning } from "../../src/store/postgres/search/two-ways.ts";
import { queryOf } from "./handles.ts";
import { createDatabase } from "./postgres.ts";

/** A database of its own with posts that are found by their words. */
export interface Searchable extends Door, AsyncDisposable {
  /** With a memory of its own for what ANALYZE has found. */
  readonly createSearch: (tuning?: Tuning) => ReturnType<typeof createSearch>;
  /** Counts how common words are, which autovacuum does a while after many changes. */
  readonly analyze: () => Promise<void>;
}

export async function openSearchable(): Promise<Searchable> {
  const database = await createDatabase();
  const connections = await openConnections({ url: database.url }, postIndex);
  const { application } = connections;
  return {
    ...application,
    createSearch: (tuning) => createSearch(application, tuning),
    analyze: async () => void (await sql`ANALYZE post_search, posts`.execute(queryOf(application))),
    [Symbol.asyncDispose]: async () => {
      await connections[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** In steps of other sizes, and by one of the two ways alone once the first step is done. */
export const STEPS_OF_ONE_AND_FIVE = [1, 5];
export const ONLY_SCANS: Tuning = { steps: STEPS_OF_ONE_AND_FIVE, costs: { row: 0, hit: 1, entry: 1 } };
export const ONLY_INDEX: Tuning = { steps: STEPS_OF_ONE_AND_FIVE, costs: { row: 1, hit: 0, entry: 0 } };
