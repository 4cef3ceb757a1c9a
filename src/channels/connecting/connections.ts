import { join, type Said, say, withSteps } from "../../domain/sentences.ts";
import { randomBytes } from "node:crypto";
import type { Account } from "../../domain/accounts/account.ts";
import type { ConnectArgs, ConnectResult, SaidConnectResult } from "../../domain/accounts/connection.ts";
import { channelInFull } from "../../domain/accounts/channel-names.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { type Caller, DEFAULT_OWNER } from "../../domain/permissions.ts";
import { DAY, toIso } from "../../domain/time.ts";
import type { ConnectWay, NoneWay, Secrets } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { pasteWay } from "../../ports/platform-setup.ts";
import {
  type AccountRow,
  findAccountRow,
  updateConnection,
  listAccountRows,
} from "../../store/queries/accounts.ts";
import { insertConnection } from "../../store/queries/connections.ts";
import { commitOnce } from "../../access/idempotency.ts";
import { type AppContext, type CallContext, guestCall } from "../../context.ts";
import { effectiveSettings } from "../platform-io/effective-settings.ts";
import { requireConfigured, takenRedirectUrl, usualWay, wayOf } from "../platform-io/set-up.ts";
import { findAccount, showAccount } from "../accounts/accounts.ts";
import {
  inOne,
  describeReconnection,
  describeUnderWay,
  describeWaiting,
  withUnderWay,
} from "../accounts/late-posts.ts";
import {
  completeFields,
  type ConnectTarget,
  readInstance,
  storedSecrets,
  findChannels,
} from "./connect-target.ts";
import {
  connectAccounts,
  type ConnectOutcome,
  chooseAtOnce,
  type FoundChannel,
  pickChannels,
  toChannels,
} from "./store-accounts.ts";
import { hashToken, LINK_LIFE_MS } from "./connect-link.ts";
import { assertSecrets, findWay, hasConsent, findPlace } from "./connect-page.ts";
import { readSettings } from "../platform-io/connect-io.ts";
import { findPlatform } from "../platform-io/list-platforms.ts";
import { type GrantRow, deleteUnusedGrant } from "../../store/queries/grants.ts";
import type {} from "./renew-tokens.ts";
import { revokeGrant } from "./renewal.ts";
import { insertMeta, readMeta } from "../../store/queries/meta.ts";

/** How long the state of a connection can still be asked for. */
const REMEMBERED_MS = DAY;

/**
 * Connects a channel at once, or answers the address of a page where a person enters what no chat should see.
 */
export async function connectChannel(call: CallContext, args: ConnectArgs): Promise<SaidConnectResult> {
  const target = await readTarget(call.ctx, call.caller, args);
  const { way } = target;
  if (way.kind === "none") return connectAtOnce(call, { ...target, way });
  if (hasConsent(target)) await findPlace(call.ctx, target);
  return openLink(call, target);
}

/** Before a channel that asks for nothing is connected again, and posts that it kept back go out. */
export async function askToReconnect(call: CallContext, args: ConnectArgs): Promise<string | null> {
  const { way, reconnecting } = await readTarget(call.ctx, call.caller, args);
  if (way.kind !== "none" || reconnecting === null) return null;
  const release = await describeReconnection(call.ctx, reconnecting);
  return release === null ? null : `Connect ${channelInFull(reconnecting)} again? ${release}`;
}

async function connectAtOnce(
  call: CallContext,
  target: ConnectTarget & { readonly way: NoneWay },
): Promise<SaidConnectResult> {
  const found = await findChannels(call, target, {});
  const release = await describeReconnection(call.ctx, target.reconnecting);
  return connectAccounts<SaidConnectResult>(call, {
    target,
    found,
    chosen: chooseAtOnce(target, found) ?? [],
    answer: async (_tx, { accounts, notice }) => ({
      status: "connected",
      connectId: null,
      url: null,
      expiresAt: null,
      instructions: withUnderWay(release, notice),
      account: accounts[0],
      accounts: [...accounts],
    }),
  });
}

