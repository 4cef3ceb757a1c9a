/** By the platforms' own names. Each platform says its title once, where it is defined. */
const TITLES = new Map<string, string>();

export function noteTitle(provider: string, title: string): void {
  TITLES.set(provider, title);
}

/** What a platform is called to people: `Mastodon` for `mastodon`. Its own name where this version does not know it. */
export function titleOfPlatform(provider: string): string {
  return TITLES.get(provider) ?? provider;
}
