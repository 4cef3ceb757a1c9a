import { describe, expect, it } from "vitest";
import { besidePause, isUnknown, mediaOf, threadOf } from "../../../../apps/page/post/post-facts.ts";
import { isPaused } from "../../../../src/domain/accounts/account.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";

const post = (changes: Partial<Post>): Post => ({
  id: "post_1",
  accountId: "acc_1",
  provider: "feed",
  mediaUrl: "",
  scheduledAt: "2026-11-24T08:00:00.000Z",
  status: "scheduled",
  caption: null,
  metadata: null,
  leadMinutes: null,
  platformPostId: null,
  platformUrl: null,
  error: null,
  attempts: 0,
  publishedAt: null,
  createdAt: "2026-11-01T08:00:00.000Z",
  updatedAt: "2026-11-01T08:00:00.000Z",
  ...changes,
});

describe("what a post shows", () => {
  it("has all its media with what can be seen on them, and its thread", () => {
    const metadata = {
      altText: "A mountain",
      moreMedia: [{ url: "https://a.example/2.jpg", altText: "A hut" }, { url: "" }],
      thread: [{ caption: "And on" }],
    };
    const shown = post({ mediaUrl: "https://a.example/1.jpg", metadata });
    expect(mediaOf(shown)).toEqual([
      { url: "https://a.example/1.jpg", alt: "A mountain" },
      { url: "https://a.example/2.jpg", alt: "A hut" },
    ]);
    expect(threadOf(shown)).toEqual(["And on"]);
    expect(mediaOf(post({}))).toEqual([]);
    expect(threadOf(post({ metadata: { thread: "odd" } }))).toEqual([]);
  });

  it("is unknown only where a failed post says so", () => {
    expect(isUnknown(post({ status: "failed", error: "outcome unknown: no answer." }))).toBe(true);
    expect(isUnknown(post({ status: "failed", error: "Too long." }))).toBe(false);
    expect(isUnknown(post({ status: "scheduled", error: "outcome unknown: no answer." }))).toBe(false);
  });
});

it("says that a channel is paused in one place", () => {
  const paused = isPaused({ name: "Fjord. Bakery", provider: "mastodon", handle: "fjord@alpine.example" });
  expect(besidePause(paused)).toBe("");
  expect(besidePause(`${paused} A post may go out up to 1 hour late.`)).toBe(
    "A post may go out up to 1 hour late.",
  );
  expect(besidePause("The text is too long.")).toBe("The text is too long.");
});