async function openLink(call: CallContext, target: ConnectTarget): Promise<SaidConnectResult> {
  const { ctx } = call;
  const token = randomBytes(32).toString("base64url");
  const now = ctx.clock.now();
  const id = newId("con");
  const result: SaidConnectResult = {
    status: "authorization_required",
    connectId: id,
    url: `${await ctx.publicUrl()}/connect/${token}`,
    expiresAt: toIso(now + LINK_LIFE_MS),
    instructions: withSteps(
      join(await whatToDo(ctx, target), target.way.instructions, await whatAgain(ctx, target)),
      {
        do: "check_connection",
        connectId: id,
      },
    ),
    account: null,
    accounts: [],
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

/** Which channel is connected again, and what becomes of its posts then. */
async function whatAgain(ctx: AppContext, { reconnecting }: ConnectTarget): Promise<Said> {
  if (reconnecting === null) return "";
  const pause = reconnecting.paused === 1 ? "It stays paused: nothing goes out before it is resumed." : null;
  const release = await describeReconnection(ctx, reconnecting);
  const told = release === null ? [] : ["Tell the person:", release];
  return join(`It connects ${channelInFull(reconnecting)} again.`, pause, ...told);
}

async function whatToDo(ctx: AppContext, target: ConnectTarget): Promise<string> {
  if (!hasConsent(target)) {
    return "Ask the person to open the address and fill in the form on that page. It works once and for 15 minutes. No password or token belongs in this conversation.";
  }
  const { title } = target.platform;
  const { redirectUrl } = await findPlace(ctx, target);
  const isOurs = new URL(redirectUrl).origin === new URL(await ctx.publicUrl()).origin;
  const back = isOurs
    ? ""
    : ` The browser ends at ${redirectUrl}. If that page does not load, the person copies its whole address and pastes it into the page they started from.`;
  const isTaken = (await takenRedirectUrl(ctx, target.platform, target.way)) !== null;
  const https = isTaken ? "" : ` ${redirectUrl} is not an https address. ${pasteWay(target.platform)}`;
  return `Ask the person to open the address. It leads on to ${title}, where they agree, and works once and for 15 minutes. No password or code belongs in this conversation.${back}${https}`;
}

/**
 * The page that a person opens to connect; shown only to them, so that the conversation does not need its
 * address.
 */
export function linkOf(
  result: ConnectResult,
): { url: string; message: string; rest: SaidConnectResult } | null {
  const { url, connectId, expiresAt } = result;
  if (url === null || connectId === null || expiresAt === null) return null;
  const instructions = say(
    `The person agreed to open the page, which works once and until ${expiresAt}. No password or token belongs in this conversation.`,
    { next: [{ do: "check_connection", connectId }] },
  );
  return {
    url,
    message: "Open this page of Posthorn to connect the channel. It works once, for 15 minutes.",
    rest: { ...result, url: null, instructions },
  };
}

/**
 * Connects with secrets that are at hand, for the command line. `choose` is asked where several channels were
 * found, and answers the keys of those to connect. Without it, that is `invalid`.
 */
export async function connectWithSecrets(
  call: CallContext,
  {
    secrets: given,
    choose,
    ...args
  }: ConnectArgs & {
    readonly secrets: Secrets;
    readonly choose?: (channels: readonly FoundChannel[]) => Promise<readonly string[]>;
  },
): Promise<ConnectOutcome> {
  const target = assertSecrets(await readTarget(call.ctx, call.caller, args));
  const secrets = await completeFields(call.ctx, target, given);
  const found = await findChannels(call, target, secrets);
  const chosen =
    chooseAtOnce(target, found) ?? pickChannels(target, found, (await choose?.(toChannels(found))) ?? []);
  return connectAccounts(call, { target, found, chosen, answer: async (_tx, outcome) => outcome });
}

/** Checks everything that can be checked before a person is asked. */
export async function readTarget(ctx: AppContext, caller: Caller, args: ConnectArgs): Promise<ConnectTarget> {
  const reconnecting =
    args.accountId === undefined ? null : await findAccount(ctx, caller, args.accountId, "accountId", true);
  const provider = args.provider ?? reconnecting?.provider;
  if (provider === undefined)
    throw new AppError("invalid", "provider: is required unless accountId names a channel to reconnect.");
  const platform = findPlatform(ctx, provider);
  if (reconnecting === null && caller.accountIds !== null) {
    throw new AppError(
      "forbidden",
      "This key is limited to certain channels, so it may not connect new ones. Give accountId to reconnect one of its own.",
    );
  }
  if (reconnecting !== null && reconnecting.provider !== platform.name)
    throw new AppError(
      "invalid",
      `accountId: this channel is on ${reconnecting.provider}, not on ${platform.name}. Give provider "${reconnecting.provider}" to reconnect it, or leave accountId out.`,
    );
  const usual =
    reconnecting === null ? usualWay(await effectiveSettings(ctx), platform) : wayOf(platform, reconnecting);
  const way = args.way === undefined ? usual : findWay(platform, args.way);
  refuseUnused(platform, way, args);
  const given = args.instanceUrl === undefined ? null : readInstance(ctx, platform, args.instanceUrl);
  await requireConfigured(ctx, platform, way);
  const instanceUrl = given ?? (reconnecting === null ? null : await storedInstance(ctx, reconnecting));
  return {
    ownerId: caller.ownerId,
    platform,
    way,
    instanceUrl,
    handle: args.handle?.trim() || null,
    name: args.name?.trim() || null,
    reconnecting,
  };
}

/** Throws `invalid` for an argument that this way to connect has no use for: nothing is dropped silently. */
function refuseUnused({ title }: AnyPlatform, way: ConnectWay, args: ConnectArgs): void {
  const isOneServer = way.kind === "none" || ("instance" in way && way.instance === "no");
  if (isOneServer && args.instanceUrl !== undefined)
    throw new AppError("invalid", `instanceUrl: ${title} has no servers to choose from. Leave it out.`);
  if (way.kind === "none" && args.handle !== undefined)
    throw new AppError(
      "invalid",
      `handle: ${title} has no user names. Leave it out; name is what it is called.`,
    );
}

/**
 * A channel on a server of its own is reconnected there: its password is none of another server's business.
 * Where its secrets do not open, the server may have been changed, and the person names it anew.
 */
async function storedInstance(ctx: AppContext, row: AccountRow): Promise<string | null> {
  const isOpened =
    row.secrets_enc === null || Object.keys(await storedSecrets(ctx, ctx.store, row)).length > 0;
  if (!isOpened) return null;
  const { instanceUrl } = readSettings(row);
  return typeof instanceUrl === "string" ? instanceUrl : null;
}

/**
 * Forgets the account's secrets, and gives its tokens back where no other channel uses them. Its posts stay,
 * and so does its identity, by which connecting it again finds it.
 */
export async function disconnectChannel(
  call: CallContext,
  args: { accountId: string },
): Promise<{ account: Account }> {
  const { ctx, caller } = call;
  const found = await findAccount(ctx, caller, args.accountId);
  if (found.status === "disconnected") return { account: await showAccount(ctx, ctx.store, found) };
  let dropped: GrantRow | null = null as GrantRow | null;
  const answer = await commitOnce(call, async (tx) => {
    const change = {
      status: "disconnected" as const,
      status_reason: "It was disconnected on request.",
      secrets_enc: null,
      grant_id: null,
      token_expires_at: null,
      access_ends_at: null,
      scopes: "[]",
      updated_at: ctx.clock.now(),
    };
    await updateConnection(tx, { ownerId: caller.ownerId, id: found.id }, change);
    const grant = { owner_id: caller.ownerId, id: found.grant_id ?? "" };
    dropped = found.grant_id === null ? null : ((await deleteUnusedGrant(tx, grant)) ?? null);
    const row = (await findAccountRow(tx, caller.ownerId, found.id)) ?? found;
    const underWay = await describeUnderWay(ctx, tx, { account: found, next: "held" });
    const account = await showAccount(ctx, tx, row);
    const waiting = describeWaiting(account.queuedCount);
    return { account: { ...account, statusReason: inOne(account.statusReason, waiting, underWay) } };
  });
  ctx.log.info({ accountId: found.id, provider: found.provider }, "The account was disconnected");
  if (dropped !== null) await revokeGrant(ctx, { grant: dropped, account: found });
  return answer;
}

const FIRST_ACCOUNT = "first_account";

/** Another process made the account in the meantime. */
class MadeAlready extends Error {}

/**
 * Gives the default owner an account on the built-in platform that asks for nothing, once in the life of a
 * database, so that everything works before any channel is connected.
 */
export async function ensureFirstAccount(ctx: AppContext): Promise<void> {
  if ((await readMeta(ctx.store, FIRST_ACCOUNT)) !== null) return;
  const platform = [...ctx.platforms.values()].find(({ connect }) => connect[0].kind === "none");
  const way = platform?.connect[0];
  if (platform === undefined || way?.kind !== "none") return;
  if ((await listAccountRows(ctx.store, DEFAULT_OWNER)).length > 0) return;
  const target = {
    ownerId: DEFAULT_OWNER,
    platform,
    way,
    instanceUrl: null,
    handle: null,
    name: "My feed",
    reconnecting: null,
  };
  try {
    const found = await findChannels(guestCall(ctx), target, {});
    await connectAccounts(guestCall(ctx), {
      target,
      found,
      chosen: found.targets,
      logLevel: "debug",
      answer: async (tx, outcome) => {
        if (!(await insertMeta(tx, FIRST_ACCOUNT, outcome.accounts[0].id))) throw new MadeAlready();
        return outcome;
      },
    });
  } catch (error) {
    if (!(error instanceof MadeAlready)) throw error;
  }
}
