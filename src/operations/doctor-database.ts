import { existsSync } from "node:fs";
import { AppError } from "../domain/errors.ts";
import { FURTHER_CONNECTIONS } from "../domain/settings/database-settings.ts";
import { quote } from "../domain/time.ts";
import { secretKeyId } from "../store/engine/cipher.ts";
import { assertMoved } from "../store/moving/move.ts";
import type { OldTransaction, ServerHealth } from "../store/postgres/health.ts";
import { readMeta } from "../store/queries/meta.ts";
import { readSecretKey, type DataFolder } from "../app/data-folder.ts";
import { openDatabase } from "../app/file-store.ts";
import { findCipher, nameSecretKey, KEY_CHECK } from "../app/secret-key.ts";
import { readMasterKey, type Settings, type Setup } from "../app/setup.ts";
import { systemClock } from "../app/system-clock.ts";
import { examineMachineClock } from "./doctor-address.ts";
import { note, ok, problem, problemOf } from "./finding.ts";
import type { Finding } from "./reports.ts";

interface OnServer {
  readonly findings: readonly Finding[];
  /** With which everything behind the database is looked at; null where that cannot be. */
  readonly setup: Setup | null;
}

/**
 * The PostgreSQL of the settings and the secret key that goes with it. Nothing is made there: what the first
 * start would leave in an empty database is tried in `scratch`.
 */
export async function examineDatabase(
  given: Omit<Setup, "masterKey">,
  scratch: DataFolder,
): Promise<OnServer> {
  const findings: Finding[] = [];
  let topic = "database";
  try {
    const health = await askServer(given);
    findings.push(...describeServer(health, given.config.database?.connections ?? 0));
    topic = "secret key";
    const isEmpty = health.schema?.version === 0;
    const masterKey = await findMasterKey(given, isEmpty);
    const trial = async (text: string): Promise<OnServer> => ({
      findings: [...findings, note(topic, text)],
      setup: {
        ...given,
        config: { ...given.config, database: null },
        folder: scratch,
        masterKey: await readSecretKey(scratch),
      },
    });
    if (masterKey === null) return await trial(NO_KEY);
    const key = `${secretKeyId(masterKey)}, of ${nameSecretKey(given)}`;
    if (isEmpty) return await trial(`${key}. The first start leaves a mark of it in the database`);
    if (findings.some(({ verdict }) => verdict === "problem") || !isCurrent(health))
      return { findings: [...findings, ok(topic, key)], setup: null };
    const setup = { ...given, masterKey };
    topic = "database";
    await using store = await openDatabase(setup, () => {});
    await assertMoved(store);
    topic = "secret key";
    if ((await readMeta(store, KEY_CHECK)) === null)
      return await trial(`${key}. The next start leaves a mark of it in the database`);
    await findCipher(store, setup);
    const text = `${key}. It opens this database. Keep a copy of it, apart from your backups`;
    return { findings: [...findings, ok(topic, text)], setup };
  } catch (error) {
    return { findings: [...findings, problemOf(topic, error)], setup: null };
  }
}

const NO_KEY =
  "none yet. The first start makes one in this data folder, and every other host needs the same (POSTHORN_SECRET_KEY_FILE)";

async function askServer({ secrets }: Pick<Settings, "secrets">): Promise<ServerHealth> {
  const { examineServer } = await import("../store/postgres/health.ts");
  const { url = "", directUrl = null } = secrets.database ?? {};
  return examineServer({ url, directUrl: directUrl ?? undefined }, () => systemClock.now());
}

/** Null where there is none yet. Throws `unavailable` where the database has one already, and this host none. */
async function findMasterKey(given: Omit<Setup, "masterKey">, isEmpty: boolean): Promise<Buffer | null> {
  const { secretKey } = given.folder;
  if (nameSecretKey(given) !== secretKey || existsSync(secretKey)) return readMasterKey(given);
  if (isEmpty) return null;
  throw new AppError(
    "unavailable",
    "This host has none. Set POSTHORN_SECRET_KEY or POSTHORN_SECRET_KEY_FILE to the key of the host that made the database.",
  );
}

function isCurrent({ schema }: ServerHealth): boolean {
  return schema !== null && schema.version === schema.newest;
}

function describeServer(health: ServerHealth, connections: number): Finding[] {
  const { version, host, database, user, synchronousCommit, times, refusals } = health;
  const byMs = (times.asked + times.answered) / 2 - times.server;
  return [
    ok("database", `PostgreSQL ${version} at ${host} answers. Its database is ${quote(database)}`),
    ...refusals.map((text) => problem("database", text)),
    ...health.plain.map((setting) =>
      note(
        "database",
        `${setting} has no TLS: passwords and posts can be read on the way to the server. Add ?sslmode=verify-full to it (docs/many-machines.md has the choices), unless the network in between is yours only.`,
      ),
    ),
    describeSchema(health),
    health.mayWrite
      ? ok("user", `${quote(user)} may write`)
      : problem(
          "user",
          `${quote(user)} may not write. Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}". It must own the tables in it, too.`,
        ),
    // One that is off is among the refusals.
    ...(synchronousCommit === "off" ? [] : [ok("commits", `synchronous_commit is ${synchronousCommit}`)]),
    describeConnections(health, connections),
    ok("pooler", describePooler(health)),
    examineMachineClock(byMs),
    ...describeOld(health),
  ];
}

function describeSchema({ schema }: ServerHealth): Finding {
  const topic = "schema";
  if (schema === null) return note(topic, "it could not be read");
  const { version, newest } = schema;
  if (version === newest) return ok(topic, `${version}, this Posthorn's`);
  if (version > newest)
    return problem(
      topic,
      `${version}, and this Posthorn knows ${newest}. Update Posthorn, or point DATABASE_URL at another database.`,
    );
  const made =
    version === 0
      ? "no tables yet. The first start makes them"
      : `${version}. The next start brings it to ${newest}`;
  return note(topic, made);
}

/** Through a pooler go the calls' connections, which it counts itself. */
function describeConnections(
  { inUse, maxConnections, processes, pooler }: ServerHealth,
  own: number,
): Finding {
  const each = (pooler === null ? own : 0) + FURTHER_CONNECTIONS;
  const wanted = Math.max(1, processes) * each;
  const isTight = wanted > maxConnections || maxConnections - inUse < each;
  const said = `${inUse} of ${maxConnections} are in use. A process takes up to ${each}, and ${processes} gave a sign of life in the last minute`;
  const advice = ". That may not be enough: raise max_connections, or lower POSTHORN_DATABASE_CONNECTIONS.";
  return isTight ? note("connections", said + advice) : ok("connections", said);
}

function describePooler({ pooler, host }: ServerHealth): string {
  return pooler === null
    ? "DATABASE_URL leads to the server itself"
    : `DATABASE_URL leads through ${pooler}, DATABASE_DIRECT_URL to the server itself at ${host}`;
}

function describeOld({ old, seesAll }: ServerHealth): Finding[] {
  const topic = "snapshots";
  const seen = seesAll ? "" : " that this user may see (pg_read_all_stats would show all)";
  if (old.length === 0) return [ok(topic, `no transaction${seen} is old`)];
  return old.map((one) => note(topic, describeTransaction(one)));
}

function describeTransaction({ kind, id, minutes, application, ending }: OldTransaction): string {
  const whose = application === "" ? "" : ` of ${quote(application)}`;
  const what =
    kind === "prepared" ? `the prepared transaction ${quote(id)}` : `a transaction of process ${id}${whose}`;
  return `${what} has been open for ${minutes} minutes: what was deleted since is not cleared away, and publishing gets slow. End it (${ending}).`;
}
