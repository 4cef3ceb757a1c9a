import type { Account } from "../../../domain/accounts/account.ts";
import type { Target } from "../../../ports/connect.ts";
import type { Tx } from "../../../store/engine/store.ts";
import { commitOnce } from "../../access/idempotency.ts";
import type { GuestCall } from "../../context.ts";
import { showAccount } from "../accounts.ts";
import type { ConnectTarget } from "./connect-fields.ts";
import type { Found } from "./found-channels.ts";
import { inspectConnected } from "../inspect.ts";
import { storeAccounts } from "./store-accounts.ts";

export interface ConnectOutcome {
  /** The first of `accounts`. */
  readonly account: Account;
  readonly accounts: readonly [Account, ...Account[]];
  /** Shown once, to the person who connected. */
  readonly notice: string | null;
  /** A secret that we made; the notice says what it is for. */
  readonly shownOnce: string | null;
}

export interface ConnectRun<T> {
  readonly target: ConnectTarget;
  readonly found: Found;
  /** At least one of those found. */
  readonly chosen: readonly Target[];
  /**
   * Makes sure, first in that transaction, that nobody else does the same; what it throws undoes it. Default:
   * anybody may.
   */
  readonly begin?: (tx: Tx) => Promise<void>;
  /** How much of an event it is for the log. Default: info. */
  readonly logLevel?: "debug" | "info";
  /** Makes the call's answer in the transaction that stores the accounts; what it throws undoes that. */
  readonly answer: (tx: Tx, outcome: ConnectOutcome) => Promise<T>;
}

/** Makes channels of what was chosen, and wakes the publisher for posts that waited for them. */
export async function connectAccounts<T>(call: GuestCall, run: ConnectRun<T>): Promise<T> {
  const { ctx } = call;
  let ids: readonly string[] = [];
  const done = await commitOnce(call, async (tx) => {
    await run.begin?.(tx);
    const rows = await storeAccounts(ctx, tx, run);
    const accounts: Account[] = [];
    for (const row of rows) accounts.push(await showAccount(ctx, tx, row));
    ids = accounts.map(({ id }) => id);
    const [account, ...more] = accounts;
    if (account === undefined) throw new Error("Nothing was chosen.");
    const notice = joined(run.chosen.map((target) => target.notice));
    const shownOnce = joined(run.chosen.map((target) => target.shownOnce));
    return run.answer(tx, { account, accounts: [account, ...more], notice, shownOnce });
  });
  ctx.log[run.logLevel ?? "info"]({ accountIds: ids, provider: run.target.platform.name }, "Connected");
  ctx.wakePublisher();
  await Promise.all(ids.map((id) => inspectConnected(ctx, run.target.ownerId, id)));
  return done;
}

/** Each text once; null for none. */
function joined(texts: readonly (string | undefined)[]): string | null {
  const given = new Set(texts.filter((text) => text !== undefined));
  return given.size === 0 ? null : [...given].join("\n\n");
}
