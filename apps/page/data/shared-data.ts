import { computed, signal } from "@preact/signals";
import type { Account } from "../../../src/domain/accounts/account.ts";
import { besidePlatform, nameChannels, shortNames } from "../../../src/domain/accounts/channel-names.ts";
import type { PlatformListing } from "../../../src/domain/accounts/platform-listing.ts";
import type { Status } from "../../../src/domain/health/status.ts";
import { inOrder } from "../../shared/in-order.ts";
import { offline } from "../../shared/reach.ts";
import { onUnreached } from "./wire.ts";
import { session } from "./session.ts";
import { call } from "./tools.ts";
import { sentenceOf } from "../../shared/texts.ts";

/* What several rooms need: loaded once, kept up to date while the page is seen. */

/** Null until they were loaded. */
export const accounts = signal<readonly Account[] | null>(null);
export const platforms = signal<readonly PlatformListing[] | null>(null);
export const status = signal<Status | null>(null);
/** Drafts that wait for a decision. */
export const waitingDrafts = signal(0);
/** Rises when a post was changed beside the room that is shown. */
export const postChanges = signal(0);

/** What wants a person, for the badge at Trouble. */
export const troubleCount = computed(() => {
  const now = status.value;
  if (now === null) return 0;
  const { failed, unknownOutcome, scheduled, overdue } = now.counts;
  const isStopped = !now.publisher.running && scheduled + overdue > 0;
  const paused = now.accountsPaused.filter(({ queuedCount }) => queuedCount > 0);
  return (
    Math.max(failed, unknownOutcome) +
    now.accountsToReconnect.length +
    paused.length +
    now.setupProblems.length +
    (isStopped ? 1 : 0)
  );
});

const accountsById = computed(() => new Map((accounts.value ?? []).map((one) => [one.id, one])));
const platformsByName = computed(() => new Map((platforms.value ?? []).map((one) => [one.provider, one])));

export function findAccount(id: string): Account | null {
  return accountsById.value.get(id) ?? null;
}

/** What the platform is called by people. */
export function platformTitle(provider: string): string {
  return platformsByName.value.get(provider)?.title ?? provider;
}

const namesById = computed(() => nameChannels(accounts.value ?? [], platformTitle));

/** What the channel is called, with its platform where another one is called the same. */
export function channelName(accountId: string): string {
  return namesById.value.get(accountId) ?? "A channel that is gone";
}

/** What it is called, with its platform in any case. */
export function nameOnPlatform(accountId: string): string {
  const { provider } = findAccount(accountId) ?? {};
  const called = channelName(accountId);
  return provider === undefined ? called : besidePlatform(called, platformTitle(provider));
}

const shortNamesById = computed(() =>
  shortNames(namesById.value, (platforms.value ?? []).map(({ title }) => title)),
);

/** What tells the channel from others of its platform, in a word or two. Null: it is the only one. */
export function shortName(accountId: string): string | null {
  const provider = findAccount(accountId)?.provider;
  const alike = accounts.value?.filter((one) => one.provider === provider) ?? [];
  return alike.length < 2 ? null : (shortNamesById.value.get(accountId) ?? null);
}

/** Whether nothing goes out on it until it is resumed. */
export function isPaused(accountId: string): boolean {
  // This is looked at more often than the channels are.
  const paused = status.value?.accountsPaused.some(({ id }) => id === accountId);
  return paused ?? findAccount(accountId)?.schedule?.paused === true;
}

export async function loadAccounts(): Promise<void> {
  accounts.value = (await call("list_accounts")).accounts;
}

export async function loadPlatforms(): Promise<void> {
  platforms.value = (await call("list_platforms")).platforms;
}

const loadCounts = inOrder(
  async () => {
    const drafts = call("list_drafts", { state: ["waiting"], limit: 100 });
    // Where both fail, the first tells why.
    drafts.catch(() => {});
    return { counts: await call("get_status"), waiting: (await drafts).drafts.length };
  },
  ({ counts, waiting }) => {
    status.value = counts;
    waitingDrafts.value = waiting;
  },
);

export async function loadStatus(): Promise<void> {
  try {
    await loadCounts();
    offline.value = null;
  } catch (error) {
    offline.value = sentenceOf(error);
  }
}

const STATUS_EVERY_MS = 20_000;
const WHILE_OFFLINE_MS = 3_000;

/** Loads what every room needs and keeps the counts fresh. Answers what ends that. */
export function keepFresh(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let isLooking = false;
  const loadAll = (): Promise<unknown> =>
    Promise.all([loadStatus(), loadAccounts(), loadPlatforms()]).catch((error: unknown) => {
      offline.value = sentenceOf(error);
    });
  const refresh = async (isFirst: boolean): Promise<void> => {
    clearTimeout(timer);
    isLooking = true;
    const isMissing = isFirst || accounts.value === null || platforms.value === null;
    if (isFirst || (document.visibilityState === "visible" && session.value !== null))
      await (isMissing ? loadAll() : loadStatus());
    isLooking = false;
    wait(offline.value === null ? STATUS_EVERY_MS : WHILE_OFFLINE_MS);
  };
  const look = (): void => void refresh(false);
  const wait = (ms: number): void => {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(look, ms);
  };
  const unsubscribe = offline.subscribe((reason) => {
    if (reason !== null) wait(WHILE_OFFLINE_MS);
  });
  // One call without an answer: whether the server is out of reach is found out at once, and once.
  onUnreached(() => {
    if (offline.value === null && !isLooking) look();
  });
  void refresh(true);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", look);
  window.addEventListener("offline", look);
  return () => {
    isOver = true;
    unsubscribe();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
    window.removeEventListener("online", look);
    window.removeEventListener("offline", look);
    onUnreached(() => {});
  };
}
