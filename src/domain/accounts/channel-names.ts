/** What a channel is told from others by. */
export interface NamedChannel {
  readonly id: string;
  /** The platform's own name, such as `mastodon`. */
  readonly provider: string;
  readonly name: string;
  readonly handle: string | null;
}

/** As many of an id's last characters as tell it from others in practice. */
const ID_CHARS = 6;

/** For comparing names: without regard to case. People write handles with or without their sign. */
export function foldName(text: string): string {
  return text.trim().replace(/^@/, "").normalize("NFKC").toLowerCase();
}

/** What a channel may be called, the shortest first. The last one fits no other. `title`: of its platform. */
export function namesFor({ id, name, handle }: NamedChannel, title: string): readonly string[] {
  const onPlatform = `${name} on ${title}`;
  const withHandle = handle === null || handle === "" ? [] : [`${onPlatform} (${handle})`];
  return [name, onPlatform, ...withHandle, `${onPlatform} (${id.slice(-ID_CHARS)})`];
}

/**
 * What each of these channels is called to people and agents: its name, or the next longer form where another one is
 * called the same: "Fjord Bakery on Mastodon", "Fjord Bakery on Mastodon (@fjord@mastodon.example)". Wants all
 * channels of an owner that the reader may see. `titleOf`: of a platform.
 */
export function nameChannels(
  channels: readonly NamedChannel[],
  titleOf: (provider: string) => string,
): ReadonlyMap<string, string> {
  const forms = channels.map((channel) => namesFor(channel, titleOf(channel.provider)));
  const lengths = forms.map(() => 0);
  const nameOf = (at: number): string => forms[at]?.[lengths[at] ?? 0] ?? "";
  for (let isChanged = true; isChanged;) {
    const uses = new Map<string, number>();
    for (const at of forms.keys()) {
      const name = foldName(nameOf(at));
      uses.set(name, (uses.get(name) ?? 0) + 1);
    }
    const shared = [...forms.entries()].filter(
      ([at, { length }]) => (uses.get(foldName(nameOf(at))) ?? 0) > 1 && (lengths[at] ?? 0) < length - 1,
    );
    for (const [at] of shared) lengths[at] = (lengths[at] ?? 0) + 1;
    isChanged = shared.length > 0;
  }
  return new Map(channels.map(({ id }, at) => [id, nameOf(at)]));
}

/** What a channel is called, and beside it its platform where that name does not tell it: "Blog (Mastodon)". */
export function besidePlatform(called: string, title: string): string {
  return called.includes(` on ${title}`) ? called : `${called} (${title})`;
}

/** A channel in a sentence about it alone, where the others are not looked at: no other one is called so. */
export function channelInFull({ name, provider, handle }: Omit<NamedChannel, "id">): string {
  const also = handle === null || handle === "" || foldName(handle) === foldName(name) ? "" : ` (${handle})`;
  return `the channel "${name}" on ${provider}${also}`;
}
