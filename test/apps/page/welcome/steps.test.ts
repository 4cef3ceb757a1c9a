import { expect, it } from "vitest";
import { findFeed, hasAssistant, hasBegun, hasChannel } from "../../../../apps/page/rooms/welcome/steps.ts";

const feed = { id: "acc_1", provider: "feed", lastPublishedAt: null };
const blog = { id: "acc_2", provider: "wordpress", lastPublishedAt: null };

it("a channel is one that the person connected", () => {
  expect(findFeed([blog, feed])).toBe(feed);
  expect(findFeed([blog])).toBeNull();
  expect(hasChannel([feed])).toBe(false);
  expect(hasChannel([feed, blog])).toBe(true);
});

it("something was posted where a channel published, or a post is there", () => {
  expect(hasBegun([feed, blog], null)).toBe(false);
  expect(hasBegun([feed, blog], { scheduled: 0, failed: 0 })).toBe(false);
  expect(hasBegun([feed, blog], { scheduled: 1, failed: 0 })).toBe(true);
  expect(hasBegun([{ ...feed, lastPublishedAt: "2026-11-21T09:00:00.000Z" }], null)).toBe(true);
});

it("an assistant came with a key that works and is not the person's own", () => {
  const key = (name: string, rest: object = {}) => ({
    name,
    status: "active",
    lastUsedAt: "2026-11-21T09:00:00.000Z",
    ...rest,
  });
  const keys = [
    key("First key"),
    key("Mine"),
    key("Cursor", { status: "revoked" }),
    key("VS Code", { lastUsedAt: null }),
  ];
  expect(hasAssistant(keys, "Mine")).toBe(false);
  expect(hasAssistant([...keys, key("Codex")], "Mine")).toBe(true);
});
