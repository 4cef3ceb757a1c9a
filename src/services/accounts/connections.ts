import { createHash, randomBytes } from "node:crypto";
import type { Account } from "../../domain/accounts/account.ts";
import type { ConnectArgs, ConnectionStatus, ConnectResult } from "../../domain/accounts/connection.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { canReachAccount, type Caller } from "../../domain/permissions.ts";
import { DAY, MINUTE, quote, toIso } from "../../domain/time.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { findAccountRow, type AccountRow } from "../../store/tables/accounts.ts";
import { findConnection, insertConnection } from "../../store/tables/connections.ts";
import { findAccount, showAccount } from "./accounts.ts";
import { connectAccount, type ConnectOutcome } from "./connect-account.ts";
import { completeFields, storedSecrets, type ConnectTarget } from "./connect-fields.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { readSettings } from "../platforms/platform-io.ts";
import { findPlatform } from "../platforms/platforms.ts";
import type { SecretValues } from "../platforms/secrets.ts";
import { requireConfigured } from "../platforms/set-up.ts";

/** How long an address to connect at works. */
export const LINK_LIFE_MS = 15 * MINUTE;

/** How long the state of a connection can still be asked for. */
const REMEMBERED_MS = DAY;

/**
 * Connects a channel at once, or answers the address of a page where a person enters what no chat should see.
 */
export async function connectChannel(call: CallContext, args: ConnectArgs): Promise<ConnectResult> {
  const target = await readTarget(call.ctx, call.caller, args);
  return target.way.kind === "none"
    ? connectAtOnce(call, target)
    : openLink(call, target, target.way.instructions);
}

function connectAtOnce(call: CallContext, target: ConnectTarget): Promise<ConnectResult> {
  return connectAccount<ConnectResult>(call, {
    target,
    secrets: {},
    answer: async (_tx, { account }) => ({
      status: "connected",
      connectId: null,
      url: null,
      expiresAt: null,
      instructions: null,
      account,
    }),
  });
}

async function openLink(
  call: CallContext,
  target: ConnectTarget,
  instructions: string,
): Promise<ConnectResult> {
  const { ctx } = call;
  const token = randomBytes(32).toString("base64url");
  const now = ctx.clock.now();
  const id = newId("con");
  const result: ConnectResult = {
    status: "authorization_required",
    connectId: id,
    url: `${await ctx.publicUrl()}/connect/${token}`,
    expiresAt: toIso(now + LINK_LIFE_MS),
    instructions:
      `Ask the person to open the address and fill in its form; it works once and for 15 minutes. No password or token belongs in this conversation. ` +
      `${instructions} Then call check_connection with connectId "${id}".`,
    account: null,
  };
  const row = {
    id,
    owner_id: target.ownerId,
    provider: target.platform.name,
    account_id: target.reconnecting?.id ?? null,
    instance_url: target.instanceUrl,
    handle: target.handle,
    name: target.name,
    token_hash: hashToken(token),
    status: "pending" as const,
    error: null,
    attempts: 0,
    way: target.way.name,
    state_hash: null,
    pending_enc: null,
    account_ids: null,
    created_at: now,
    expires_at: now + LINK_LIFE_MS,
  };
  return commitOnce(call, async (tx) => {
    await insertConnection(tx, row, now - REMEMBERED_MS);
    return result;
  });
}

/**
 * The page that a person opens to connect; with it shown to them alone, nobody in the conversation needs its
 * address.
 */
export function linkOf(result: ConnectResult): { url: string; message: string; rest: ConnectResult } | null {
  const { url, connectId, expiresAt } = result;
  if (url === null || connectId === null || expiresAt === null) return null;
  const instructions =
    `The person agreed to open the page, which works once and until ${expiresAt}. No password or token belongs in this conversation. ` +
    `Call check_connection with connectId "${connectId}" to see how far they are.`;
  return {
    url,
    message: "Open this page of Posthorn to connect the channel. It works once, for 15 minutes.",
    rest: { ...result, url: null, instructions },
  };
}

