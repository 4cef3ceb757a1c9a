import { createServer } from "node:net";
import { once } from "node:events";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMeta, setMeta } from "../../src/store/queries/meta.ts";
import { queryOf } from "../support/handles.ts";
import { administer, urlOf, type TestDatabase } from "../support/postgres-server.ts";
import { createDatabase, openTestConnections, refusalOf, serverAddress } from "../support/postgres.ts";

const server = serverAddress();
const host = `127.0.0.1:${server.port}`;
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

/** Says it on a database as its owner. */
async function tell(name: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(server, name) });
  await client.connect();
  await client.query(statement);
  await client.end();
}

describe("an address", () => {
  it.each([
    ["mysql://root@localhost/x", "DATABASE_URL is no address of a PostgreSQL."],
    ["not an address", "DATABASE_URL is no address of a PostgreSQL."],
    [
      "postgres://u:s3cret@localhost/x?sslmode=prefer",
      'DATABASE_URL: sslmode is "prefer". Give one of disable, require, verify-ca, verify-full.',
    ],
    [
      "postgres://u:s3cret@localhost/x?sslmode=verify-ca",
      "DATABASE_URL: sslmode=verify-ca needs the certificate of its authority: add sslrootcert=FILE, or give verify-full.",
    ],
    [
      "postgres://u:s3cret@localhost/x?sslmode=verify-full&sslrootcert=/nowhere.crt",
      "DATABASE_URL: the file of sslrootcert, /nowhere.crt, cannot be read.",
    ],
  ])("%s is refused", async (url, sentence) => {
    const error = await refusalOf(url);
    expect(error).toMatchObject({ kind: "invalid", message: expect.stringContaining(sentence) });
  });

  it("names the setting that is wrong", async () => {
    const error = await refusalOf(database.url, { directUrl: "http://x" });
    expect(error.message).toContain("DATABASE_DIRECT_URL is no address");
  });
});

describe("a server that does not let us in", () => {
  it("is told by what is the matter", async () => {
    const wrong = { ...server, password: "wr0ng" };
    expect((await refusalOf(urlOf(wrong, database.name))).message).toBe(
      `PostgreSQL at ${host} refuses the password of the user "postgres". Correct DATABASE_URL. Nothing was changed.`,
    );
    expect((await refusalOf(`postgres://postgres@${host}/${database.name}`)).message).toBe(
      `PostgreSQL at ${host} asks for the password of the user "postgres". Give it in DATABASE_URL. Nothing was changed.`,
    );
    expect((await refusalOf(urlOf(server, "nowhere"))).message).toBe(
      `There is no database "nowhere" at ${host}. Make it (CREATE DATABASE "nowhere" ENCODING 'UTF8' TEMPLATE template0), or correct DATABASE_URL. Nothing was changed.`,
    );
    expect((await refusalOf(`${database.url}?sslmode=require`)).message).toBe(
      `PostgreSQL at ${host} offers no TLS. Switch it on there, or give sslmode=disable in DATABASE_URL where the network is private. Nothing was changed.`,
    );
  });

  it("is told where it is not there", async () => {
    expect((await refusalOf("postgres://u:s3cret@nowhere.invalid/x")).message).toMatch(
      /^(There is no host nowhere\.invalid:5432\. Correct the name in DATABASE_URL|The name of nowhere\.invalid:5432 could not be looked up)/,
    );
    const closed = createServer();
    closed.listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as { port: number };
    closed.close();
    expect((await refusalOf(`postgres://u:s3cret@127.0.0.1:${port}/x`)).message).toBe(
      `No PostgreSQL listens at 127.0.0.1:${port}. Start it, or correct DATABASE_URL. Nothing was changed.`,
    );
  });

  it("is told where something else answers, and where nothing does", async () => {
    const something = createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    something.listen(0, "127.0.0.1");
    await once(something, "listening");
    const { port } = something.address() as { port: number };
    const error = await refusalOf(`postgres://u:s3cret@127.0.0.1:${port}/x`);
    something.close();
    expect(error.message).toBe(
      `PostgreSQL at 127.0.0.1:${port} does not answer. Check that it runs and that the network lets you through, or correct DATABASE_URL. Nothing was changed.`,
    );
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port: other } = silent.address() as { port: number };
    const late = await refusalOf(`postgres://u:s3cret@127.0.0.1:${other}/x`, { limits: { connectMs: 200 } });
    silent.close();
    expect(late.message).toContain(`PostgreSQL at 127.0.0.1:${other} does not answer.`);
  });

  it("is told where it has no connection left", async () => {
    await administer(server, "DROP ROLE IF EXISTS crowd");
    await administer(server, "CREATE ROLE crowd LOGIN PASSWORD 's3cret' CONNECTION LIMIT 0");
    const url = urlOf({ ...server, user: "crowd" }, database.name);
    expect((await refusalOf(url)).message).toBe(
      `PostgreSQL at ${host} has no connection left. Raise its max_connections, or run fewer processes. Each takes up to 11, or POSTHORN_DATABASE_CONNECTIONS + 1. Nothing was changed.`,
    );
  });
});

