import type pg from "pg";
import type { PostgresPool } from "kysely";
import type { Address } from "./address.ts";
import { Connection } from "./connection.ts";
import { numbersAsNumbers } from "./driver.ts";
import { explained } from "./sentences.ts";
import { setting, settingsOf, type Limits, type Settings } from "./session.ts";

export interface PoolOptions {
  readonly address: Address;
  readonly size: number;
  readonly limits: Limits;
  /** What the planner is told, and the like. */
  readonly settings?: Settings;
  /** It leads through a pooler, which gives each transaction another session. */
  readonly isPooled?: boolean;
  readonly isPrepared?: boolean;
  /** Looks at each new connection; what it throws goes to whoever wanted it. */
  readonly check: (client: pg.ClientBase) => Promise<void>;
}

const KEEP_ALIVE_MS = 10_000;

/** The settings of a single connection to the server itself, without any limits of time for statements. */
export function clientConfig(
  driver: typeof pg,
  { config, options }: Address,
  { connectMs }: Limits,
): pg.ClientConfig {
  return {
    application_name: "posthorn",
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: numbersAsNumbers(driver),
    ...(options === "" ? {} : { options }),
    ...config,
  };
}

export function createPool(driver: typeof pg, options: PoolOptions): PostgresPool {
  const { address, limits, check, isPooled = false } = options;
  const settings = { ...settingsOf(limits), ...options.settings };
  const pool = new driver.Pool({
    ...clientConfig(driver, address, limits),
    query_timeout: limits.statementMs + limits.silentMs,
    max: options.size,
    onConnect: async (client) => {
      await check(client);
      if (!isPooled) await client.query(setting(settings));
    },
  });
  // Connections end when the server does; without a listener each would end this process.
  const ignore = (): void => {};
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  const connection = {
    isPrepared: options.isPrepared ?? false,
    atBegin: isPooled ? setting(settings, "LOCAL") : "",
    explained: (error: unknown) => explained(error, address),
  };
  return {
    async connect() {
      try {
        // Kysely's type knows cursors too, which are not used here.
        return new Connection(await pool.connect(), connection) as never;
      } catch (error) {
        throw explained(error, address);
      }
    },
    end: () => pool.end(),
  };
}
