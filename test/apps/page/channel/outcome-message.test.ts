import { describe, expect, it } from "vitest";
import { isHeld, outcomeMessage } from "../../../../apps/page/channel/outcome-message.ts";
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
const inPlan = { text: "Show in plan", href: "/app/plan?post=post_acc_1", isShown: expect.any(Function) };
const inTrouble = { text: "See problems", href: "/app/trouble", isShown: expect.any(Function) };

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
        text: "It did not go out on Fjord Bakery on Mastodon.",
        isBad: true,
        link: inTrouble,
      },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on Fjord Bakery on Bluesky. Live on Fjord Bakery on Mastodon.",
        isBad: true,
        link: inTrouble,
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon. Still on its way to Fjord Bakery on Bluesky.",
        isBad: true,
        link: inTrouble,
      },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "It waits. Still on its way to Fjord Bakery on Bluesky. Live on Fjord Bakery on Mastodon.",
        link: inPlan,
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on 2 channels.",
        isBad: true,
        link: inTrouble,
      },
    ],
    [
      [sent("acc_1", "scheduled", { error: "Mastodon takes no more posts from this channel for now." })],
      {
        text: "Mastodon takes no more posts from this channel for now. Still on its way to Fjord Bakery on Mastodon.",
        link: inPlan,
      },
    ],
  ])("%#", (posts, message) => {
    expect(outcomeMessage(posts, nameOf, () => false)).toEqual(message);
  });

  it("is what the room of problems shows already", () => {
    const { link } = outcomeMessage([sent("acc_1", "failed")], nameOf, (room) => room === "trouble");
    expect(link?.isShown?.()).toBe(true);
  });
});

it("says why what was sent again was refused again", () => {
  const again = (...posts: ReturnType<typeof sent>[]) =>
    outcomeMessage(posts, nameOf, () => false, true).text;
  const refused = { error: "Mastodon says: No." };
  expect(again(sent("acc_1", "failed", refused))).toBe("Refused again: Mastodon says: No.");
  expect(again(sent("acc_1", "failed", refused), sent("acc_1", "failed", refused))).toBe(
    "Refused again: Mastodon says: No.",
  );
  expect(again(sent("acc_1", "failed", refused), sent("acc_2", "published"))).toBe(
    "Refused again: Mastodon says: No. Live on Fjord Bakery on Bluesky.",
  );
  expect(again(sent("acc_1", "failed", refused), sent("acc_2", "failed", { error: "Too long." }))).toBe(
    "It did not go out on 2 channels.",
  );
  expect(again(sent("acc_1", "failed", { error: "outcome unknown: No answer." }))).toBe(
    "It did not go out on Fjord Bakery on Mastodon.",
  );
});

it("knows when the rest waits for something that can be told", () => {
  const held = sent("acc_1", "publishing", { error: "Mastodon asks to slow down." });
  expect(isHeld([held, sent("acc_2", "published")])).toBe(true);
  expect(isHeld([held, sent("acc_2", "publishing")])).toBe(false);
  expect(isHeld([sent("acc_2", "published")])).toBe(false);
});
