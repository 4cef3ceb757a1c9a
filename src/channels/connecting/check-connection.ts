import * as z from "zod";
import type { Account } from "../../domain/accounts/account.ts";
import type { ConnectionStatus } from "../../domain/accounts/connection.ts";
import { AppError } from "../../domain/errors.ts";
import { canReachAccount } from "../../domain/permissions.ts";
import { type Said, say, withSteps } from "../../domain/sentences.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { findAccountRow } from "../../store/queries/accounts.ts";
import { type ConnectionRow, findConnection } from "../../store/queries/connections.ts";
import type { CallContext } from "../../context.ts";
import { describeNamesake, showAccount } from "../accounts/accounts.ts";

/** How far a connection that `connectChannel` started has come. */
export async function checkConnection(
  { ctx, caller }: CallContext,
  args: { connectId: string },
): Promise<{
  status: ConnectionStatus;
  account: Account | null;
  accounts: Account[];
  error: Said | null;
  warnings?: string[];
}> {
  const row = await findConnection(ctx.store, caller.ownerId, args.connectId);
  if (row === undefined || (caller.accountIds !== null && !canReachAccount(caller, row.account_id ?? ""))) {
    throw new AppError(
      "not_found",
      say(`there is no connection ${quote(args.connectId)}.`, {
        field: "connectId",
        next: [{ do: "list", of: "connections" }],
      }),
    );
  }
  const isOpen = row.status === "pending" || row.status === "choose";
  if (isOpen && row.expires_at <= ctx.clock.now()) {
    return {
      status: "expired",
      account: null,
      accounts: [],
      error: say("The address was not used in time.", { next: [ANOTHER] }),
    };
  }
  const accounts = row.status === "connected" ? await accountsOf({ ctx, caller }, row) : [];
  const error = row.status === "failed" && row.error !== null ? withSteps(row.error, ANOTHER) : row.error;
  const isSeen = (id: string): boolean => canReachAccount(caller, id);
  const warnings: string[] = [];
  for (const one of accounts) {
    const channel = { ...one, owner_id: caller.ownerId };
    warnings.push((await describeNamesake(ctx, ctx.store, channel, isSeen)) ?? "");
  }
  const told = warnings.filter((one) => one !== "");
  return {
    status: row.status,
    account: accounts[0] ?? null,
    accounts,
    error,
    ...(told.length === 0 ? {} : { warnings: told }),
  };
}

const ANOTHER = { do: "connect_again" } as const;

/** What came of a connection, as far as the caller may see it. */
async function accountsOf(
  { ctx, caller }: Pick<CallContext, "ctx" | "caller">,
  row: ConnectionRow,
): Promise<Account[]> {
  const ids =
    row.account_ids === null ? [row.account_id ?? ""] : AccountIds.parse(JSON.parse(row.account_ids));
  const accounts: Account[] = [];
  for (const id of ids.filter((one) => canReachAccount(caller, one))) {
    const account = await findAccountRow(ctx.store, caller.ownerId, id);
    if (account !== undefined) accounts.push(await showAccount(ctx, ctx.store, account));
  }
  return accounts;
}

const AccountIds = z.array(z.string());
