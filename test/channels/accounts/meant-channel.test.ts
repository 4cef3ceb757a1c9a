import { describe, expect, it } from "vitest";
import { findChannel, namesAmong, sayChannels } from "../../../src/channels/accounts/accounts.ts";
import type { AppContext } from "../../../src/context.ts";
import type { Account } from "../../../src/domain/accounts/account.ts";

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

const CTX = {
  platforms: new Map([["mastodon", { title: "Mastodon" }]]),
} as unknown as Pick<AppContext, "platforms">;

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
    [" NEWS ", "acc_1"],
    // What begins with an @ is a handle.
    ["@alice", "acc_3"],
    ["@alice.example", "acc_2"],
    ["alice@social.example", "acc_3"],
    ["bluesky", "acc_2"],
    ["alice on bluesky", "acc_2"],
    ["Alice M on Mastodon", "acc_3"],
    ["alice m on mastodon (@alice@social.example)", "acc_3"],
    // A name goes before a platform's.
    ["feed", "acc_4"],
    // The user in a handle is enough where no other channel has it.
    ["@bob", "acc_4"],
    // What is disconnected keeps its names, so that it can be reconnected by them.
    ["Gone", "acc_5"],
    ["telegram", "acc_5"],
    ["acc_5", "acc_5"],
  ])("%j is %s", (wanted, id) => {
    expect(findChannel(CTX, ACCOUNTS, { wanted, field: "--on" }).id).toBe(id);
  });

  it.each([
    [
      "mastodon",
      '--on: "mastodon" may be any of "Alice M" (mastodon, @alice@social.example, acc_3), "feed" (mastodon, @bob@social.example, acc_4). Give one of these names, or the id.',
    ],
    ["ali", /^--on: there is no channel "ali". The channels are "News" \(feed, acc_1\), "Alice on bluesky" /],
    // Its only right spelling would be refused, too.
    [
      "mastadon",
      /^--on: there is no channel "mastadon"\. Did you mean "Alice M" or "feed"\? The channels are /,
    ],
    ["blusky", /^--on: there is no channel "blusky"\. Did you mean "bluesky"\? The channels are /],
    ["", /^--on: there is no channel ""/],
    ["@news", /^--on: there is no channel "@news"\. Did you mean "News"\? The channels are "News" /],
    // The nearest stands first.
    ["@bbo", /^--on: there is no channel "@bbo"\. Did you mean "bob"\? The channels are "feed" /],
    // The name of one is the user in the handle of another.
    [
      "alice",
      '--on: "alice" may be any of "Alice on bluesky" (bluesky, alice.example, acc_2), "Alice M" (mastodon, @alice@social.example, acc_3). Give one of these names, or the id.',
    ],
  ])("%j is none for certain", (wanted, sentence) => {
    expect(() => findChannel(CTX, ACCOUNTS, { wanted, field: "--on" })).toThrow(sentence);
  });

  it("is to be connected first where there is none, and not all of many are named", () => {
    expect(sayChannels(CTX, [])).toBe("No channel is connected yet. Connect one first.");
    const many = Array.from({ length: 30 }, (_, at) => account(`acc_${at}`, "feed", `Feed ${at}`, null));
    expect(sayChannels(CTX, many)).toMatch(/"Feed 9" \(feed, acc_9\) and 20 more\. Give/);
  });
});

describe("a channel's name that is not quite right", () => {
  const shops = [
    account("acc_1", "feed", "The Bakery", null),
    account("acc_2", "feed", "Fjord Café", "@cafe@social.example"),
    account("acc_3", "feed", "Museum Berlin", null),
    account("acc_4", "feed", "Museum Bonn", null),
  ];
  const find = (wanted: string) => () => findChannel(CTX, shops, { wanted, field: "--on" });

  it.each([
    ["bakery", "The Bakery"],
    ["backery", "The Bakery"],
    ["the BACKERY", "The Bakery"],
    ["a bakery", "The Bakery"],
    ["the Fjord Café", "Fjord Café"],
    ["fjord", "Fjord Café"],
    ["berlin museum", "Museum Berlin"],
  ])("%j is asked about as %j", (wanted, near) => {
    expect(find(wanted)).toThrow(`there is no channel "${wanted}". Did you mean "${near}"?`);
  });

  it("is the one of that name in any case, and none where several have the word", () => {
    expect(find("the bakery")().id).toBe("acc_1");
    expect(find("museum")).toThrow(/there is no channel "museum"\. The channels are/);
  });
});

