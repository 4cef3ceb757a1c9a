interface Channel {
  readonly id: string;
  readonly provider: string;
  readonly lastPublishedAt: string | null;
}

interface Key {
  readonly name: string;
  readonly status: string;
  readonly lastUsedAt: string | null;
}

/** The channel that every installation has from its start. */
const FEED = "feed";

/** Made by the first start, for the person at the machine. */
const FIRST_KEY = "First key";

/** Where the first post goes; null: the feed was disconnected, or the key does not reach it. */
export function findFeed<T extends Channel>(channels: readonly T[]): T | null {
  return channels.find(({ provider }) => provider === FEED) ?? null;
}

/** Whether anything was posted or planned. `counts`: of posts by their state; null: not known yet. */
export function hasBegun(
  channels: readonly Pick<Channel, "lastPublishedAt">[],
  counts: Readonly<Record<string, number>> | null,
): boolean {
  return (
    channels.some(({ lastPublishedAt }) => lastPublishedAt !== null) ||
    Object.values(counts ?? {}).some((count) => count > 0)
  );
}

export function hasChannel(channels: readonly Channel[]): boolean {
  return channels.some(({ provider }) => provider !== FEED);
}

/** Whether a key was used that is not the person's own. */
export function hasAssistant(keys: readonly Key[], ownName: string): boolean {
  return keys.some(
    ({ name, status, lastUsedAt }) =>
      status === "active" && lastUsedAt !== null && name !== ownName && name !== FIRST_KEY,
  );
}
