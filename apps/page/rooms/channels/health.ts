import type { Account } from "../../../../src/domain/accounts/account.ts";
import { waitingPosts } from "../../../shared/texts.ts";

interface StateSign {
  /** A class of the design tokens. */
  readonly tint: string;
  readonly sign: string;
  readonly label: string;
}

type ChannelFacts = Pick<Account, "status" | "tokenExpiresAt" | "schedule" | "queuedCount">;

const DAY = 24 * 3_600_000;

export function isPaused({ schedule }: Pick<Account, "schedule">): boolean {
  return schedule?.paused === true;
}

export function needsPerson({ status }: Pick<Account, "status">): boolean {
  return status === "reconnect_required" || status === "expiring";
}

/** How a channel is, in words. A paused one may need a person, too. */
export function statesOf(account: ChannelFacts, now: number): readonly StateSign[] {
  const access = accessOf(account, now);
  const paused = { tint: "waiting", sign: "‖", label: "Paused" };
  if (!isPaused(account)) return [access];
  return account.status === "connected" ? [paused] : [access, paused];
}

function accessOf({ status, tokenExpiresAt }: ChannelFacts, now: number): StateSign {
  switch (status) {
    case "connected":
      return { tint: "published", sign: "✓", label: "Connected" };
    case "expiring":
      return { tint: "waiting", sign: "!", label: `Expires ${whenInWords(tokenExpiresAt, now)}` };
    case "reconnect_required":
      return { tint: "failed", sign: "!", label: "Must be reconnected" };
    case "disconnected":
      return { tint: "cancelled", sign: "×", label: "Disconnected" };
  }
}

function whenInWords(iso: string | null, now: number): string {
  if (iso === null) return "soon";
  const days = Math.floor((Date.parse(iso) - now) / DAY);
  return days < 1 ? "today" : days === 1 ? "in 1 day" : `in ${days} days`;
}

/** What a person can do about the state. Null: nothing has to be done. */
export function remedyOf(account: ChannelFacts): string | null {
  const { status, queuedCount } = account;
  const waiting = queuedCount === 0 ? "" : ` ${waitingPosts(queuedCount)} for it.`;
  switch (status) {
    case "connected":
      return isPaused(account) ? `Nothing goes out until it is resumed.${waiting}` : null;
    case "expiring":
      return "Only a person can renew this access. Reconnect the channel before it ends.";
    case "reconnect_required":
      return `Nothing goes out until it is reconnected.${waiting}`;
    case "disconnected":
      return `Its passwords and tokens are forgotten.${waiting} Reconnect it to go on where it was.`;
  }
}

/** Those that want a person stand first, those that are gone last, the rest by age. */
export function inOrder<T extends Pick<Account, "status">>(accounts: readonly T[]): readonly T[] {
  const rank = ({ status }: T): number =>
    ["reconnect_required", "expiring", "connected", "disconnected"].indexOf(status);
  return accounts.toSorted((a, b) => rank(a) - rank(b));
}
