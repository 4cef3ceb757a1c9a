import type { ConnectArgs } from "../../../domain/accounts/connection.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Caller } from "../../../domain/permissions.ts";
import type { AnyPlatform } from "../../../ports/platform.ts";
import type { AccountRow } from "../../../store/queries/accounts.ts";
import type { AppContext } from "../../context.ts";
import { readSettings } from "../../platforms/platform-io.ts";
import { findPlatform } from "../../platforms/platforms.ts";
import { requireConfigured, usualWay } from "../../platforms/set-up.ts";
import { wayOf } from "../../platforms/ways.ts";
import { findAccount } from "../accounts.ts";
import { storedSecrets, type ConnectTarget } from "./connect-fields.ts";
import { readInstance } from "./server-field.ts";
import { findWay } from "./start-page.ts";

/** Checks everything that can be checked before a person is bothered. */
export async function readTarget(ctx: AppContext, caller: Caller, args: ConnectArgs): Promise<ConnectTarget> {
  const reconnecting = args.accountId === undefined ? null : await findAccount(ctx, caller, args.accountId);
  const provider = args.provider ?? reconnecting?.provider;
  if (provider === undefined)
    throw new AppError("invalid", "provider: is required unless accountId names a channel to reconnect.");
  const platform = findPlatform(ctx, provider);
  const given = args.instanceUrl === undefined ? null : readInstance(ctx, platform, args.instanceUrl);
  if (reconnecting === null && caller.accountIds !== null) {
    throw new AppError(
      "forbidden",
      "This key is limited to certain channels, so it may not connect new ones. Give accountId to reconnect one of its own.",
    );
  }
  if (reconnecting !== null && reconnecting.provider !== platform.name)
    throw otherPlatform(reconnecting.provider, platform);
  const usual = reconnecting === null ? usualWay(ctx, platform) : wayOf(platform, reconnecting);
  const way = args.way === undefined ? usual : findWay(platform, args.way);
  await requireConfigured(ctx, platform, way);
  const instanceUrl = given ?? (reconnecting === null ? null : await storedInstance(ctx, reconnecting));
  return {
    ownerId: caller.ownerId,
    platform,
    way,
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
async function storedInstance(ctx: AppContext, row: AccountRow): Promise<string | null> {
  const isVouchedFor =
    row.secrets_enc === null || Object.keys(await storedSecrets(ctx, ctx.store, row)).length > 0;
  if (!isVouchedFor) return null;
  const { instanceUrl } = readSettings(row);
  return typeof instanceUrl === "string" ? instanceUrl : null;
}
