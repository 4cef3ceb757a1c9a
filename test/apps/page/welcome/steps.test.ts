import { expect, it } from "vitest";
import { findFeed, hasAssistant, hasChannel } from "../../../../apps/page/rooms/welcome/steps.ts";

const feed = { id: "acc_1", provider: "feed", lastPublishedAt: null };
const blog = { id: "acc_2", provider: "wordpress", lastPublishedAt: null };

it("a channel is one that the person connected", () => {
  expect(findFeed([blog, feed])).toBe(feed);
  expect(findFeed([blog])).toBeNull();
  expect(hasChannel([feed])).toBe(false);
  expect(hasChannel([feed, blog])).toBe(true);
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
