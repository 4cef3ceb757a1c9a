import { describe, expect, it } from "vitest";
import { noteTitle } from "../../../src/domain/accounts/platform-titles.ts";
import {
  besidePlatform,
  channelInFull,
  nameChannels,
  shortNames,
} from "../../../src/domain/accounts/channel-names.ts";

const titleOf = (provider: string): string => provider.toUpperCase();
const channel = (id: string, provider: string, name: string, handle: string | null = null) => ({
  id: `acc_${id}`,
  provider,
  name,
  handle,
});

describe("what a channel is called", () => {
  it.each([
    [[channel("000001", "feed", "Blog")], ["Blog"]],
    [
      [channel("000001", "feed", "Blog"), channel("000002", "x", "blog ")],
      ["Blog on FEED", "blog  on X"],
    ],
    [
      [
        channel("000001", "x", "Blog", "@a"),
        channel("000002", "x", "Blog", "@b"),
        channel("000003", "feed", "Blog"),
      ],
      ["Blog on X (@a)", "Blog on X (@b)", "Blog on FEED"],
    ],
    [
      [
        channel("000001", "x", "Blog"),
        channel("000002", "x", "Blog", ""),
        channel("000003", "x", "Blog", "@b"),
      ],
      ["Blog on X (000001)", "Blog on X (000002)", "Blog on X (@b)"],
    ],
    [
      [channel("000001", "x", "Blog", "@a"), channel("000002", "x", "Blog", "@a")],
      ["Blog on X (000001)", "Blog on X (000002)"],
    ],
    [[], []],
  ])("%#", (channels, names) => {
    expect([...nameChannels(channels, titleOf).values()]).toEqual(names);
  });

  it.each([
    [[channel("000001", "x", "Blog", "@a")], ["Blog"]],
    [
      [channel("000001", "x", "Blog", "@a"), channel("000002", "x", "News", "@b")],
      ["Blog", "News"],
    ],
    [
      [channel("000001", "x", "Blog", "@a"), channel("000002", "x", "Blog", "@b")],
      ["a", "b"],
    ],
    [
      [channel("000001", "m", "Blog", "a@one.example"), channel("000002", "m", "blog", "b@one.example")],
      ["a", "b"],
    ],
    [
      [channel("000001", "m", "Blog", "a@one.example"), channel("000002", "m", "Blog", "a@two.example")],
      ["one.example", "two.example"],
    ],
    [
      [
        channel("000001", "m", "Blog", "a@one.example"),
        channel("000002", "m", "Blog", "a@two.example"),
        channel("000003", "m", "Blog", "b@two.example"),
      ],
      ["a@one.example", "a@two.example", "b@two.example"],
    ],
    [
      [channel("000001", "x", "Blog"), channel("000002", "x", "Blog")],
      ["000001", "000002"],
    ],
    [
      [channel("000001", "x", "Blog on X (old)"), channel("000002", "feed", "Blog")],
      ["Blog on X (old)", "Blog"],
    ],
  ])("%#: in a word beside its platform", (channels, names) => {
    const titles = channels.map(({ provider }) => titleOf(provider));
    expect([...shortNames(nameChannels(channels, titleOf), titles).values()]).toEqual(names);
  });

  it("has its platform beside it once", () => {
    expect(besidePlatform("Blog", "Feed")).toBe("Blog (Feed)");
    expect(besidePlatform("Blog on Feed", "Feed")).toBe("Blog on Feed");
  });

  it("is whole where nobody looks at the others", () => {
    for (const title of ["Mastodon", "Feed", "X"]) noteTitle(title.toLowerCase(), title);
    expect(channelInFull({ name: "Fjord", provider: "mastodon", handle: "@f" })).toBe(
      "the channel Fjord on Mastodon (@f)",
    );
    expect(channelInFull({ name: "Blog", provider: "feed", handle: null })).toBe("the channel Blog on Feed");
    expect(channelInFull({ name: "Blog", provider: "x", handle: "@a" })).toBe("the channel Blog on X (@a)");
    expect(channelInFull({ name: "a", provider: "x", handle: "@A" })).toBe("the channel a on X");
  });
});
