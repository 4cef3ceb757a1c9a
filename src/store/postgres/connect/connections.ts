import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  replaceWithNoncontingentExpression,
  type PostgresPool,
} from "kysely";
import type { Client, ClientBase } from "pg";
import { AppError } from "../../../domain/errors.ts";
import type { Tables } from "../../engine/schema.ts";
import { HANDLE, type PostIndex, type Reader, type Store } from "../../engine/store.ts";
import { migrate, type Telling } from "../migrations/migrate.ts";
import { readAddress } from "./address.ts";
import { loadDriver } from "./driver.ts";
import { clientConfig, createPool, type PoolOptions } from "./pool.ts";
import { explained } from "./sentences.ts";
import { checkSession, LIMITS, type Limits, type Settings } from "./session.ts";
import { createWriter } from "./write.ts";

export interface PostgresOptions {
  /** DATABASE_URL: `postgres://user:password@host:port/database?sslmode=…`. */
  readonly url: string;
  /** DATABASE_DIRECT_URL: the server itself, where `url` leads through a pooler. */
  readonly directUrl?: string | undefined;
  /** How many connections a process opens at most. Default: 10 for use cases, 4 for its publisher. */
  readonly sizes?: { readonly application?: number; readonly publisher?: number } | undefined;
  /** Default: `LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Hears what opening did, or waits for. Default: nobody does. */
  readonly telling?: Telling | undefined;
}

/** What is read and written through. */
export type Door = Reader & Pick<Store, "write" | "writeTrouble">;

/** All that this process has open to the server. */
export interface Connections extends AsyncDisposable {
  readonly application: Door;
  /** With connections of its own, whose planner is kept from what misleads it. */
  readonly publisher: Door;
  /** A connection outside of both, to the server itself and checked as theirs are; the caller ends it. */
  readonly connect: () => Promise<Client>;
  /** Aborted, with an AppError as its reason, once another database answers in the place of this one. */
  readonly lost: AbortSignal;
}

/**
 * The statistics of a queue are always stale: by them the planner takes its small indexes for empty and walks
 * them once a row. Statements by id need none of these.
 */
const PUBLISHER_SETTINGS: Settings = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_sort: "off",
  jit: "off",
};

/**
 * Connects, checks the server and brings the database to the newest schema. Throws `invalid` for an address
 * that is none, `unavailable` with one sentence for everything that is the matter with the server.
 */
export async function openConnections(options: PostgresOptions, index: PostIndex): Promise<Connections> {
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
  const connect = async (): Promise<Client> => {
    const client = new driver.Client(clientConfig(driver, direct, limits));
    // Its queries tell it; without a listener it would end this process.
    client.on("error", () => {});
    try {
      await client.connect();
      await check(client);
      return client;
    } catch (error) {
      await client.end();
      throw explained(error, direct);
    }
  };

  await bringUp(await connect(), options.telling, (error) => explained(error, direct));
  const open = (pool: Pick<PoolOptions, "address" | "size" | "isPooled" | "isPrepared" | "settings">) =>
    createPool(driver, { limits, check, ...pool });
  const application = createDoor(
    open({
      address,
      size: options.sizes?.application ?? 10,
      isPooled: options.directUrl !== undefined,
    }),
    index,
  );
  const publisher = createDoor(
    open({
      address: direct,
      size: options.sizes?.publisher ?? 4,
      isPrepared: true,
      settings: PUBLISHER_SETTINGS,
    }),
    index,
  );
  return {
    application,
    publisher,
    connect,
    lost: losing.signal,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([application, publisher].map((door) => door[HANDLE].query.destroy()));
    },
  };
}

async function bringUp(
  client: Client,
  telling: Telling | undefined,
  explain: (error: unknown) => unknown,
): Promise<void> {
  try {
    await migrate(client, telling);
  } catch (error) {
    throw explain(error);
  } finally {
    await client.end();
  }
}

function createDoor(pool: PostgresPool, index: PostIndex): Door {
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    // SQLite takes `IN ()`, in which nothing is.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
  const handle = { query, index };
  return { [HANDLE]: handle, ...createWriter(handle) };
}

function replaced(setting: string): AppError {
  return new AppError(
    "unavailable",
    `Another database answers at ${setting} than the one that was opened. Start Posthorn again once it is the right one.`,
  );
}