describe("a server in trouble", () => {
  it.each([
    ["53100", "The disk of PostgreSQL is full. Free some space there, then try again."],
    ["53200", "PostgreSQL is out of memory. Give it more, then try again."],
    ["58030", "PostgreSQL reports an error of its disk. Look into its log before anything else."],
    ["XX001", "PostgreSQL reports an error of its disk. Look into its log before anything else."],
    ["25006", `PostgreSQL at ${host} can only be read. Name the primary server in DATABASE_URL.`],
    ["42501", `The user "postgres" may not do what Posthorn needs in the database`],
    [
      "57P01",
      "PostgreSQL ended the connection, because it is being shut down, restarted or was told to. Try again in a moment.",
    ],
    ["57P03", `PostgreSQL at ${host} is starting up or shutting down. Try again in a moment.`],
  ])("says what %s is, and is in trouble until it writes again", async (state, sentence) => {
    await using connections = await openTestConnections(database.url);
    const door = connections;
    const failing = door.write(async (tx) => {
      await setMeta(tx, "failing", "1");
      await sql`DO ${sql.raw(`$$ BEGIN RAISE EXCEPTION 'raw words' USING ERRCODE = '${state}'; END $$`)}`.execute(
        queryOf(tx),
      );
    });
    const error = await failing.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining(sentence) });
    expect(door.writeTrouble()).toBe(error);
    expect(await readMeta(door, "failing")).toBeNull();
    await door.write((tx) => setMeta(tx, "working", "1"));
    expect(door.writeTrouble()).toBeNull();
  });

  it("leaves what is no trouble of the server's as it is", async () => {
    await using connections = await openTestConnections(database.url);
    const failing = connections.write((tx) => sql`SELECT 1 / 0`.execute(queryOf(tx)));
    await expect(failing).rejects.toMatchObject({ code: "22012" });
    expect(connections.writeTrouble()).toBeNull();
  });
});

describe("a database that would not keep the promises", () => {
  it("is told where it is encoded otherwise", async () => {
    await using latin = await createDatabase({
      isEmpty: true,
      options: "ENCODING 'LATIN1' TEMPLATE template0",
    });
    expect((await refusalOf(latin.url)).message).toBe(
      `The database "${latin.name}" at ${host} is encoded as LATIN1, which cannot hold every character. Make one with ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL. Nothing was changed.`,
    );
  });

  it("is told where it can only be read, or commits wait for no disk", async () => {
    await using own = await createDatabase({ isEmpty: true });
    await administer(server, `ALTER DATABASE ${own.name} SET default_transaction_read_only = on`);
    expect((await refusalOf(own.url)).message).toBe(
      `The database "${own.name}" at ${host} can only be read. Switch default_transaction_read_only off there, or correct DATABASE_URL. Nothing was changed.`,
    );
    await administer(server, `ALTER DATABASE ${own.name} RESET default_transaction_read_only`);
    await administer(server, `ALTER DATABASE ${own.name} SET synchronous_commit = off`);
    expect((await refusalOf(own.url)).message).toBe(
      `PostgreSQL at ${host} has synchronous_commit off: after a crash posts could go out twice. Set it to on for the database "${own.name}". Nothing was changed.`,
    );
  });

  it("is told where the user may not make tables", async () => {
    await using own = await createDatabase({ isEmpty: true });
    await administer(server, "DROP ROLE IF EXISTS guest");
    await administer(server, "CREATE ROLE guest LOGIN PASSWORD 's3cret'");
    expect((await refusalOf(urlOf({ ...server, user: "guest" }, own.name))).message).toBe(
      `The user "guest" may not do what Posthorn needs in the database "${own.name}". Make it the owner: ALTER DATABASE "${own.name}" OWNER TO "guest". Nothing was changed.`,
    );
  });

  it("is told where it holds tables of something else", async () => {
    await using own = await createDatabase({ isEmpty: true });
    await tell(own.name, "CREATE TABLE posts (id int)");
    expect((await refusalOf(own.url)).message).toBe(
      `The database "${own.name}" holds tables of something else. Give Posthorn a database of its own in DATABASE_URL. Nothing was changed.`,
    );
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    await client.end();
    expect(rows).toEqual([{ tablename: "posts" }]);
  });

  it("is told where it is a standby, or too old", async () => {
    await using own = await createDatabase();
    // In the place of the server's own functions, which the path of the schemas finds first.
    await tell(own.name, "CREATE SCHEMA mimic");
    const options = encodeURIComponent("-c search_path=mimic,pg_catalog,public");
    await tell(
      own.name,
      "CREATE FUNCTION mimic.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    );
    expect((await refusalOf(`${own.url}?options=${options}`)).message).toBe(
      `PostgreSQL at ${host} is a standby. Name the primary server in DATABASE_URL. Nothing was changed.`,
    );
    await tell(
      own.name,
      `CREATE FUNCTION mimic.current_setting(name text) RETURNS text LANGUAGE sql AS
       $$ SELECT CASE name WHEN 'server_version_num' THEN '140011' ELSE pg_catalog.current_setting(name) END $$`,
    );
    expect((await refusalOf(`${own.url}?options=${options}`)).message).toBe(
      `PostgreSQL at ${host} is version 14, and Posthorn needs 15 or newer. Update it, or name another in DATABASE_URL. Nothing was changed.`,
    );
  });
});
