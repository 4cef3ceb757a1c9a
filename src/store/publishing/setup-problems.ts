import type { SqliteDatabase } from "../engine/driver.ts";
import { readRaw } from "../engine/handle.ts";
import type { Lease } from "../engine/ledger.ts";
import type { Reader } from "../engine/store.ts";

/*
 * What keeps a platform from taking posts and only whoever runs this installation can mend, as the last post
 * was told; forgotten with the next one that goes out there.
 */

const PREFIX = "setup problem:";

const KEY = `(SELECT '${PREFIX}' || provider FROM accounts WHERE id = ?)`;
const NOTE = `
  INSERT INTO meta (key, value) VALUES (${KEY}, json_object('reason', ?, 'at', ?))
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

export function noteSetupProblem(raw: SqliteDatabase, lease: Lease, reason: string, now: number): void {
  raw.prepare(NOTE).run([lease.accountId, reason, now]);
}

export function forgetSetupProblem(raw: SqliteDatabase, { accountId }: Lease): void {
  raw.prepare(`DELETE FROM meta WHERE key = ${KEY}`).run([accountId]);
}

export interface SetupProblem {
  readonly provider: string;
  /** A sentence for whoever runs this installation. */
  readonly reason: string;
  /** When a post was last refused for it. */
  readonly at: number;
}

const LIST = `
  SELECT substr(key, ${PREFIX.length + 1}) AS provider, value ->> 'reason' AS reason, value ->> 'at' AS at
  FROM meta WHERE key GLOB '${PREFIX}*' AND value ->> 'at' >= ? ORDER BY key`;

/** Those that posts met with since then. */
export function listSetupProblems(reader: Reader, since: number): Promise<SetupProblem[]> {
  return readRaw(reader, (raw) => raw.prepare(LIST).all([since]) as SetupProblem[]);
}
