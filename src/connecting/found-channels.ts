import { AppError } from "../domain/errors.ts";
import { plainText } from "../domain/plain-text.ts";
import { quote } from "../domain/time.ts";
import type { Connected, Place, Target } from "../ports/connect.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { ConnectTarget } from "./connect-fields.ts";

/** What a connection found, and where it was asked for. */
export interface Found extends Connected {
  readonly place: Place;
}

/** A channel as a person chooses it. */
export interface FoundChannel {
  /** A value of ours: its place among those found. */
  readonly key: string;
  /** The platform's own, for scripts that know it; no page shows it. */
  readonly id: string;
  readonly name: string;
  readonly handle: string | null;
  /** Why it cannot be chosen. */
  readonly problem: string | null;
}

/**
 * A name stands inside of sentences that agents read: on one line, without tricks, and not as long as a
 * story.
 */
const MAX_NAME_CHARS = 100;
const MAX_PROBLEM_CHARS = 300;

export function toShownName(text: string): string {
  return plainText(text, MAX_NAME_CHARS);
}

/** The platform's channels, each once. */
export function toFound(connected: Connected, place: Place): Found {
  const byId = new Map(connected.targets.map((target) => [target.platformAccountId, target]));
  return { tokens: connected.tokens, targets: [...byId.values()], place };
}

export function toChannels(found: Pick<Found, "targets">): FoundChannel[] {
  return found.targets.map(({ platformAccountId: id, name, handle, problem }, at) => ({
    key: String(at + 1),
    id,
    name: toShownName(name) || "(without a name)",
    handle: handle === null ? null : toShownName(handle),
    problem: problem === undefined ? null : plainText(problem, MAX_PROBLEM_CHARS),
  }));
}

/** What a page offers: all that were found, or only the channel that is reconnected. */
export function offeredChannels(target: ConnectTarget, found: Pick<Found, "targets">): FoundChannel[] {
  const { reconnecting } = target;
  const channels = toChannels(found);
  if (reconnecting === null) return channels;
  return channels.filter((_channel, at) => {
    const one = found.targets[at];
    return one !== undefined && isSameChannel(reconnecting, one);
  });
}

/**
 * The channels that are connected without asking: the one that is reconnected, or the only one. Null where a
 * person chooses. Throws `invalid` where none can be used, and `conflict` where the one that is reconnected
 * is not among them.
 */
export function chooseAtOnce(target: ConnectTarget, found: Found): readonly Target[] | null {
  const { way, reconnecting } = target;
  const usable = found.targets.filter(({ problem }) => problem === undefined);
  // What connects without asking anybody has no identity that could differ, and no page to choose on.
  if (way.kind === "none" && usable.length > 0) return usable;
  if (reconnecting !== null && found.targets.length > 0) return [findReconnected(reconnecting, found)];
  if (usable.length === 0) throw new AppError("invalid", noneUsable(found));
  return found.targets.length === 1 ? usable : null;
}

function findReconnected(row: AccountRow, found: Found): Target {
  const match = found.targets.find((target) => isSameChannel(row, target));
  if (match === undefined) throw new AppError("conflict", otherAccountSentence(row, found.targets));
  if (match.problem !== undefined) throw new AppError("conflict", toShownName(match.problem));
  return match;
}

function otherAccountSentence(row: AccountRow, targets: readonly Target[]): string {
  const wanted = quote(row.handle ?? row.name);
  const [first, ...more] = targets.map(({ handle, name }) => quote(toShownName(handle ?? name)));
  const others = more.length === 0 ? first : `${first} and ${more.length} more`;
  return (
    `These credentials belong to another account (${others}). The channel that is being reconnected is ${wanted}. ` +
    `Use the credentials of ${wanted}, or ask for a new link that reconnects no channel. It connects the other account as a new channel.`
  );
}

function noneUsable(found: Found): string {
  const reasons = toChannels(found)
    .slice(0, 5)
    .map(({ name, problem }) => `${quote(name)}: ${problem ?? ""}`);
  return reasons.length === 0
    ? "There is no channel that could be connected: this account has none."
    : `There is no channel that could be connected. ${reasons.join(" ")}`;
}

/**
 * The channels of these keys among those that are offered. Throws `invalid` that begins with `target: ` for
 * none, unknown and unusable ones.
 */
export function pickChannels(
  target: ConnectTarget,
  found: Found,
  keys: readonly string[],
): readonly Target[] {
  const wanted = new Set(keys);
  if (wanted.size === 0) throw new AppError("invalid", "target: choose at least one channel.");
  const channels = offeredChannels(target, found);
  const known = new Set(channels.map(({ key }) => key));
  if ([...wanted].some((key) => !known.has(key)))
    throw new AppError("invalid", "target: one of those chosen is not on the list. Choose from it.");
  const barred = channels.find(({ key, problem }) => wanted.has(key) && problem !== null);
  if (barred !== undefined)
    throw new AppError("invalid", `target: ${quote(barred.name)} cannot be chosen. ${barred.problem}`);
  const all = toChannels(found);
  return found.targets.filter((_target, at) => wanted.has(all[at]?.key ?? ""));
}

/** Whether a channel that was found is the one of this row. */
export function isSameChannel(
  row: Pick<AccountRow, "platform_account_id" | "id_server">,
  { platformAccountId, idServer = "" }: Target,
): boolean {
  return row.platform_account_id === platformAccountId && row.id_server === idServer;
}