/** Only this is stored of the token in a link. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** How far a connection that `connectChannel` started has come. */
export async function checkConnection(
  { ctx, caller }: CallContext,
  args: { connectId: string },
): Promise<{ status: ConnectionStatus; account: Account | null; error: string | null }> {
  const row = await findConnection(ctx.store, caller.ownerId, args.connectId);
  if (row === undefined || (caller.accountIds !== null && !canReachAccount(caller, row.account_id ?? ""))) {
    throw new AppError(
      "not_found",
      `connectId: there is no connection ${quote(args.connectId)}. connect_channel answers the id; it is known for a day.`,
    );
  }
  if (row.status === "pending" && row.expires_at <= ctx.clock.now()) {
    return {
      status: "expired",
      account: null,
      error: "The address was not used in time. Call connect_channel again for a new one.",
    };
  }
  const account =
    row.status === "connected"
      ? await findAccountRow(ctx.store, caller.ownerId, row.account_id ?? "")
      : undefined;
  return {
    status: row.status,
    account: account === undefined ? null : await showAccount(ctx, ctx.store, account),
    error: row.error,
  };
}

export interface ConnectWithSecretsArgs extends ConnectArgs {
  readonly secrets: SecretValues;
}

/** Connects with secrets that are at hand, for the command line. `notice` is shown to the person once. */
export async function connectWithSecrets(
  call: CallContext,
  args: ConnectWithSecretsArgs,
): Promise<ConnectOutcome> {
  const target = await readTarget(call.ctx, call.caller, args);
  const secrets = completeFields(call.ctx, target, args.secrets);
  return connectAccount(call, { target, secrets, answer: async (_tx, outcome) => outcome });
}

/** Checks everything that can be checked before a person is bothered. */
async function readTarget(ctx: AppContext, caller: Caller, args: ConnectArgs): Promise<ConnectTarget> {
  const platform = findPlatform(ctx, args.provider);
  const given = args.instanceUrl === undefined ? null : readInstance(ctx, args.instanceUrl);
  const reconnecting = args.accountId === undefined ? null : await findAccount(ctx, caller, args.accountId);
  if (reconnecting === null && caller.accountIds !== null) {
    throw new AppError(
      "forbidden",
      "This key is limited to certain channels, so it may not connect new ones. Give accountId to reconnect one of its own.",
    );
  }
  if (reconnecting !== null && reconnecting.provider !== platform.name)
    throw otherPlatform(reconnecting.provider, platform);
  await requireConfigured(ctx, platform, platform.connect[0]);
  const instanceUrl = given ?? (reconnecting === null ? null : storedInstance(ctx, reconnecting));
  return {
    ownerId: caller.ownerId,
    platform,
    way: platform.connect[0],
    instanceUrl,
    handle: trimmed(args.handle),
    name: trimmed(args.name),
    reconnecting,
  };
}

function otherPlatform(provider: string, wanted: AnyPlatform): AppError {
  return new AppError(
    "invalid",
    `accountId: this channel is on ${provider}, not on ${wanted.name}. Give provider "${provider}" to reconnect it, or leave accountId out.`,
  );
}

function trimmed(text: string | undefined): string | null {
  const rest = text?.trim() ?? "";
  return rest === "" ? null : rest;
}

/**
 * A channel on a server of its own is reconnected there: its password is none of another server's business.
 * Where its secrets do not open, somebody else may have put the server there, and the person names it anew.
 */
function storedInstance(ctx: AppContext, row: AccountRow): string | null {
  const isVouchedFor = row.secrets_enc === null || Object.keys(storedSecrets(ctx, row)).length > 0;
  if (!isVouchedFor) return null;
  const { instanceUrl } = readSettings(row);
  return typeof instanceUrl === "string" ? instanceUrl : null;
}

/** `pds.example` and `https://pds.example/` mean the same. */
function readInstance(ctx: AppContext, text: string): string {
  const address = text.includes("://") ? text.trim() : `https://${text.trim()}`;
  const url = ctx.outbound.assertAllowed("instanceUrl", address);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new AppError(
      "invalid",
      "instanceUrl: give only the server's address, for example https://pds.example.",
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}
