import { describe, expect, it } from "vitest";
import { isHeld, outcomeMessage } from "../../../../apps/page/channel/outcome-message.ts";
import { keepBehind } from "../../../../apps/shared/sentences.ts";
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
const live = (accountId: string) =>
  sent(accountId, "published", { platformUrl: `https://social.example/${accountId}` });
const linkTo = (accountId: string, text: string) => ({
  text,
  href: `https://social.example/${accountId}`,
  isOutside: true,
});

describe("what is said of posts that were sent at once", () => {
  it.each([
    [[live("acc_1")], { text: "Live on Fjord Bakery on Mastodon.", links: [linkTo("acc_1", "See it ↗")] }],
    [
      [sent("acc_1", "published", { platformUrl: "javascript:alert(1)" })],
      { text: "Live on Fjord Bakery on Mastodon.", links: [inPlan] },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "published")],
      { text: "Live on Fjord Bakery on Mastodon and Fjord Bakery on Bluesky.", links: [inPlan] },
    ],
    [
      [live("acc_1"), live("acc_2")],
      {
        text: "Live on Fjord Bakery on Mastodon and Fjord Bakery on Bluesky.",
        links: [linkTo("acc_1", "Fjord Bakery on Mastodon ↗"), linkTo("acc_2", "Fjord Bakery on Bluesky ↗")],
      },
    ],
    [
      ["acc_1", "acc_2", "acc_3", "acc_4"].map((id) => sent(id, "published")),
      { text: "Live on 4 channels.", links: [inPlan] },
    ],
    [
      [sent("acc_1", "failed", { error: "Mastodon says: “Text is too long”." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon. Mastodon says: “Text is too long”.",
        isBad: true,
        links: [inTrouble],
      },
    ],
    [
      [live("acc_1"), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on Fjord Bakery on Bluesky. No. Live on Fjord Bakery on Mastodon.",
        isBad: true,
        links: [inTrouble, linkTo("acc_1", "Fjord Bakery on Mastodon ↗")],
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon. No. Still on its way to Fjord Bakery on Bluesky.",
        isBad: true,
        links: [inTrouble],
      },
    ],
    [
      [sent("acc_1", "published"), sent("acc_2", "scheduled", { error: "It waits." })],
      {
        text: "It waits. Still on its way to Fjord Bakery on Bluesky. Live on Fjord Bakery on Mastodon.",
        links: [inPlan],
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "failed", { error: "No." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon and Fjord Bakery on Bluesky. No.",
        isBad: true,
        links: [inTrouble],
      },
    ],
    [
      [sent("acc_1", "failed", { error: "No." }), sent("acc_2", "failed", { error: "Never." })],
      {
        text: "It did not go out on Fjord Bakery on Mastodon. No. It did not go out on Fjord Bakery on Bluesky. Never.",
        isBad: true,
        links: [inTrouble],
      },
    ],
    [
      [sent("acc_1", "failed", { error: "outcome unknown: the connection broke." })],
      {
        text: "It is not known whether it went out on Fjord Bakery on Mastodon. The connection broke.",
        isBad: true,
        links: [inTrouble],
      },
    ],
    [
      [sent("acc_1", "cancelled"), live("acc_2")],
      {
        text: "Live on Fjord Bakery on Bluesky. Cancelled on Fjord Bakery on Mastodon.",
        links: [linkTo("acc_2", "Fjord Bakery on Bluesky ↗")],
      },
    ],
    [
      [sent("acc_1", "scheduled", { error: "Mastodon takes no more posts from this channel for now." })],
      {
        text: "Mastodon takes no more posts from this channel for now. Still on its way to Fjord Bakery on Mastodon.",
        links: [inPlan],
      },
    ],
  ])("%#", (posts, message) => {
    expect(outcomeMessage(posts, nameOf, () => false)).toEqual(message);
  });

  it("says a reason without what to do about it, in two lines", () => {
    const failed = sent("acc_1", "failed", { error: "words of the face" });
    keepBehind(failed, "error", [
      { field: null, what: `Mastodon says: “${"long ".repeat(80)}”.`, next: [{ do: "edit", postId: null }] },
    ]);
    const { text } = outcomeMessage([failed], nameOf, () => false);
    expect(text).toMatch(/^It did not go out on Fjord Bakery on Mastodon\. Mastodon says: “long .*long…$/);
    expect(text.length).toBeLessThan(220);
  });

  it("is what the room of problems shows already", () => {
    const { links } = outcomeMessage([sent("acc_1", "failed")], nameOf, (room) => room === "trouble");
    expect(links?.[0]?.isShown?.()).toBe(true);
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
    "It did not go out on Fjord Bakery on Mastodon. Mastodon says: No. It did not go out on Fjord Bakery on Bluesky. Too long.",
  );
  expect(again(sent("acc_1", "failed", { error: "outcome unknown: No answer." }))).toBe(
    "It is not known whether it went out on Fjord Bakery on Mastodon. No answer.",
  );
});

it("ends what a platform says before it goes on", () => {
  const refused = sent("acc_1", "failed", { error: 'Mastodon says: "Text contains a banned word"' });
  const slow = sent("acc_1", "scheduled", { error: 'Mastodon says: "Slow down"' });
  const saidOf = (...posts: ReturnType<typeof sent>[]) => outcomeMessage(posts, nameOf, () => false).text;
  expect(saidOf(refused, live("acc_2"))).toContain('a banned word". Live on Fjord Bakery on Bluesky.');
  expect(saidOf(slow, live("acc_2"))).toContain('"Slow down". Still on its way');
});

it("knows when the rest waits for something that can be told", () => {
  const held = sent("acc_1", "publishing", { error: "Mastodon asks to slow down." });
  expect(isHeld([held, sent("acc_2", "published")])).toBe(true);
  expect(isHeld([held, sent("acc_2", "publishing")])).toBe(false);
  expect(isHeld([sent("acc_2", "published")])).toBe(false);
});
