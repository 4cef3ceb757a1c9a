import type { Account } from "../../domain/accounts/account.ts";
import { AppError } from "../../domain/errors.ts";
import { plainText } from "../../domain/plain-text.ts";
import { newId } from "../../domain/ids.ts";
import { quote } from "../../domain/time.ts";
import type { Connected, ConnectInput, ConnectIo, ConnectWay, Target } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import {
  findAccountByIdentity,
  findAccountRow,
  insertAccount,
  reconnectAccount,
  type AccountRow,
} from "../../store/tables/accounts.ts";
import type { Tx } from "../../store/engine/store.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, GuestCall } from "../context.ts";
import { createConnectIo, toPlatformAccount } from "../platforms/platform-io.ts";
import { showAccount } from "./accounts.ts";
import { inspectConnected } from "./inspect.ts";
import { storedSecrets, type ConnectTarget } from "./connect-fields.ts";
import { mergeSecrets, scrub, sealSecrets, type SecretValues } from "../platforms/secrets.ts";

export interface ConnectOutcome {
  readonly account: Account;
  /** Shown once, to the person who connected. */
  readonly notice: string | null;
}

export interface ConnectRun<T> {
  readonly target: ConnectTarget;
  /** As `completeFields` made them. */
  readonly secrets: SecretValues;
  /** Makes the call's answer in the transaction that stores the account; what it throws undoes that. */
  readonly answer: (tx: Tx, outcome: ConnectOutcome) => Promise<T>;
}

/**
 * Checks the secrets with the platform and stores the account. Throws AppError for whatever the person can
 * mend.
 */
export async function connectAccount<T extends { readonly account: Account | null }>(
  call: GuestCall,
  { target, secrets, answer }: ConnectRun<T>,
): Promise<T> {
  const { ctx } = call;
  const connected = await askPlatform(call, target, secrets);
  const done = await commitOnce(call, async (tx) => {
    const row = await storeAccount(ctx, tx, { target, connected });
    return answer(tx, { account: await showAccount(ctx, tx, row), notice: connected.notice ?? null });
  });
  ctx.log.info({ accountId: done.account?.id, provider: target.platform.name }, "An account was connected");
  ctx.wakePublisher();
  if (done.account !== null) await inspectConnected(ctx, target.ownerId, done.account.id);
  return done;
}

async function askPlatform(
  { ctx, signal }: GuestCall,
  target: ConnectTarget,
  secrets: SecretValues,
): Promise<FoundAccount> {
  const { platform, way, reconnecting, instanceUrl, handle, name } = target;
  const io = await createConnectIo(ctx, { provider: platform.name, ownerId: target.ownerId }, signal);
  const input: ConnectInput = {
    instanceUrl,
    handle,
    name,
    secrets,
    reconnecting: reconnecting === null ? null : toPlatformAccount(reconnecting),
  };
  try {
    const connected = await connectBy(way, input, io);
    // Nobody is there to read the notice, or to be told that it worked.
    if (signal.aborted) throw new PlatformFault("not_sent", "Connecting was called off.");
    return connected;
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    const cause = scrub(String(error.cause ?? ""), Object.values(secrets));
    ctx.log.warn(
      { provider: platform.name, kind: error.kind, httpStatus: error.httpStatus, cause },
      "Connecting did not work",
    );
    throw explainFault(platform, error);
  }
}

/** A channel with all of its secrets, those that it was given and those of its tokens. */
interface FoundAccount extends Target {
  readonly tokenExpiresAt: number | null;
  readonly scopes: readonly string[];
}

async function connectBy(way: ConnectWay, input: ConnectInput, io: ConnectIo): Promise<FoundAccount> {
  if (way.kind === "oauth" || way.kind === "redirect")
    throw new AppError("unavailable", "This platform is connected in a browser.");
  const { tokens, targets }: Connected = await way.connect(input, io);
  const [target] = targets;
  if (target === undefined) throw new PlatformFault("rejected", "There is no channel that could be used.");
  return {
    ...target,
    secrets: { ...tokens?.secrets, ...target.secrets },
    tokenExpiresAt: tokens?.expiresAt ?? null,
    scopes: tokens?.scopes ?? [],
  };
}

