import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { nearestName } from "../../../../src/domain/settings/nearest-name.ts";

type KnownBy = Pick<PlatformListing, "provider" | "title" | "aliases">;

/** Those that people mean by these words: by name, an older or a short one; where there is none, by the nearest name. */
export function findPlatforms<One extends KnownBy>(all: readonly One[], wanted: string): readonly One[] {
  const word = wanted.trim().toLowerCase();
  const found = all.filter((one) => word.split(/\s+/).every((part) => namesOf(one).join(" ").includes(part)));
  if (found.length > 0) return found;
  const near = nearestName(word, all.flatMap(namesOf));
  return near === null ? [] : all.filter((one) => namesOf(one).includes(near));
}

function namesOf({ provider, title, aliases = [] }: KnownBy): readonly string[] {
  return [provider, title, ...aliases].map((name) => name.toLowerCase());
}
