import { queryOf } from "../../engine/handle.ts";
import type { Lease } from "../../engine/ledger.ts";
import type { Reader, Tx } from "../../engine/store.ts";
import { setMeta } from "../meta.ts";

/*
 * What keeps a platform from taking posts and only whoever runs this installation can mend, as the last post
 * was told; forgotten with the next one that goes out there.
 */

const PREFIX = "setup problem:";

export async function noteSetupProblem(tx: Tx, lease: Lease, reason: string, now: number): Promise<void> {
  await setMeta(tx, await keyOf(tx, lease), JSON.stringify({ reason, at: now }));
}

/** A post has gone out there. */
export async function forgetSetupProblems(tx: Tx, lease: Lease): Promise<void> {
  await queryOf(tx)
    .deleteFrom("meta")
    .where("key", "=", await keyOf(tx, lease))
    .execute();
}

async function keyOf(tx: Tx, { accountId }: Lease): Promise<string> {
  const { provider } = await queryOf(tx)
    .selectFrom("accounts")
    .select("provider")
    .where("id", "=", accountId)
    .executeTakeFirstOrThrow();
  return PREFIX + provider;
}

export interface SetupProblem {
  readonly provider: string;
  /** A sentence for whoever runs this installation. */
  readonly reason: string;
  /** When a post was last refused for it. */
  readonly at: number;
}

/** Those that posts met with since then. */
export async function listSetupProblems(reader: Reader, since: number): Promise<SetupProblem[]> {
  const rows = await queryOf(reader)
    .selectFrom("meta")
    .selectAll()
    .where("key", "like", `${PREFIX}%`)
    .orderBy("key")
    .execute();
  return rows
    .map(({ key, value }) => ({
      provider: key.slice(PREFIX.length),
      ...(JSON.parse(value) as Omit<SetupProblem, "provider">),
    }))
    .filter(({ at }) => at >= since);
}
