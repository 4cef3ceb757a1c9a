import { describe, expect, it } from "vitest";
import { findChannel, sayChannels } from "../../src/accounts/accounts.ts";
import type { Account } from "../../src/domain/accounts/account.ts";

const CAPABILITIES = {} as Account["capabilities"];

function account(id: string, provider: string, name: string, handle: string | null): Account {
  return {
    id,
    provider,
    name,
    handle,
    platformAccountId: null,
    profileUrl: null,
    avatarUrl: null,
    status: "connected",
    statusReason: null,
    tokenExpiresAt: null,
    scopes: [],
    schedule: null,
    utm: null,
    capabilities: CAPABILITIES,
    queuedCount: 0,
    lastPublishedAt: null,
    createdAt: "2026-11-22T09:00:00.000Z",
    updatedAt: "2026-11-22T09:00:00.000Z",
  };
}

const ACCOUNTS = [
  account("acc_1", "feed", "News", null),
  account("acc_2", "bluesky", "Alice", "alice.example"),
  account("acc_3", "mastodon", "Alice M", "@alice@social.example"),
  account("acc_4", "mastodon", "feed", "@bob@social.example"),
  { ...account("acc_5", "telegram", "Gone", null), status: "disconnected" as const },
];

describe("the channel that somebody means", () => {
  it.each([
    ["acc_3", "acc_3"],
    ["news", "acc_1"],
    [" ALICE ", "acc_2"],
    ["@alice.example", "acc_2"],
    ["alice@social.example", "acc_3"],
    ["bluesky", "acc_2"],
    // A name goes before a platform's.
    ["feed", "acc_4"],
  ])("%j is %s", (wanted, id) => {
    expect(findChannel(ACCOUNTS, wanted, "--on").id).toBe(id);
  });

  it.each([
    [
      "mastodon",
      '--on: "mastodon" may be any of "Alice M" (mastodon, @alice@social.example, acc_3), "feed" (mastodon, @bob@social.example, acc_4). Give the id of the one you mean.',
    ],
    ["ali", /^--on: there is no channel "ali". The channels are "News" \(feed, acc_1\), "Alice" /],
    ["Gone", /^--on: there is no channel "Gone"/],
    ["acc_5", /^--on: there is no channel "acc_5"/],
    ["", /^--on: there is no channel ""/],
  ])("%j is none for certain", (wanted, sentence) => {
    expect(() => findChannel(ACCOUNTS, wanted, "--on")).toThrow(sentence);
  });

  it("is to be connected first where there is none, and not all of many are named", () => {
    expect(sayChannels([])).toBe("No channel is connected yet. Connect one first.");
    const many = Array.from({ length: 30 }, (_, at) => account(`acc_${at}`, "feed", `Feed ${at}`, null));
    expect(sayChannels(many)).toMatch(/"Feed 9" \(feed, acc_9\) and 20 more\. Give/);
  });
});
