import pg from "pg";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { isPlain } from "../../src/store/postgres/health.ts";
import { runCli } from "../support/cli.ts";
import { administer, urlOf, type TestDatabase } from "../support/postgres-server.ts";
import { createDatabase, serverAddress } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Finding } from "../../src/domain/health/findings.ts";

/* What `posthorn doctor` says of a PostgreSQL, and that it leaves nothing there. */

const MACHINE = { host: "test", pid: process.pid };
const SECRET_KEY = randomBytes(32).toString("hex");
const server = serverAddress();
const HOST = `127.0.0.1:${server.port}`;

let database: TestDatabase;
let folder: ReturnType<typeof temporaryFolder>;
/** Everything that was printed, to look for the password in it. */
const printed: string[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  database = await createDatabase({ isEmpty: true });
});
afterEach(async () => {
  folder[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
});
afterAll(() => {
  expect(printed.length).toBeGreaterThan(0);
  expect(printed.filter((text) => text.includes(server.password))).toEqual([]);
  expect(printed.filter((text) => text.includes(SECRET_KEY))).toEqual([]);
});

const envOf = (env: Record<string, string> = {}): Record<string, string> => ({
  ...folder.env,
  POSTHORN_PORT: "0",
  POSTHORN_LOG_LEVEL: "silent",
  POSTHORN_FILES: "folder",
  DATABASE_URL: database.url,
  POSTHORN_SECRET_KEY: SECRET_KEY,
  ...env,
});

async function examine(env: Record<string, string> = {}) {
  const run = await runCli(["doctor", "--json"], { env: envOf(env) });
  printed.push(run.stdout, run.stderr);
  const { findings } = JSON.parse(run.stdout) as { findings: Finding[] };
  const linesOf = (topic: string): string[] =>
    findings.filter((one) => one.topic === topic).map(({ verdict, text }) => `${verdict}: ${text}`);
  return { status: run.status, findings, linesOf };
}

/** What the first start leaves. */
async function startOnce(): Promise<void> {
  const setup = await readSetup(envOf());
  const running = await startServer({ setup, self: MACHINE, role: "serve" });
  await running[Symbol.asyncDispose]();
}

async function ask(statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

describe("posthorn doctor with DATABASE_URL", () => {
  it("finds a service in order, a line for each thing", async () => {
    await startOnce();
    const { status, findings, linesOf } = await examine();
    expect(findings.filter(({ verdict }) => verdict === "problem")).toEqual([]);
    expect(status).toBe(0);
    expect(linesOf("database")).toEqual([
      expect.stringMatching(
        new RegExp(`^ok: PostgreSQL \\d+\\.\\d+ at ${HOST} answers\\. Its database is "${database.name}"$`),
      ),
    ]);
    expect(linesOf("schema")).toEqual([expect.stringMatching(/^ok: \d+, this Posthorn's$/)]);
    expect(linesOf("user")).toEqual(['ok: "postgres" may write']);
    expect(linesOf("commits")).toEqual(["ok: synchronous_commit is on"]);
    expect(linesOf("connections")).toEqual([
      expect.stringMatching(/^ok: \d+ of 297 are in use\. A process takes up to 11, and \d gave a sign/),
    ]);
    expect(linesOf("pooler")).toEqual(["ok: DATABASE_URL leads to the server itself"]);
    expect(linesOf("clock")).toEqual(["ok: this machine's agrees with PostgreSQL's, which Posthorn goes by"]);
    expect(linesOf("snapshots")).toEqual(["ok: no transaction is old"]);
    expect(linesOf("secret key")).toEqual([
      expect.stringMatching(/^ok: \S+, of POSTHORN_SECRET_KEY\. It opens this database\./),
    ]);
    expect(linesOf("files")).toEqual([
      `ok: kept in ${join(folder.path, "data", "files")}, which all hosts must share`,
    ]);
    expect(linesOf("feed")).toEqual(["ok: ready, and 1 channel is connected"]);
    expect(JSON.stringify(findings)).not.toMatch(/posthorn\.db|secret\.key/);
  });

  it("leaves an empty database and the data folder as they were", async () => {
    const { status, linesOf } = await examine();
    expect(status).toBe(0);
    expect(linesOf("schema")).toEqual(["note: no tables yet. The first start makes them"]);
    expect(linesOf("secret key")[0]).toMatch(/^note: .*The first start leaves a mark of it in the database$/);
    expect(linesOf("files")[0]).toContain(join(folder.path, "data", "files"));
    const without = await examine({ POSTHORN_SECRET_KEY: "" });
    expect(without.linesOf("secret key")[0]).toMatch(/^note: none yet\. The first start makes one/);
    expect(await ask("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("says what keeps it from the server", async () => {
    const wrong = await examine({ DATABASE_URL: urlOf({ ...server, password: "wr0ng" }, database.name) });
    expect(wrong.status).toBe(1);
    expect(wrong.linesOf("database")).toEqual([
      `problem: PostgreSQL at ${HOST} refuses the password of the user "postgres". Correct DATABASE_URL. Nothing was changed.`,
    ]);
    const none = await examine({ DATABASE_URL: "postgres://u:s3cret@127.0.0.1:1/x" });
    expect(none.linesOf("database")).toEqual([
      "problem: No PostgreSQL listens at 127.0.0.1:1. Start it, or correct DATABASE_URL. Nothing was changed.",
    ]);
    const direct = await examine({ DATABASE_DIRECT_URL: "postgres://u:s3cret@127.0.0.1:1/x" });
    expect(direct.linesOf("database")[0]).toContain("correct DATABASE_DIRECT_URL.");
  });

  it("says whose secret key is another one, or none", async () => {
    await startOnce();
    const other = await examine({ POSTHORN_SECRET_KEY: randomBytes(32).toString("hex") });
    expect(other.status).toBe(1);
    expect(other.linesOf("secret key")[0]).toMatch(
      /^problem: POSTHORN_SECRET_KEY is not the secret key of this database/,
    );
    const none = await examine({ POSTHORN_SECRET_KEY: "" });
    expect(none.linesOf("secret key")[0]).toMatch(/^problem: This host has none\. Set POSTHORN_SECRET_KEY/);
    expect(existsSync(join(folder.path, "data", "secret.key"))).toBe(false);
    const file = join(folder.path, "key");
    writeFileSync(file, SECRET_KEY, { mode: 0o600 });
    const named = await examine({ POSTHORN_SECRET_KEY: "", POSTHORN_SECRET_KEY_FILE: file });
    expect(named.linesOf("secret key")[0]).toMatch(/^ok: .*, of .*\/key\. It opens this database/);
  });

  it("looks at the database, whatever a folder's own held before", async () => {
    await startOnce();
    mkdirSync(join(folder.path, "data"), { recursive: true });
    writeFileSync(join(folder.path, "data", "posthorn.db"), "no database at all ".repeat(400));
    writeFileSync(join(folder.path, "data", "secret.key"), "damaged", { mode: 0o600 });
    expect((await examine()).status).toBe(0);
  });

  it("tells what stands in the server's way", async () => {
    await startOnce();
    await administer(server, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
    const { status, linesOf } = await examine();
    expect(status).toBe(1);
    expect(linesOf("commits")).toEqual([]);
    expect(linesOf("database")[1]).toMatch(/^problem: PostgreSQL at \S+ has synchronous_commit off/);
    expect(linesOf("user")).toHaveLength(1);
    await administer(server, `ALTER DATABASE ${database.name} RESET synchronous_commit`);
    await ask("UPDATE schema_version SET version = version + 99");
    expect((await examine()).linesOf("schema")[0]).toMatch(/^problem: \d+, and this Posthorn knows \d+\./);
    await ask("UPDATE schema_version SET version = version - 99");
    await ask("INSERT INTO meta (key, value) VALUES ('moving', 'elsewhere')");
    expect((await examine()).linesOf("database")[1]).toMatch(
      /^problem: Another database is being moved into this one/,
    );
  });

  it("tells of a user who may not write, and sees less", async () => {
    await startOnce();
    await administer(server, "DROP ROLE IF EXISTS onlooker");
    await administer(server, `CREATE ROLE onlooker LOGIN PASSWORD '${server.password}'`);
    const { status, linesOf } = await examine({
      DATABASE_URL: urlOf({ ...server, user: "onlooker" }, database.name),
    });
    expect(status).toBe(1);
    expect(linesOf("user")[0]).toMatch(/^problem: "onlooker" may not write\. Make it the owner/);
    expect(linesOf("snapshots")[0]).toMatch(/that this user may see \(pg_read_all_stats/);
  });

  it("tells of transactions that are old", async () => {
    await startOnce();
    // In the place of the server's own views, which the path of the schemas finds first.
    await ask("CREATE SCHEMA mimic");
    await ask(`CREATE VIEW mimic.pg_stat_activity AS SELECT datid, datname, pid, usesysid, backend_type, state,
      application_name, CASE application_name WHEN 'export' THEN xact_start - interval '43 minutes'
      ELSE xact_start END AS xact_start FROM pg_catalog.pg_stat_activity`);
    await ask(`CREATE VIEW mimic.pg_prepared_xacts AS SELECT 'two phases' AS gid,
      now() - interval '11 minutes' AS prepared, current_database() AS database`);
    const idle = new pg.Client({ connectionString: database.url, application_name: "export" });
    await idle.connect();
    await idle.query("BEGIN");
    const options = encodeURIComponent("-c search_path=mimic,pg_catalog,public");
    const { status, linesOf } = await examine({ DATABASE_URL: `${database.url}?options=${options}` });
    await idle.end();
    expect(status).toBe(0);
    expect(linesOf("snapshots")).toEqual([
      expect.stringMatching(
        /^note: a transaction of process \d+ of "export" has been open for 43 minutes: .*\(SELECT pg_terminate_backend\(\d+\)\)\.$/,
      ),
      expect.stringMatching(
        /^note: the prepared transaction "two phases" has been open for 11 minutes: .*ROLLBACK PREPARED 'two phases'/,
      ),
    ]);
  });

  it("tells where an address of the server itself is given beside a pooler's", async () => {
    await startOnce();
    const both = await examine({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.url });
    expect(both.status).toBe(0);
    expect(both.linesOf("pooler")).toEqual([
      `ok: DATABASE_URL leads through ${HOST}, DATABASE_DIRECT_URL to the server itself at ${HOST}`,
    ]);
    expect(both.linesOf("connections")[0]).toContain("A process takes up to 1,");
  });

  it.each([
    ["postgres://u:s3cret@db.example.com/x", true],
    ["postgres://u:s3cret@db.example.com/x?sslmode=disable", true],
    ["postgres://u:s3cret@db.example.com/x?ssl=0", true],
    ["postgres://u:s3cret@10.0.0.5/x", true],
    ["postgres://u:s3cret@db.example.com/x?sslmode=require", false],
    ["postgres://u:s3cret@db.example.com/x?sslmode=verify-full", false],
    ["postgres://u:s3cret@127.0.0.1:5432/x", false],
    ["postgres://u:s3cret@localhost/x", false],
    ["postgres://u:s3cret@[::1]/x", false],
    ["postgres:///x?host=/var/run/postgresql", false],
  ])("knows whether %s goes over a network in plain text", async (url, expected) => {
    expect(await isPlain(url)).toBe(expected);
  });

  it("tells of an address that goes over a network in plain text", async () => {
    // The test's own server, by a name that is none of this machine's.
    const url = database.url.replace("127.0.0.1", "0.0.0.0");
    const { linesOf, status } = await examine({ DATABASE_URL: url });
    expect(linesOf("database")[1]).toMatch(/^note: DATABASE_URL has no TLS: .*sslmode=verify-full/);
    expect(status).toBe(0);
  });

  it("tells of connections that are not enough", async () => {
    await startOnce();
    const { linesOf } = await examine({ POSTHORN_DATABASE_CONNECTIONS: "400" });
    expect(linesOf("connections")[0]).toMatch(/^note: .*A process takes up to 401.*raise max_connections/);
  });
});
