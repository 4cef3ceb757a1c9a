import { describe, expect, it } from "vitest";
import { isHeld, outcomeMessage } from "../../../../apps/page/post/outcome-message.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";

const NAMES: Readonly<Record<string, string>> = {
  acc_1: "Fjord Bakery on Mastodon",
  acc_2: "Fjord Bakery on Bluesky",
};
const nameOf = (id: string): string => NAMES[id] ?? id;

const sent = (accountId: string, status: Post["status"], more: Partial<Post> = {}) => ({
  id: `post_${accountId}`,
  accountId,
  status,
  scheduledAt: "2026-11-21T09:00:00.000Z",
  platformUrl: null,
  error: null,
  ...more,
});
const isPlanShown = (): boolean => false;
const inPlan = { text: "Show in plan", href: "/app/plan?post=post_acc_1", isShown: isPlanShown };

describe("what is said of posts that were sent at once", () => {
  it.each([
    [
      [sent("acc_1", "published", { platformUrl: "https://social.example/1" })],
      {
        text: "Live on Fjord Bakery on Mastodon.",
        link: { text: "See it ↗", href: "https://social.example/1", isOutside: true },
      },
    ],
    [
      [sent("acc_1", "published", { platformUrl: "javascript:alert(1)" })],
      { text: "Live on Fjord Bakery on Mastodon.", link: inPlan },
    ],
    [[sent("acc_1", "published"), sent("acc_2", "published")], { text: "Live on 2 channels.", link: inPlan }],
    [
      [sent("acc_1", "failed", { error: "Too long. Shorten it, then send it again." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon. Too long. Shorten it, then send it again.",
        isBad: true,
        link: { text: "Mend", href: "/app/plan?post=post_acc_1" },
      },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on 1 of 2 channels. Fjord Bakery on Bluesky: No. Live on Fjord Bakery on Mastodon.",
        isBad: true,
        link: { text: "Mend", href: "/app/plan?post=post_acc_2" },
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "It did not go out on 1 of 2 channels. Fjord Bakery on Mastodon: No. Still on its way to Fjord Bakery on Bluesky. It waits.",
        isBad: true,
        link: { text: "Mend", href: "/app/plan?post=post_acc_1" },
      },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "Still on its way to Fjord Bakery on Bluesky. It waits. Live on Fjord Bakery on Mastodon.",
        link: inPlan,
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on 2 of 2 channels. Fjord Bakery on Mastodon: No.",
        isBad: true,
        link: { text: "Mend", href: "/app/trouble" },
      },
    ],
    [
      [sent("acc_1", "scheduled", { error: "Mastodon takes no more posts from this channel for now." })],
      {
        text: "Still on its way to Fjord Bakery on Mastodon. Mastodon takes no more posts from this channel for now.",
        link: inPlan,
      },
    ],
  ])("%#", (posts, message) => {
    expect(outcomeMessage(posts, nameOf, isPlanShown)).toEqual(message);
  });
});

it("knows when the rest waits for something that can be told", () => {
  const held = sent("acc_1", "publishing", { error: "Mastodon asks to slow down." });
  expect(isHeld([held, sent("acc_2", "published")])).toBe(true);
  expect(isHeld([held, sent("acc_2", "publishing")])).toBe(false);
  expect(isHeld([sent("acc_2", "published")])).toBe(false);
});
