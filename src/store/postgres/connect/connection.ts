import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import { withoutNul } from "../../../domain/whole-text.ts";
import { CommitUnanswered } from "../../engine/unanswered.ts";
import { Passing, isLoss } from "./sentences.ts";

export interface ConnectionOptions {
  /** Statements with parameters are prepared once a connection: for few texts that are run often. */
  readonly isPrepared: boolean;
  /** Statements that come after BEGIN. */
  readonly atBegin: string;
  readonly explained: (error: unknown) => unknown;
}

const NOTHING: QueryResult = { command: "", rowCount: 0, rows: [], oid: 0, fields: [] };

/** A list makes a text of its own for each length: long ones are not kept by the server. */
const MAX_PREPARED = 40;

/** Of a prepared statement whose table has another column since; the next connection prepares it anew. */
const STALE_PLAN = /^cached plan must not change result type/;

/**
 * A connection of the pool as Kysely gets it. Each transaction is READ COMMITTED, whatever the database's
 * default is, and its COMMIT tells the truth.
 */
export class Connection {
  readonly #client: PoolClient;
  readonly #options: ConnectionOptions;
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
    const isPrepared = this.#options.isPrepared && parameters.length > 0 && parameters.length <= MAX_PREPARED;
    return this.#run(isPrepared ? { ...text, name: nameOf(sql) } : text);
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  async #begin(): Promise<QueryResult> {
    await this.#run({ text: `BEGIN ISOLATION LEVEL READ COMMITTED; ${this.#options.atBegin}` });
    return NOTHING;
  }

  async #commit(): Promise<QueryResult> {
    let result: QueryResult;
    try {
      result = await this.#client.query("COMMIT");
    } catch (error) {
      const told = this.#noted(error);
      throw isLoss(error) && !wasLostBefore(error) ? new CommitUnanswered(told) : told;
    }
    // PostgreSQL answers so where a statement failed before, and nothing is written.
    if (result.command !== "COMMIT") throw new Error("A statement failed in a transaction, which went on.");
    return result;
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
      return await this.#client.query({ ...query, values: (query.values ?? []).map(storable) });
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

/** COMMIT was not sent, so nothing stands. */
function wasLostBefore(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Client has encountered a connection error");
}

/** PostgreSQL refuses NUL in a text. */
function storable(value: unknown): unknown {
  return typeof value === "string" ? withoutNul(value) : value;
}

function nameOf(sql: string): string {
  return createHash("sha1").update(sql).digest("base64url");
}
