import { nearestName } from "../settings/nearest-name.ts";
import { titleOfPlatform } from "./platform-titles.ts";

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

const ARTICLE = /^(?:the|an?|der|die|das|el|la|le|les|los|las|il|lo) /;

function withoutArticle(text: string): string {
  return foldName(text).replaceAll(/\s+/g, " ").replace(ARTICLE, "");
}

/**
 * The one of these names that is probably meant, without regard to case, an article before it and slips of the hand;
 * else the only one that has all these words. Null: none, or several.
 */
export function nearestChannelName(given: string, names: readonly string[]): string | null {
  const word = withoutArticle(given);
  const plain = names.map(withoutArticle);
  const near = nearestName(word, plain);
  if (near !== null) return names[plain.indexOf(near)] ?? null;
  const words = word.split(" ");
  // "Fjord Bakery on Mastodon" has the words of "Fjord Bakery", which is the shorter one and comes first.
  const found = names.filter((_, at) => words.every((one) => plain[at]?.split(" ").includes(one)));
  const [first] = found;
  const isOne = first !== undefined && found.every((name) => foldName(name).startsWith(foldName(first)));
  return isOne ? first : null;
}

/** What a channel may be called, the shortest first. The last one fits no other. `title`: of its platform. */
export function namesFor({ id, name, handle }: NamedChannel, title: string): readonly string[] {
  const onPlatform = `${name} on ${title}`;
  const withHandle = handle === null || handle === "" ? [] : [`${onPlatform} (${handle})`];
  return [name, onPlatform, ...withHandle, `${onPlatform} (${id.slice(-ID_CHARS)})`];
}

/** Of `@fjord@social.example` it is `fjord`; null where a handle has no such part. */
export function userNameOf(handle: string | null): string | null {
  return /^@?([^@\s]+)@/.exec(handle ?? "")?.[1] ?? null;
}

/** What stands for a channel after an `@`, for comparing: its handle, and the user in it. */
function handlesOf({ handle }: Pick<NamedChannel, "handle">): readonly string[] {
  return [handle, userNameOf(handle)].flatMap((one) => (one === null || one === "" ? [] : foldName(one)));
}

/** Whether one of the two is named as the other one is named or has its handle. */
export function isMistakable(one: NamedChannel, other: NamedChannel): boolean {
  const [a, b] = [foldName(one.name), foldName(other.name)];
  return a === b || handlesOf(other).includes(a) || handlesOf(one).includes(b);
}

/**
 * What each of these channels is called to people and agents: its name, or the next longer form where another one is
 * called the same or has that handle: "Fjord Bakery on Mastodon", "Fjord Bakery on Mastodon (@fjord@mastodon.example)". Wants all
 * channels of an owner that the reader may see. `titleOf`: of a platform.
 */
export function nameChannels(
  channels: readonly NamedChannel[],
  titleOf: (provider: string) => string,
): ReadonlyMap<string, string> {
  const forms = channels.map((channel) => namesFor(channel, titleOf(channel.provider)));
  const lengths = forms.map(() => 0);
  const nameOf = (at: number): string => forms[at]?.[lengths[at] ?? 0] ?? "";
  const users = new Map<string, Set<number>>();
  for (const [at, channel] of channels.entries())
    for (const word of handlesOf(channel)) users.set(word, (users.get(word) ?? new Set()).add(at));
  const isHandleOfOther = (at: number): boolean =>
    [...(users.get(foldName(nameOf(at))) ?? [])].some((user) => user !== at);
  for (let isChanged = true; isChanged;) {
    const uses = new Map<string, number>();
    for (const at of forms.keys()) {
      const name = foldName(nameOf(at));
      uses.set(name, (uses.get(name) ?? 0) + 1);
    }
    const shared = [...forms.entries()].filter(
      ([at, { length }]) =>
        ((uses.get(foldName(nameOf(at))) ?? 0) > 1 || isHandleOfOther(at)) && (lengths[at] ?? 0) < length - 1,
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

/**
 * What tells each of these channels from the others where its platform is beside it: its name, or what differs in the
 * handles of those that share one: "fjord" and "bakery", or "one.example" and "other.example". `names`: as
 * `nameChannels` gives them, by ids. `titles`: of their platforms.
 */
export function shortNames(
  names: ReadonlyMap<string, string>,
  titles: readonly string[],
): ReadonlyMap<string, string> {
  const parts = [...names].map(([id, called]) => ({ id, called, ...splitName(called, titles) }));
  return new Map(
    parts.map(({ id, called, name, title, handle }) => {
      if (handle === null) return [id, name];
      const alike = parts.filter((one) => one.title === title && foldName(one.name) === foldName(name));
      const handles = alike.flatMap((one) => one.handle ?? []);
      // A name of its own may look like one with a handle.
      return [id, handles.length > 1 ? differenceIn(handle, handles) : called];
    }),
  );
}

function splitName(
  called: string,
  titles: readonly string[],
): { readonly name: string; readonly title: string; readonly handle: string | null } {
  for (const title of titles) {
    const at = called.lastIndexOf(` on ${title}`);
    const rest = called.slice(at + ` on ${title}`.length);
    const [, handle = null] = /^ \((.+)\)$/.exec(rest) ?? [];
    if (at > 0 && (rest === "" || handle !== null)) return { name: called.slice(0, at), title, handle };
  }
  return { name: called, title: "", handle: null };
}

/** Of `user@server` the part that no other one has. */
function differenceIn(handle: string, handles: readonly string[]): string {
  const partsOf = (one: string): readonly string[] => foldName(one).split("@");
  for (const at of partsOf(handle).keys()) {
    if (new Set(handles.map((one) => partsOf(one)[at] ?? "")).size === handles.length)
      return partsOf(handle)[at] ?? handle;
  }
  return handle;
}

/**
 * A channel in a sentence about it alone, where the others are not looked at: the form of `namesFor` that no other one
 * is called by.
 */
export function channelInFull(channel: Omit<NamedChannel, "id">): string {
  return `the channel ${nameInFull(channel)}`;
}

/** The name with the platform, and the handle where it says more. */
export function nameInFull({ name, provider, handle }: Omit<NamedChannel, "id">): string {
  return `${name} on ${titleOfPlatform(provider)}${alsoCalled({ name, handle })}`;
}

function alsoCalled({ name, handle }: Pick<NamedChannel, "name" | "handle">): string {
  return handle === null || handle === "" || foldName(handle) === foldName(name) ? "" : ` (${handle})`;
}
