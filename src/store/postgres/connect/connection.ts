import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import type { Begun, Outcome } from "./commit-outcome.ts";
import { Passing, isLoss, ServerTrouble } from "./sentences.ts";

export interface ConnectionOptions {
  /** Statements with parameters are prepared once a connection: for few texts that are run often. */
  readonly isPrepared: boolean;
  /** What comes after BEGIN; the last of it gives a `Begun`. */
  readonly atBegin: string;
  readonly explained: (error: unknown) => unknown;
  readonly askOutcome: (begun: Begun) => Promise<Outcome>;
}

const NOTHING: QueryResult = { command: "", rowCount: 0, rows: [], oid: 0, fields: [] };

/** Of a prepared statement whose table has another column since; the next connection prepares it anew. */
const STALE_PLAN = /^cached plan must not change result type/;

/**
 * A connection of the pool as Kysely gets it. Each transaction is READ COMMITTED, whatever the database's
 * default is, and its COMMIT tells the truth: one without an answer is asked for.
 */
export class Connection {
  readonly #client: PoolClient;
  readonly #options: ConnectionOptions;
  #begun: Begun | null = null;
  #isBroken = false;

  constructor(client: PoolClient, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** `begin`, `commit` and `rollback` are Kysely's own words. */
  query(sql: string, parameters: readonly unknown[]): Promise<QueryResult> {
    if (sql === "begin") return this.#begin();
    if (sql === "commit") return this.#commit();
    if (sql === "rollback") return this.#rollback();
    const text = { text: sql, values: [...parameters] };
    return this.#run(
      this.#options.isPrepared && parameters.length > 0 ? { ...text, name: nameOf(sql) } : text,
    );
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  async #begin(): Promise<QueryResult> {
    const text = `BEGIN ISOLATION LEVEL READ COMMITTED; ${this.#options.atBegin}`;
    // Several statements have as many results, which the types do not know.
    const results = [await this.#run({ text })].flat();
    this.#begun = results.at(-1)?.rows[0] ?? null;
    return NOTHING;
  }

  async #commit(): Promise<QueryResult> {
    const begun = this.#begun;
    this.#begun = null;
    try {
      const result = await this.#client.query("COMMIT");
      // PostgreSQL answers so where a statement failed before, and nothing is written.
      if (result.command !== "COMMIT") throw new Error("A statement failed in a transaction, which went on.");
      return result;
    } catch (error) {
      if (begun === null || !isLoss(error)) throw this.#noted(error);
      this.#isBroken = true;
      return await this.#settle(begun, error);
    }
  }

  async #settle(begun: Begun, cause: unknown): Promise<QueryResult> {
    const outcome = await this.#options.askOutcome(begun);
    if (outcome === "committed") return NOTHING;
    if (outcome === "aborted") {
      const message = "The connection to PostgreSQL was lost. Nothing was changed. Try again.";
      throw new Passing("unavailable", message, { cause });
    }
    throw new ServerTrouble(
      "unavailable",
      "The connection to PostgreSQL was lost at the very moment of writing: it may have been done. Look before you try again.",
      { cause },
    );
  }

  /** What is not undone here is undone by the server, once the connection is closed. */
  async #rollback(): Promise<QueryResult> {
    try {
      return await this.#client.query("ROLLBACK");
    } catch {
      this.#isBroken = true;
      return NOTHING;
    }
  }

  async #run(query: { text: string; values?: unknown[]; name?: string }): Promise<QueryResult> {
    try {
      return await this.#client.query(query);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    if (isLoss(error)) this.#isBroken = true;
    if (error instanceof Error && STALE_PLAN.test(error.message)) {
      this.#isBroken = true;
      return new Passing("unavailable", "The tables were changed at this moment. Try again.", {
        cause: error,
      });
    }
    return this.#options.explained(error);
  }
}

function nameOf(sql: string): string {
  return createHash("sha1").update(sql).digest("base64url");
}
