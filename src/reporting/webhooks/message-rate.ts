import { MINUTE } from "../../domain/time.ts";
import type { DeliveryRow, WebhookRow } from "../../store/queries/webhooks.ts";

/** People are told of an account at most this often by one webhook. */
const TOLD_EVERY_MS = MINUTE;

/** When people were last told, in milliseconds, by account. */
export type MessageTimes = Readonly<Record<string, number>>;

export function readTold({ last_told }: Pick<WebhookRow, "last_told">): MessageTimes {
  return JSON.parse(last_told) as MessageTimes;
}

/** With what has just been told; what says nothing any more is left out. */
export function toldAfter(told: MessageTimes, message: readonly DeliveryRow[], now: number): MessageTimes {
  const recent = Object.entries(told).filter(([, at]) => isRecent(at, now));
  const fresh = message.flatMap(accountsOf).map((account) => [account, now] as const);
  return Object.fromEntries([...recent, ...fresh]);
}

/** A time to come is none: the clock was put back meanwhile. */
function isRecent(at: number, now: number): boolean {
  return at <= now && now - at < TOLD_EVERY_MS;
}

interface Group {
  readonly accounts: ReadonlySet<string>;
  readonly deliveries: readonly DeliveryRow[];
}

/**
 * Of the events that are due, those of the next message, and when the others may go at the earliest. Events that have
 * an account in common are one message; it waits until a minute after the last one of any of its accounts.
 */
export function chooseMessage(
  due: readonly DeliveryRow[],
  told: MessageTimes,
  now: number,
): {
  readonly message: DeliveryRow[];
  readonly later: readonly { readonly seqs: readonly number[]; readonly until: number }[];
} {
  const groups = groupByAccount(due).map(({ accounts, deliveries }) => {
    const times = [...accounts]
      .map((account) => told[account] ?? -Infinity)
      .filter((at) => isRecent(at, now));
    return { deliveries, until: Math.max(...times) + TOLD_EVERY_MS };
  });
  const message = groups.find(({ until }) => until <= now)?.deliveries ?? [];
  const later = groups
    .filter(({ until }) => until > now)
    .map(({ deliveries, until }) => ({ seqs: deliveries.map(({ seq }) => seq), until }));
  return { message: [...message], later };
}

function groupByAccount(due: readonly DeliveryRow[]): readonly Group[] {
  return due.reduce<readonly Group[]>((groups, delivery) => {
    const accounts = accountsOf(delivery);
    const isShared = (group: Group): boolean => accounts.some((account) => group.accounts.has(account));
    const shared = groups.filter(isShared);
    const merged = {
      accounts: new Set([...shared.flatMap((group) => [...group.accounts]), ...accounts]),
      deliveries: [...shared.flatMap((group) => group.deliveries), delivery],
    };
    const first = groups.findIndex(isShared);
    const others = groups
      .map((group, at) => (at === first ? merged : group))
      .filter((group) => !shared.includes(group));
    return first < 0 ? [...others, merged] : others;
  }, []);
}

/** The accounts that an event is about; what is about none counts by its kind. */
function accountsOf({ event, snapshot }: DeliveryRow): readonly string[] {
  const told = JSON.parse(snapshot) as Readonly<Record<string, unknown>>;
  const ids = event.startsWith("post.")
    ? [told["account_id"]]
    : event.startsWith("account.")
      ? [told["id"]]
      : told["accountIds"];
  const known = Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  return known.length === 0 ? [event] : known;
}
