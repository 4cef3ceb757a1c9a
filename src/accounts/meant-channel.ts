import type { AccountStatus } from "../domain/accounts/account.ts";
import { AppError } from "../domain/errors.ts";
import { plainText } from "../domain/plain-text.ts";
import { canReachAccount, type Caller } from "../domain/permissions.ts";
import { quote } from "../domain/time.ts";
import { listAccountRows, type AccountRow } from "../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";

const MAX_NAMED = 10;
const MAX_NAME = 40;

/** What a channel is known by. */
export interface Channel {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly handle: string | null;
  readonly status: AccountStatus;
}

/** Whatever begins like an id is meant as one, also where no account has it. */
export function isAccountId(text: string): boolean {
  return text.startsWith("acc_");
}

/**
 * The channel that somebody means: by its id, else by its name or handle, else by its platform where that has
 * one channel. `field`: where it was given. Throws `invalid` where several may be meant and `not_found` where
 * none is, with those there are.
 */
export function findChannel<T extends Channel>(channels: readonly T[], wanted: string, field: string): T {
  const usable = connected(channels);
  const word = fold(wanted);
  const ways: readonly ((channel: T) => boolean)[] = [
    ({ id }) => id === wanted,
    ({ name, handle }) => fold(name) === word || (handle !== null && fold(handle) === word),
    ({ provider }) => provider === word,
  ];
  for (const isMeant of ways) {
    const [found, ...others] = usable.filter(isMeant);
    if (found !== undefined && others.length === 0) return found;
    if (found !== undefined)
      throw new AppError(
        "invalid",
        `${field}: ${quote(wanted)} may be any of ${nameAll([found, ...others])}. Give the id of the one you mean.`,
      );
  }
  throw new AppError("not_found", `${field}: there is no channel ${quote(wanted)}. ${sayChannels(usable)}`);
}

/** The same among the caller's channels, by whatever is no id. */
export async function findMeantAccount(ctx: AppContext, caller: Caller, wanted: string): Promise<AccountRow> {
  const rows = await listAccountRows(ctx.store, caller.ownerId);
  return findChannel(
    rows.filter(({ id }) => canReachAccount(caller, id)),
    wanted,
    "accountId",
  );
}

/**
 * Accounts that a list is narrowed to, as ids: one that no account has matches nothing. Throws `invalid` for
 * any other text that means no channel, or several.
 */
export async function meantAccountIds(
  ctx: AppContext,
  caller: Caller,
  wanted: readonly string[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const text of wanted) {
    if (isAccountId(text)) ids.push(text);
    else ids.push((await findMeantAccount(ctx, caller, text).catch(asInvalid)).id);
  }
  return ids;
}

/** Of a filter it is the form that is wrong: nothing was looked up by it yet. */
function asInvalid(error: unknown): never {
  throw error instanceof AppError && error.kind === "not_found"
    ? new AppError("invalid", error.message)
    : error;
}

/** The channels to choose from, as a sentence. */
export function sayChannels(channels: readonly Channel[]): string {
  const usable = connected(channels);
  if (usable.length === 0) return "No channel is connected yet. Connect one first.";
  return `The channels are ${nameAll(usable)}. Give a name, handle or id, or a platform that has one channel.`;
}

function connected<T extends Channel>(channels: readonly T[]): T[] {
  return channels.filter(({ status }) => status !== "disconnected");
}

function nameAll(channels: readonly Channel[]): string {
  const more = channels.length - MAX_NAMED;
  return `${channels.slice(0, MAX_NAMED).map(describe).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function describe({ id, name, handle, provider }: Channel): string {
  const called = plainText(name, MAX_NAME);
  const also = handle === null || fold(handle) === fold(name) ? "" : `, ${plainText(handle, MAX_NAME)}`;
  return `"${called}" (${provider}${also}, ${id})`;
}

/** People write handles with or without their sign. */
function fold(text: string): string {
  return text.trim().replace(/^@/, "").normalize("NFKC").toLowerCase();
}
