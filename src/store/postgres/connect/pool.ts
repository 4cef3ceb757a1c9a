import type { PostgresPool } from "kysely";
import type pg from "pg";
import type { Client, ClientBase, ClientConfig, PoolClient, QueryResult } from "pg";
import { AppError } from "../../../domain/errors.ts";
import { withoutNul } from "../../../domain/whole-text.ts";
import { CommitUnanswered } from "../../engine/unanswered.ts";
import type { Address } from "./address.ts";
import { explained, isLoss } from "./sentences.ts";
import { TIME_LIMITS } from "../../../domain/time-limits.ts";

/** Time limits in milliseconds. */
export interface Limits {
  /** For a free connection, or a new one. */
  readonly connectMs: number;
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
  /** Added to the statement's limit. After both a silent server's connection is closed. */
  readonly silentMs: number;
}

export const LIMITS: Limits = {
  connectMs: 10_000,
  statementMs: TIME_LIMITS.statement,
  lockMs: 5_000,
  idleInTransactionMs: TIME_LIMITS.idleInTransaction,
  silentMs: TIME_LIMITS.statementSilent,
};

/** Loads the optional package `pg`. Throws `unavailable` where it is not installed. */
export async function loadDriver(): Promise<typeof pg> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new AppError(
      "unavailable",
      "DATABASE_URL is set, and the package pg, which talks to PostgreSQL, is not installed. Install Posthorn with its optional packages.",
      { cause },
    );
  }
}

/** What `pg` is told of an address, without time limits for statements. */
export function clientConfig(
  driver: typeof pg,
  { config }: Address,
  connectMs = LIMITS.connectMs,
): ClientConfig {
  return {
    application_name: "posthorn",
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: (oid, format) => parserOf(driver, oid, format) },
    ...config,
  };
}

/** Types by their numbers in pg_type. */
const INT8 = 20;
const NUMERIC = 1700;

/** Whole numbers as SQLite's drivers give them. One that a number cannot hold comes as a BigInt. */
function parserOf({ types }: typeof pg, oid: number, format?: "text" | "binary") {
  if (format === "binary" || (oid !== INT8 && oid !== NUMERIC)) return types.getTypeParser(oid, format);
  return oid === NUMERIC ? Number : toNumber;
}

function toNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** Opens one connection outside of the pool. The caller ends it. Errors are explained. */
export async function openClient(
  address: Address,
  options: { readonly connectMs?: number; readonly queryMs?: number } = {},
): Promise<Client> {
  const driver = await loadDriver();
  const queryLimit = options.queryMs === undefined ? {} : { query_timeout: options.queryMs };
  const client = new driver.Client({ ...clientConfig(driver, address, options.connectMs), ...queryLimit });
  // A lost connection rejects its queries. Without a listener it would also end this process.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end();
    throw explained(error, address);
  }
}

interface PoolOptions {
  readonly address: Address;
  readonly size: number;
  readonly limits: Limits;
  /** The address leads through a pooler, which gives each transaction another session. */
  readonly isPooled: boolean;
  /** Looks at each new connection. What it throws goes to the caller that wanted the connection. */
  readonly check: (client: ClientBase) => Promise<void>;
}

/** `pg`'s pool with time limits, for Kysely. It connects again by itself. */
export function createPool(driver: typeof pg, options: PoolOptions): PostgresPool {
  const { address, limits, check, isPooled } = options;
  const pool = new driver.Pool({
    ...clientConfig(driver, address, limits.connectMs),
    query_timeout: limits.statementMs + limits.silentMs,
    max: options.size,
    onConnect: async (client) => {
      await check(client);
      if (!isPooled) await client.query(setLimits(limits, "SESSION"));
    },
  });
  const ignore = (): void => {};
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  const atBegin = isPooled ? setLimits(limits, "LOCAL") : "";
  return {
    async connect() {
      try {
        // Kysely's type also has cursors, which are not used here.
        return new Connection(await pool.connect(), atBegin, address) as never;
      } catch (error) {
        throw explained(error, address);
      }
    },
    end: () => pool.end(),
  };
}

function setLimits(limits: Limits, scope: "SESSION" | "LOCAL"): string {
  return `SET ${scope} statement_timeout = ${limits.statementMs}; SET ${scope} lock_timeout = ${limits.lockMs};
    SET ${scope} idle_in_transaction_session_timeout = ${limits.idleInTransactionMs}`;
}

/**
 * A pooled connection as Kysely sees it. Every transaction is READ COMMITTED, whatever the database's default
 * is. A COMMIT that PostgreSQL turned into a ROLLBACK, and one without an answer, are errors.
 */
class Connection {
  readonly #client: PoolClient;
  readonly #atBegin: string;
  readonly #address: Address;
  #isBroken = false;

  constructor(client: PoolClient, atBegin: string, address: Address) {
    this.#client = client;
    this.#atBegin = atBegin;
    this.#address = address;
  }

  /** Kysely sends `begin`, `commit` and `rollback` as statements of these words. */
  async query(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<Pick<QueryResult, "command" | "rowCount" | "rows">> {
    if (sql === "commit") return this.#commit();
    if (sql === "rollback") return this.#rollback();
    const isBegin = sql === "begin";
    const text = isBegin ? `BEGIN ISOLATION LEVEL READ COMMITTED; ${this.#atBegin}` : sql;
    try {
      const result = await this.#client.query({ text, values: parameters.map(storable) });
      return isBegin ? NOTHING : result;
    } catch (error) {
      throw this.#noted(error);
    }
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  async #commit(): Promise<QueryResult> {
    let result: QueryResult;
    try {
      result = await this.#client.query("COMMIT");
    } catch (error) {
      const told = this.#noted(error);
      throw isLoss(error) && !wasLostBefore(error) ? new CommitUnanswered(told) : told;
    }
    // PostgreSQL answers ROLLBACK where a statement failed before. Then nothing is written.
    if (result.command !== "COMMIT") throw new Error("A statement failed in a transaction, which went on.");
    return result;
  }

  /** Where this fails the connection is closed, and the server rolls back. */
  async #rollback(): Promise<typeof NOTHING> {
    try {
      await this.#client.query("ROLLBACK");
    } catch {
      this.#isBroken = true;
    }
    return NOTHING;
  }

  #noted(error: unknown): unknown {
    if (isLoss(error)) this.#isBroken = true;
    return explained(error, this.#address);
  }
}

const NOTHING = { command: "", rowCount: 0, rows: [] };

/** The connection was lost before COMMIT was sent, so nothing is written. */
function wasLostBefore(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Client has encountered a connection error");
}

/** PostgreSQL refuses NUL in a text. */
function storable(value: unknown): unknown {
  return typeof value === "string" ? withoutNul(value) : value;
}
