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

it("an assistant has a key that works and is not the person's own", () => {
  const keys = [
    { name: "First key", status: "active" },
    { name: "Mine", status: "active" },
    { name: "Cursor", status: "revoked" },
  ];
  expect(hasAssistant(keys, "Mine")).toBe(false);
  expect(hasAssistant([...keys, { name: "Codex", status: "active" }], "Mine")).toBe(true);
});
