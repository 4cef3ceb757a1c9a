import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import * as z from "zod";
import { migrate } from "../../src/store/postgres/migrate.ts";

const Started = z.object({ port: z.int(), folder: z.string() });

const TEMPLATE = "posthorn_template";

/** Where a server is; plain data, so that it can be handed to other processes. */
export interface PostgresAddress {
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface PostgresServer extends AsyncDisposable {
  readonly address: PostgresAddress;
  /** Where its data are. */
  readonly folder: string;
  /** Ends every connection and all processes of the server; the data stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends its processes at once, as a crash does: it recovers from its log when it is started. */
  crash(): Promise<void>;
}

/**
 * Without it a commit waits for no disk: for tests that ask what is stored, not whether it outlives a crash.
 */
const NOT_DURABLE = ["-c", "fsync=off", "-c", "full_page_writes=off"];

/**
 * Starts a server of its own on loopback, with a database to copy that has the newest schema; it ends with
 * `await using`. Its processes end and its data go even where this process is killed.
 */
export async function startPostgres(
  options: { readonly isDurable?: boolean; readonly flags?: readonly string[] } = {},
): Promise<PostgresServer> {
  const flags = [...(options.isDurable === true ? [] : NOT_DURABLE), ...(options.flags ?? [])];
  const parent = options.isDurable === true ? tmpdir() : await quickFolder();
  const child = fork(new URL("../postgres/server.mjs", import.meta.url), [parent, JSON.stringify(flags)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: [],
  });
  const exited = once(child, "exit");
  const [message] = await Promise.race([
    once(child, "message"),
    exited.then(() => {
      throw new Error("The server did not start: install its workspace with `npm ci` in test/postgres.");
    }),
  ]);
  const { port, folder } = Started.parse(message);
  const address = { port, user: "postgres", password: "s3cret" };
  await makeTemplate(address);
  return {
    address,
    folder,
    stop: () => order(child, "stop"),
    start: () => order(child, "start"),
    crash: async () => {
      const pid = Number((await readFile(`${folder}/postmaster.pid`, "utf8")).split("\n")[0]);
      process.kill(pid, "SIGQUIT");
      while (isRunning(pid)) await pause(5);
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

const IN_MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

/** Where a database is made in 15 ms, which takes 300 on a disk; a container often has no room there. */
async function quickFolder(): Promise<string> {
  const memory = await statfs(IN_MEMORY).catch(() => null);
  return memory !== null && memory.bavail * memory.bsize >= ROOM_BYTES ? IN_MEMORY : tmpdir();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function order(child: ChildProcess, what: "stop" | "start"): Promise<void> {
  const done = once(child, "message");
  child.send(what);
  await done;
}

/** The database to copy that has the newest schema. */
export async function makeTemplate(address: PostgresAddress): Promise<void> {
  await administer(address, `CREATE DATABASE ${TEMPLATE}`);
  const client = new pg.Client({ connectionString: urlOf(address, TEMPLATE) });
  await client.connect();
  await migrate(client);
  await client.end();
}

export function urlOf({ port, user, password }: PostgresAddress, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

/** Runs one statement as the server's owner, outside of any database of Posthorn. */
export async function administer(address: PostgresAddress, statement: string): Promise<void> {
  await askDatabase(urlOf(address, "postgres"), statement);
}

/** The first row of what a database answers to one statement. */
export async function askDatabase<T extends object>(url: string, statement: string): Promise<T | undefined> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(statement)).rows[0];
  } finally {
    await client.end();
  }
}

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  /** As DATABASE_URL takes it. */
  readonly url: string;
}

export interface NewDatabase {
  /** Without any tables. Default: it has the newest schema. */
  readonly isEmpty?: boolean;
  /** What follows on CREATE DATABASE. */
  readonly options?: string;
}

/**
 * A database that nobody else uses, gone after the test, its connections with it. Takes some 20 ms.
 */
export async function createDatabaseOn(
  address: PostgresAddress,
  options: NewDatabase = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await administer(
    address,
    `CREATE DATABASE ${name} ${options.options ?? (options.isEmpty === true ? "" : `TEMPLATE ${TEMPLATE}`)}`,
  );
  return {
    name,
    url: urlOf(address, name),
    [Symbol.asyncDispose]: () => administer(address, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