function explainFault(platform: AnyPlatform, fault: PlatformFault): AppError {
  switch (fault.kind) {
    case "auth":
    case "rejected":
      return new AppError("invalid", fault.message);
    case "rate":
      return new AppError("rate_limited", `${fault.message} Try again in ${minutesOf(fault.retryAfterMs)}.`);
    case "setup":
      return new AppError("unavailable", fault.message);
    case "not_sent":
    case "transient":
    case "ambiguous":
      return new AppError(
        "unavailable",
        `${platform.title} could not be asked: ${fault.message} Check the address and try again.`,
      );
  }
}

function minutesOf(ms: number | null): string {
  const minutes = ms === null ? 1 : Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

interface Storing {
  readonly target: ConnectTarget;
  readonly connected: FoundAccount;
}

/** A channel that the owner has already is reconnected: its id and its posts stay. */
async function storeAccount(ctx: AppContext, tx: Tx, { target, connected }: Storing): Promise<AccountRow> {
  const existing = await findExisting(tx, { target, connected });
  const now = ctx.clock.now();
  const ref = { owner_id: target.ownerId, id: existing?.id ?? newId("acc") };
  const secrets = mergeSecrets(storedSecrets(ctx, existing), connected.secrets);
  const settings = JSON.stringify(connected.settings);
  const change = {
    name: nameOf(target, existing, connected),
    handle: handleOf(connected),
    profile_url: connected.profileUrl,
    avatar_url: connected.avatarUrl,
    status: "connected" as const,
    status_reason: null,
    token_expires_at: connected.tokenExpiresAt,
    scopes: JSON.stringify(connected.scopes),
    settings,
    grant_id: null,
    access_ends_at: null,
    secrets_enc: sealSecrets(
      ctx,
      { ...ref, provider: target.platform.name, settings, grant_id: null },
      secrets,
    ),
    updated_at: now,
  };
  if (existing !== null) {
    await reconnectAccount(tx, existing, change);
    return { ...existing, ...change, secrets_version: existing.secrets_version + 1 };
  }
  const row: AccountRow = {
    ...ref,
    ...change,
    provider: target.platform.name,
    platform_account_id: connected.platformAccountId,
    secrets_version: 1,
    in_flight_post: null,
    next_allowed_at: 0,
    wait_cause: null,
    freed_at: null,
    last_published_at: null,
    way: target.way.name,
    limits: "{}",
    inspected_at: 0,
    created_at: now,
  };
  await insertAccount(tx, row);
  return row;
}

async function findExisting(tx: Tx, { target, connected }: Storing): Promise<AccountRow | null> {
  const { ownerId, platform, way, reconnecting } = target;
  if (reconnecting === null) {
    const identity = { ownerId, provider: platform.name, platformAccountId: connected.platformAccountId };
    return (await findAccountByIdentity(tx, identity)) ?? null;
  }
  const row = (await findAccountRow(tx, ownerId, reconnecting.id)) ?? reconnecting;
  // What connects without asking anybody has no identity that could differ.
  if (way.kind !== "none" && row.platform_account_id !== connected.platformAccountId) {
    throw new AppError("conflict", otherAccountSentence(row, connected));
  }
  return row;
}

function otherAccountSentence(row: AccountRow, connected: FoundAccount): string {
  const wanted = row.handle ?? row.name;
  return (
    `These credentials belong to another account (${quote(connected.handle ?? connected.name)}) than the channel that is being reconnected (${quote(wanted)}). ` +
    `Use the credentials of ${quote(wanted)}, or call connect_channel without accountId to connect the other one as a channel of its own.`
  );
}

/**
 * A name stands inside of sentences that agents read: on one line, without tricks, and not as long as a
 * story.
 */
const MAX_NAME_CHARS = 100;

function nameOf(target: ConnectTarget, existing: AccountRow | null, connected: FoundAccount): string {
  const keepsName = target.way.kind === "none" && target.name === null && existing !== null;
  if (keepsName) return existing.name;
  const name = plainText(connected.name, MAX_NAME_CHARS);
  return name === "" ? target.platform.title : name;
}

function handleOf({ handle }: FoundAccount): string | null {
  return handle === null ? null : plainText(handle, MAX_NAME_CHARS);
}
