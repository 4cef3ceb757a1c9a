import { execFile } from "node:child_process";
import { chown, copyFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queryOf } from "../support/handles.ts";
import {
  administer,
  createDatabaseOn,
  startPostgres,
  type PostgresServer,
  type TestDatabase,
} from "../support/postgres-server.ts";
import { openTestConnections, refusalOf } from "../support/postgres.ts";

const openssl = (parameters: string): Promise<unknown> =>
  promisify(execFile)("openssl", parameters.split(" "), { cwd: certificates });

let certificates: string;
let server: PostgresServer;
let database: TestDatabase;

beforeAll(async () => {
  certificates = await mkdtemp(join(tmpdir(), "posthorn-tls-"));
  const make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
  await openssl(`${make} -keyout ca.key -out ca.crt -subj /CN=authority`);
  await openssl(`${make} -keyout other.key -out other.crt -subj /CN=other`);
  await openssl(
    `${make} -keyout server.key -out server.crt -subj /CN=server -addext subjectAltName=DNS:localhost -CA ca.crt -CAkey ca.key`,
  );
  server = await startPostgres();
  const owner = await stat(server.folder);
  for (const name of ["server.key", "server.crt"]) {
    const target = join(server.folder, name);
    await copyFile(join(certificates, name), target);
    await chmod(target, 0o600);
    await chown(target, owner.uid, owner.gid);
  }
  await administer(server.address, "ALTER SYSTEM SET ssl = on");
  await administer(server.address, "SELECT pg_reload_conf()");
  database = await createDatabaseOn(server.address);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(certificates, { recursive: true, force: true });
});

/** Whether the connections that an address gives are encrypted. */
async function isEncrypted(query: string, host = "127.0.0.1"): Promise<boolean> {
  await using connections = await openTestConnections(database.url.replace("127.0.0.1", host) + query);
  const { rows } = await sql<{
    ssl: boolean;
  }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`.execute(queryOf(connections));
  return rows[0]?.ssl === true;
}

const file = (name: string): string => encodeURIComponent(join(certificates, name));

describe("TLS of an address", () => {
  it("is there where it is asked for", async () => {
    expect(await isEncrypted("")).toBe(false);
    expect(await isEncrypted("?sslmode=disable")).toBe(false);
    expect(await isEncrypted("?sslmode=require")).toBe(true);
    expect(await isEncrypted(`?sslmode=require&sslrootcert=${file("ca.crt")}`)).toBe(true);
    expect(await isEncrypted(`?sslmode=verify-ca&sslrootcert=${file("ca.crt")}`)).toBe(true);
    expect(await isEncrypted(`?sslmode=verify-full&sslrootcert=${file("ca.crt")}`, "localhost")).toBe(true);
  });

  it.each([
    ["require", "other.crt", "localhost"],
    ["verify-ca", "other.crt", "localhost"],
    ["verify-full", "other.crt", "localhost"],
    // A certificate for another name.
    ["verify-full", "ca.crt", "127.0.0.1"],
    // Of those that Node believes.
    ["verify-full", "system", "localhost"],
    ["verify-full", null, "localhost"],
  ])("%s with %s refuses the server %s", async (mode, authority, host) => {
    const root = authority === "system" ? "system" : authority === null ? null : file(authority);
    const query = `?sslmode=${mode}${root === null ? "" : `&sslrootcert=${root}`}`;
    const error = await refusalOf(database.url.replace("127.0.0.1", host) + query);
    expect(error).toMatchObject({
      kind: "unavailable",
      message: `The certificate of PostgreSQL at ${host}:${server.address.port} is not one that DATABASE_URL asks for. Give the certificate of its authority as sslrootcert, or correct sslmode. Nothing was changed.`,
    });
  });

  it("is asked for by a server that takes nothing else", async () => {
    const rules = join(server.folder, "pg_hba.conf");
    const before = await readFile(rules, "utf8");
    await writeFile(rules, `hostnossl ${database.name} all all reject\n${before}`);
    await administer(server.address, "SELECT pg_reload_conf()");
    await expect
      .poll(async () => await refusalOf(database.url).then((error) => error.message, String))
      .toBe(
        `PostgreSQL at 127.0.0.1:${server.address.port} does not let the user "postgres" in from here. Add sslmode=require to DATABASE_URL where it wants TLS, or let it in with a line of pg_hba.conf. Nothing was changed.`,
      );
    expect(await isEncrypted("?sslmode=require")).toBe(true);
  });
});