const FJORD = "Fjord Bakery";
const NAMESAKES = [
  account("acc_aaaaaa", "mastodon", FJORD, "@fjord@social.example"),
  account("acc_bbbbbb", "mastodon", FJORD, "@fjord@other.example"),
  account("acc_cccccc", "bluesky", FJORD, "fjord.example"),
  account("acc_dddddd", "telegram", FJORD, null),
  account("acc_eeeeee", "telegram", FJORD, null),
];

describe("channels of one name", () => {
  it("are refused with all of them, each by a name that means it alone", () => {
    let sentence = "";
    try {
      findChannel(CTX, NAMESAKES, { wanted: "fjord bakery", field: "accountId" });
    } catch (error) {
      sentence = String(error);
    }
    const named = [...sentence.matchAll(/"(Fjord Bakery on [^"]*)"/g)].map(([, name]) => name ?? "");
    expect(named).toEqual([
      "Fjord Bakery on Mastodon (@fjord@social.example)",
      "Fjord Bakery on Mastodon (@fjord@other.example)",
      "Fjord Bakery on bluesky",
      "Fjord Bakery on telegram (dddddd)",
      "Fjord Bakery on telegram (eeeeee)",
    ]);
    const meant = named.map((wanted) => findChannel(CTX, NAMESAKES, { wanted, field: "accountId" }).id);
    expect(meant).toEqual(NAMESAKES.map(({ id }) => id));
  });

  it("are all named, however many they are", () => {
    const many = Array.from({ length: 15 }, (_, at) => account(`acc_${at}`, "feed", "News", `@news${at}`));
    const find = () => findChannel(CTX, many, { wanted: "news", field: "accountId" });
    for (const { handle } of many) expect(find).toThrow(`"News on feed (${handle})"`);
  });

  it("are told from a channel whose own name is like theirs with the platform", () => {
    const all = [...NAMESAKES.slice(1), account("acc_ffffff", "feed", "Fjord Bakery on Mastodon", null)];
    const names = namesAmong(CTX, all);
    expect(new Set(names.values()).size).toBe(all.length);
    for (const [id, wanted] of names) expect(findChannel(CTX, all, { wanted, field: "to" }).id).toBe(id);
  });

  it.each([FJORD, "mastodon"])("are told apart where one of them is disconnected: %j", (wanted) => {
    const [gone, other] = NAMESAKES.slice(0, 2);
    const all = [{ ...gone!, status: "disconnected" as const }, other!];
    expect(() => findChannel(CTX, all, { wanted, field: "to" })).toThrow(
      `to: "${wanted}" may be any of "Fjord Bakery on Mastodon (@fjord@social.example)" (mastodon, acc_aaaaaa, disconnected), "Fjord Bakery on Mastodon (@fjord@other.example)" (mastodon, acc_bbbbbb). Give one of these names, or the id.`,
    );
  });

  it("are the only one without access where one is connected again", () => {
    const find = (all: readonly Account[]) => () =>
      findChannel(CTX, all, { wanted: FJORD, field: "accountId", isReconnected: true }).id;
    const cut = (status: Account["status"], at: number) => ({ ...NAMESAKES[at]!, status });
    expect(find([cut("disconnected", 0), cut("connected", 1)])()).toBe("acc_aaaaaa");
    expect(find([cut("connected", 0), cut("reconnect_required", 1)])()).toBe("acc_bbbbbb");
    expect(find([cut("disconnected", 0), cut("disconnected", 1)])).toThrow("may be any of");
    expect(find([cut("connected", 0), cut("connected", 1)])).toThrow("may be any of");
  });
});

describe("a channel that is named as another one is reached", () => {
  const shops = [
    account("acc_1", "feed", "bakery", null),
    account("acc_2", "mastodon", "Fjord Bakery", "bakery"),
    account("acc_3", "feed", "@inn", null),
  ];
  const find = (wanted: string, all = shops) => findChannel(CTX, all, { wanted, field: "to" }).id;

  it("is refused by that word, and meant by what each of them is called", () => {
    for (const word of ["bakery", "Bakery"])
      expect(() => find(word)).toThrow(
        `to: "${word}" may be any of "bakery on feed" (feed, acc_1), "Fjord Bakery" (mastodon, bakery, acc_2). Give one of these names, or the id.`,
      );
    const names = namesAmong(CTX, shops);
    for (const { id } of shops) expect(find(names.get(id) ?? "")).toBe(id);
  });

  it("is not meant by that handle", () => {
    expect(find("@bakery")).toBe("acc_2");
    expect(() => find("@bakery", shops.slice(0, 1))).toThrow('there is no channel "@bakery"');
    // A name of its own may begin with the sign.
    expect(find("@inn")).toBe("acc_3");
  });
});
