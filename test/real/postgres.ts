/*
 * Hosts on the PostgreSQL of Debian's package postgresql-15, the oldest that Posthorn takes: a primary with a
 * synchronous standby. The primary dies while two hosts publish, and the standby is promoted in its place. Then
 * the database goes through pg_dump and pg_restore, and the copy holds what it held.
 *
 *   npx tsx test/real/postgres.ts [folder of the package's programs]
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, existsSync, readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { startClassServers } from "../faults/class-servers.ts";
import { buildWorker } from "../faults/fault-runner.ts";
import { randomFor } from "../faults/report.ts";
import { CLASSES, gatherFleet } from "../postgres/faults/fleet.ts";
import { openStoreOn } from "../support/postgres-store-on.ts";
import { administer, makeTemplate, urlOf, type PostgresAddress } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { listen } from "../support/listen.ts";
import { conclude, freePort, tell } from "./world.ts";

const PROGRAMS = process.argv[2] ?? "/usr/lib/postgresql/15/bin";
const USER = "postgres";
const PASSWORD = "s3cret";
const POSTS = { providers: CLASSES, accounts: 4, posts: 4, withinMs: 6_000 };

using folder = temporaryFolder();
chmodSync(folder.path, 0o755);
const isRoot = process.getuid?.() === 0;

/** PostgreSQL refuses to run as root. */
function run(program: string, args: readonly string[], env: Record<string, string> = {}): string {
  const command = join(PROGRAMS, program);
  const [file, all] = isRoot ? ["setpriv", ownIds(command, args)] : [command, [...args]];
  return execFileSync(file, all, {
    cwd: folder.path,
    env: { PATH: process.env["PATH"] ?? "", PGPASSWORD: PASSWORD, ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function ownIds(command: string, args: readonly string[]): string[] {
  return [`--reuid=${idOf("-u")}`, `--regid=${idOf("-g")}`, "--clear-groups", command, ...args];
}

function idOf(which: "-u" | "-g"): number {
  return Number(execFileSync("id", [which, USER], { encoding: "utf8" }));
}

interface Cluster extends Disposable {
  readonly port: number;
  readonly data: string;
  readonly address: PostgresAddress;
}

function startCluster(data: string, port: number): Cluster {
  appendFileSync(join(data, "postgresql.conf"), `port = ${port}\n`);
  // Its output would keep the pipe of this script open.
  run("pg_ctl", ["start", "-w", "-s", "-D", data, "-l", `${data}.log`]);
  const stop = (): void => {
    if (existsSync(join(data, "postmaster.pid")))
      run("pg_ctl", ["stop", "-m", "immediate", "-s", "-D", data]);
  };
  return { port, data, address: { port, user: USER, password: PASSWORD }, [Symbol.dispose]: stop };
}

function makePrimary(data: string, port: number): Cluster {
  const passwords = join(folder.path, "password");
  appendFileSync(passwords, PASSWORD);
  if (isRoot) for (const path of [folder.path, passwords]) chownSync(path, idOf("-u"), idOf("-g"));
  const authentication = ["--auth=scram-sha-256", `--pwfile=${passwords}`];
  run("initdb", ["-D", data, "-U", USER, "--encoding=UTF8", "--locale=C", ...authentication]);
  appendFileSync(
    join(data, "postgresql.conf"),
    "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 200\n",
  );
  return startCluster(data, port);
}

/** Follows the primary, which answers no commit from then on that it does not have. */
async function makeStandby(primary: Cluster, data: string, port: number): Promise<Cluster> {
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", USER];
  run("pg_basebackup", [...from, "-D", data, "--write-recovery-conf", "--wal-method=stream"]);
  const standby = startCluster(data, port);
  await administer(primary.address, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await administer(primary.address, "SELECT pg_reload_conf()");
  return standby;
}

/** One address for whichever server is the primary, as a service's name or a balancer is. */
async function startAddress(first: number) {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => sockets.delete(from));
    }
  });
  const { port } = await listen(server);
  return {
    port,
    leadTo: (port: number) => void (target = port),
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Of each table the rows as JSON. */
async function readTables(url: string): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  for (const { name } of tables.rows) {
    const all = await client.query<{ rows: string }>(
      `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS rows FROM ${name} t`,
    );
    rows.set(name, all.rows[0]?.rows ?? "[]");
  }
  await client.end();
  return rows;
}

using primary = makePrimary(join(folder.path, "primary"), await freePort());
using standby = await makeStandby(primary, join(folder.path, "standby"), await freePort());
await makeTemplate(primary.address);
using address = await startAddress(primary.port);
await using servers = await startClassServers({ delayMs: 60 });
const worker = await buildWorker("worker", join(import.meta.dirname, "..", "postgres", "faults"));
const at = { address: { ...primary.address, port: address.port }, servers, worker };
await using fleet = await gatherFleet(at, POSTS, randomFor("failover"));
const hosts = [fleet.run({ host: "one" }), fleet.run({ host: "two" })];
await Promise.all(hosts.map(({ ready }) => ready));
await pause(2_000);
const before = servers.visible().size;
process.kill(Number(readFileSync(join(primary.data, "postmaster.pid"), "utf8").split("\n")[0]), "SIGQUIT");
await pause(1_000);
run("pg_ctl", ["promote", "-w", "-s", "-D", standby.data]);
address.leadTo(standby.port);
const exits = await Promise.all(hosts.map(({ exit }) => exit));
const after = servers.visible().size;
tell(
  "two hosts end by themselves",
  exits.every(({ code }) => code === 0),
  exits,
);
tell("the primary died while posts went out", before > 0 && before < after, [before, after]);
const wrong = await fleet.wrong();
tell("each post is out once, or said to be unknown", wrong.length === 0, wrong);

const name = new URL(fleet.url).pathname.slice(1);
const original = urlOf(standby.address, name);
const restored = urlOf(standby.address, "restored");
const dump = join(folder.path, "posthorn.dump");
run("pg_dump", ["--format=custom", `--file=${dump}`, original]);
await administer(standby.address, "CREATE DATABASE restored ENCODING 'UTF8' TEMPLATE template0");
run("pg_restore", ["--exit-on-error", "--no-owner", `--dbname=${restored}`, dump]);
run("psql", [restored, "--quiet", "--command=ANALYZE"]);
const [there, copied] = [await readTables(original), await readTables(restored)];
const others = [...there.keys()].filter((table) => there.get(table) !== copied.get(table));
tell(`${there.size} tables are the same after pg_restore`, others.length === 0, others);
await using store = await openStoreOn(restored);
tell("the copy opens", store.isPresent());
conclude();
