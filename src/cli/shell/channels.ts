import type { Account } from "../../domain/accounts/account.ts";
import { AppError } from "../../domain/errors.ts";
import { plainText } from "../../domain/plain-text.ts";
import { quote } from "../../domain/time.ts";

const MAX_NAMED = 20;
const MAX_NAME = 40;

/**
 * The channel that somebody means: by its id, else by its name or handle, else by its platform where that has
 * one alone. Throws `invalid` with those there are.
 */
export function findChannel(accounts: readonly Account[], wanted: string): Account {
  const usable = accounts.filter(({ status }) => status !== "disconnected");
  const word = fold(wanted);
  const ways: readonly ((account: Account) => boolean)[] = [
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
        `--on: ${quote(wanted)} may be any of ${nameAll([found, ...others])}. Give the id of the one you mean.`,
      );
  }
  throw new AppError("invalid", `--on: there is no channel ${quote(wanted)}. ${sayChannels(usable)}`);
}

/** The channels to choose from, as a sentence. */
export function sayChannels(accounts: readonly Account[]): string {
  const usable = accounts.filter(({ status }) => status !== "disconnected");
  if (usable.length === 0) return 'There is none yet; connect one with "posthorn connect".';
  return `The channels are ${nameAll(usable)}. Give a name, handle or id, or a platform that has one channel.`;
}

function nameAll(accounts: readonly Account[]): string {
  const named = accounts.slice(0, MAX_NAMED).map(describe);
  return `${named.join(", ")}${accounts.length > MAX_NAMED ? ' and more (see "posthorn accounts")' : ""}`;
}

function describe({ id, name, handle, provider }: Account): string {
  const called = plainText(name, MAX_NAME);
  const also = handle === null || fold(handle) === fold(name) ? "" : `, ${plainText(handle, MAX_NAME)}`;
  return `"${called}" (${provider}${also}, ${id})`;
}

/** People write handles with or without their sign. */
function fold(text: string): string {
  return text.trim().replace(/^@/, "").normalize("NFKC").toLowerCase();
}
