import type { ReconcileClass } from "../../domain/accounts/account.ts";

/** Why the outcome of a post is in doubt whose ledger comes from a copy. */
export const MAY_BE_OUT =
  "The database was restored from a copy that is older than this post's time, and it may have gone out since.";

const TELLS: Record<ReconcileClass, boolean> = {
  server_key: true,
  client_key: true,
  list: true,
  session: false,
  container: false,
  blind: false,
};

/**
 * Whether the platform tells by the post itself what became of it; else it needs handles that a copy may not
 * have.
 */
export function tellsWithoutLedger(reconciles: ReconcileClass): boolean {
  return TELLS[reconciles];
}
