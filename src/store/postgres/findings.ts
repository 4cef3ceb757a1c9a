import { note, ok, problem, type Finding } from "../../domain/health/findings.ts";
import { plural, quote } from "../../domain/text/plain-text.ts";
import { FURTHER_CONNECTIONS } from "../../domain/settings/database-settings.ts";
import { SECOND } from "../../domain/time.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import type { Examination } from "../engine/engine.ts";
import type { ConnectionOptions } from "./connect/connections.ts";
import { readHealth, type ServerHealth } from "./health.ts";

export interface ExamineOptions extends Pick<ConnectionOptions, "url" | "directUrl"> {
  /** How many connections the pool of one process opens at most. */
  readonly size: number;
  readonly now: () => number;
}

/** What `posthorn doctor` says of the server. Throws what `readHealth` throws. */
export async function examine({ size, now, ...addresses }: ExamineOptions): Promise<Examination> {
  const health = await readHealth(addresses, now);
  const { schema } = health;
  return {
    findings: describeServer(health, size),
    isEmpty: schema?.version === 0,
    isCurrent: schema !== null && schema.version === schema.newest,
  };
}

function describeServer(health: ServerHealth, connections: number): Finding[] {
  const { version, host, database, user, synchronousCommit, times, refusals, pooler } = health;
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
    ok(
      "pooler",
      pooler === null
        ? "DATABASE_URL leads to the server itself"
        : `DATABASE_URL leads through ${pooler}, DATABASE_DIRECT_URL to the server itself at ${host}`,
    ),
    describeClock(byMs),
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

function describeOld({ old, seesAll }: ServerHealth): Finding[] {
  const seen = seesAll ? "" : " that this user may see (pg_read_all_stats would show all)";
  if (old.length === 0) return [ok("snapshots", `no transaction${seen} is old`)];
  return old.map(({ kind, id, minutes, application, ending }) => {
    const whose = application === "" ? "" : ` of ${quote(application)}`;
    const what =
      kind === "prepared"
        ? `the prepared transaction ${quote(id)}`
        : `a transaction of process ${id}${whose}`;
    const text = `${what} has been open for ${plural(minutes, "minute")}: what was deleted since is not cleared away, and publishing gets slow. End it (${ending}).`;
    return note("snapshots", text);
  });
}

/** By how much this machine's clock is ahead of the database's, where that is on a server. */
function describeClock(byMs: number): Finding {
  if (Math.abs(byMs) <= TIME_LIMITS.clockTolerance)
    return ok("clock", "this machine's agrees with PostgreSQL's, which Posthorn goes by");
  const by = `${Math.abs(Math.round(byMs / SECOND))} seconds ${byMs > 0 ? "ahead of" : "behind"}`;
  return note(
    "clock",
    `this machine's is ${by} PostgreSQL's, which Posthorn goes by. Set it (NTP), or the times in its log are wrong.`,
  );
}
