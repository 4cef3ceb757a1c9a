import { expect, it } from "vitest";
import { findPlatforms } from "../../../../apps/page/rooms/channels/find-platforms.ts";
import type { AnyPlatform } from "../../../../src/ports/platform.ts";
import { loadFolder } from "../../../../src/toolkit/load-folder.ts";

const platforms = (await loadFolder<AnyPlatform>(new URL("../../../../src/platforms/", import.meta.url))).map(
  ({ name, title, aliases }) => ({ provider: name, title, ...(aliases && { aliases: [...aliases] }) }),
);

it.each([
  ["mastadon", ["mastodon"]],
  ["discrod", ["discord"]],
  ["Instagramm", ["instagram"]],
  ["linkdin", ["linkedin"]],
  ["twiter", ["x"]],
  ["twitter", ["x"]],
  ["rss", ["feed"]],
  ["google my", ["google_business"]],
  ["meta", ["facebook", "instagram", "threads"]],
  ["nowhere at all", []],
])("a search for %s finds %j", (wanted, found) => {
  expect(
    findPlatforms(platforms, wanted)
      .map(({ provider }) => provider)
      .toSorted(),
  ).toEqual(found);
});
