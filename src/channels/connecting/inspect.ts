import { DAY, deadline, SECOND } from "../../domain/time.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import type { AnyPlatform, Inspection } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import {
  type AccountRow,
  findAccountRow,
  listUninspected,
  storeInspection,
} from "../../store/queries/accounts.ts";
import type { AppContext } from "../../context.ts";
import { fitInspection } from "../platform-io/fit-answers.ts";
import { createPlatformIo } from "./account-io.ts";
import { askToReconnect } from "./renew-tokens.ts";

const ASK_TIMEOUT_MS = 20 * SECOND;
const INSPECT_EVERY_MS = DAY;

/** Names stand inside of sentences that agents read. */
const MAX_NAME_CHARS = 100;

/** Connected accounts whose platform has not been asked about them for a day, those longest ago first. */
export async function accountsToInspect(ctx: AppContext, limit: number): Promise<AccountRow[]> {
  const providers = [...ctx.platforms.values()]
    .filter(({ inspect }) => inspect !== undefined)
    .map(({ name }) => name);
  if (providers.length === 0) return [];
  return listUninspected(ctx.store, { providers, since: ctx.clock.now() - INSPECT_EVERY_MS, limit });
}

/**
 * Asks the platform who the account is, what it may do and what stands in the way of posting, and stores it.
 * What does not work is logged and no error: nothing depends on it. An account whose access is refused asks
 * to be reconnected.
 */
export async function inspectAccount(ctx: AppContext, row: AccountRow): Promise<void> {
  const platform = ctx.platforms.get(row.provider);
  if (platform?.inspect === undefined || row.status !== "connected") return;
  const told = await ask(ctx, platform, row);
  const now = ctx.clock.now();
  await ctx.store.write(async (tx) => {
    const current = await findAccountRow(tx, row.owner_id, row.id);
    if (current === undefined) return;
    const at = { ownerId: row.owner_id, id: row.id };
    const change = told === null || current.status !== "connected" ? {} : changeOf(current, told, now);
    await storeInspection(tx, at, { ...change, inspected_at: now });
  });
}

/** So many in one pass: the rest has its turn in the next. */
const INSPECTED_PER_PASS = 500;

/** Inspects those accounts whose day has come, one after the other. */
export async function inspectDue(ctx: AppContext, signal: AbortSignal): Promise<void> {
  for (const row of await accountsToInspect(ctx, INSPECTED_PER_PASS)) {
    signal.throwIfAborted();
    await inspectAccount(ctx, row);
  }
}

/** Right after connecting, whose answer shows what the platform tells. */
export async function inspectConnected(ctx: AppContext, ownerId: string, id: string): Promise<void> {
  try {
    const row = await findAccountRow(ctx.store, ownerId, id);
    if (row !== undefined) await inspectAccount(ctx, row);
  } catch (error) {
    ctx.log.error({ accountId: id, err: error }, "a new account could not be inspected");
  }
}

/** Null where it could not be asked. */
async function ask(ctx: AppContext, platform: AnyPlatform, row: AccountRow): Promise<Inspection | null> {
  try {
    const io = await createPlatformIo(ctx, row, deadline(ASK_TIMEOUT_MS));
    const told = await platform.inspect?.(io);
    return told === undefined ? null : fitInspection(platform.title, told);
  } catch (error) {
    ctx.log.warn({ accountId: row.id, provider: row.provider, err: error }, "an account was not inspected");
    if (error instanceof PlatformFault && error.kind === "auth") {
      const seen = { ownerId: row.owner_id, id: row.id, version: row.secrets_version };
      await askToReconnect(ctx, seen, error);
    }
    return null;
  }
}

function changeOf(row: AccountRow, told: Inspection, now: number): Parameters<typeof storeInspection>[2] {
  const name = plainText(told.name ?? "", MAX_NAME_CHARS);
  const { handle = row.handle } = told;
  const limits = told.limits === undefined ? (JSON.parse(row.limits) as object) : told.limits;
  const use = told.quotaUse === undefined ? {} : { quotaUse: { ...told.quotaUse } };
  const change = {
    name: row.is_renamed === 1 ? row.name : name || row.name,
    handle: handle === null ? null : plainText(handle, MAX_NAME_CHARS),
    avatar_url: told.avatarUrl === undefined ? row.avatar_url : told.avatarUrl,
    limits: JSON.stringify({ ...limits, ...use }),
    status_reason: told.problem,
  };
  const isSame = Object.entries(change).every(([column, value]) => Reflect.get(row, column) === value);
  return { ...change, updated_at: isSame ? row.updated_at : now };
}
