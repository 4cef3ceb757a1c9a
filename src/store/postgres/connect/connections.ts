import { setTimeout as pause } from "node:timers/promises";
import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  replaceWithNoncontingentExpression,
  sql,
} from "kysely";
import type { Client, ClientBase } from "pg";
import { deadline } from "../../../domain/time.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Tables } from "../../schema/tables.ts";
import { HANDLE, type Engine, type Handle } from "../../engine/engine.ts";
import { CommitUnanswered } from "../../engine/unanswered.ts";
import { migrate, type Telling } from "../migrate.ts";
import { postIndex } from "../post-index.ts";
import { readAddress } from "./address.ts";
import { createPool, LIMITS, loadDriver, openClient, type Limits } from "./pool.ts";
import { explained, Passing, ServerTrouble } from "./sentences.ts";
import { checkSession } from "./session.ts";

export interface ConnectionOptions {
  /** DATABASE_URL: `postgres://user:password@host:port/database?sslmode=…`. */
  readonly url: string;
  /** DATABASE_DIRECT_URL: the server itself, where `url` leads through a pooler. */
  readonly directUrl?: string | undefined;
  /** How many connections the pool opens at most. Default: 10. */
  readonly size?: number | undefined;
  /** Default: `LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Is told what opening did, and what it waits for. Default: not told. */
  readonly telling?: Telling | undefined;
}

/** All that this process has open to the server. */
export interface Connections extends Pick<
  Engine,
  typeof HANDLE | "write" | "writeTrouble" | "lost" | typeof Symbol.asyncDispose
> {
  /** Opens a connection outside of the pool, to the server itself. The caller ends it. */
  readonly connect: () => Promise<Client>;
}

/**
 * Connects, checks the server and brings the database to the newest schema. Throws `invalid` for an address
 * that cannot be read, `unavailable` with one sentence for any trouble with the server.
 */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const driver = await loadDriver();
  const address = readAddress(options.url, "DATABASE_URL");
  const direct =
    options.directUrl === undefined ? address : readAddress(options.directUrl, "DATABASE_DIRECT_URL");
  const limits = { ...LIMITS, ...options.limits };
  const losing = new AbortController();
  let opened: string | null = null;

  const check = async (client: ClientBase): Promise<void> => {
    losing.signal.throwIfAborted();
    const database = await checkSession(client, direct);
    opened ??= database;
    if (database !== opened) losing.abort(replaced(direct.setting));
    losing.signal.throwIfAborted();
  };
  const connect = async (work: (client: Client) => Promise<void> = check): Promise<Client> => {
    const client = await openClient(direct, { connectMs: limits.connectMs });
    try {
      await work(client);
      return client;
    } catch (error) {
      await client.end();
      throw explained(error, direct);
    }
  };

  const first = await connect(async (client) => {
    await check(client);
    await migrate(client, options.telling);
  });
  await first.end();
  const pool = createPool(driver, {
    address,
    size: options.size ?? 10,
    limits,
    isPooled: direct !== address,
    check,
  });
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    // PostgreSQL refuses `IN ()`, which SQLite takes for an empty list.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
  const handle: Handle = {
    query,
    index: postIndex,
    rowsFrom: (texts) => sql`unnest(${[...texts]}::text[]) AS one (value)`,
  };
  return {
    [HANDLE]: handle,
    ...createWriter(handle),
    connect: () => connect(),
    lost: losing.signal,
    [Symbol.asyncDispose]: () => query.destroy(),
  };
}

function replaced(setting: string): AppError {
  return new AppError(
    "unavailable",
    `Another database answers at ${setting} than the one that was opened. Start Posthorn again once it is the right one.`,
  );
}

const MAX_REPEATS = 5;
/** No run begins later than this after the first failure: each may wait for a lock or for the network. */
const REPEAT_MS = 10_000;
const FIRST_PAUSE_MS = 20;

/** Transactions run again from the start after a deadlock, a conflict, or a connection lost before COMMIT. */
function createWriter(handle: Handle): Pick<Engine, "write" | "writeTrouble"> {
  let trouble: AppError | null = null;
  const write: Engine["write"] = async (work) => {
    let late: AbortSignal | null = null;
    for (let repeats = 0; ; repeats += 1) {
      try {
        const result = await handle.query
          .transaction()
          .execute((query) => work({ [HANDLE]: { ...handle, query } }));
        trouble = null;
        return result;
      } catch (error) {
        late ??= deadline(REPEAT_MS);
        if (repeats === MAX_REPEATS || late.aborted || !(error instanceof Passing)) {
          trouble = error instanceof ServerTrouble || error instanceof CommitUnanswered ? error : null;
          throw error;
        }
        // With jitter: transactions that met each other do not meet again.
        await pause(FIRST_PAUSE_MS * 2 ** repeats * (0.5 + Math.random()));
      }
    }
  };
  return { write, writeTrouble: () => trouble };
}
