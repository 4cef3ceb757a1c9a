import { randomInt } from "node:crypto";
import { sql } from "kysely";
import type { Tables } from "../../schema/tables.ts";
import { queryOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";

/** Upper bounds of how late posts went live. */
const BOUNDS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000] as const;
const BEYOND = -1;

/** In one row every worker would wait for the other's disk. Readers add the parts up. */
const PARTS = 64;

export interface EndedAttempt {
  readonly provider: string;
  readonly outcome: Tables["attempts"]["outcome"];
  /** Milliseconds after the post's time. */
  readonly lateMs: number;
}

/** Counts attempts that this transaction has ended. Called once a transaction, so that none waits in a circle. */
export async function countEnded(tx: Tx, ended: readonly EndedAttempt[]): Promise<void> {
  const part = randomInt(PARTS);
  const totals = new Map<string, Tables["attempt_totals"]>();
  for (const { provider, outcome, lateMs } of ended) {
    const late = outcome === "published" ? Math.max(0, lateMs) : 0;
    const bucket_ms = outcome === "published" ? (BOUNDS.find((bound) => late <= bound) ?? BEYOND) : 0;
    const key = `${provider} ${outcome} ${bucket_ms}`;
    const { attempts = 0, lateness_ms = 0 } = totals.get(key) ?? {};
    totals.set(key, {
      part,
      provider,
      outcome,
      bucket_ms,
      attempts: attempts + 1,
      lateness_ms: lateness_ms + late,
    });
  }
  if (totals.size === 0) return;
  const rows = [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
  await queryOf(tx)
    .insertInto("attempt_totals")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["part", "provider", "outcome", "bucket_ms"]).doUpdateSet({
        attempts: sql<number>`attempt_totals.attempts + excluded.attempts`,
        lateness_ms: sql<number>`attempt_totals.lateness_ms + excluded.lateness_ms`,
      }),
    )
    .execute();
}
