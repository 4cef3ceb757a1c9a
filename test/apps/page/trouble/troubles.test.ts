import { describe, expect, it } from "vitest";
import type { Status } from "../../../../src/domain/health/status.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { asKnown, groupTroubles, isCalm } from "../../../../apps/page/rooms/trouble/grouping.ts";
import { isUnknown, errorInWords, placeOutside } from "../../../../apps/page/rooms/trouble/error-words.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");

function status(more: Partial<Status> = {}, counts: Partial<Status["counts"]> = {}): Status {
  return {
    publisher: { running: true, heartbeatAt: null, workers: 1 },
    counts: {
      scheduled: 0,
      overdue: 0,
      publishing: 0,
      uploaded: 0,
      failed: 0,
      unknownOutcome: 0,
      draftsWaiting: 0,
      ...counts,
    },
    accountsToReconnect: [],
    accountsPaused: [],
    setupProblems: [],
    ...more,
  } as unknown as Status;
}

function post(id: string, more: Partial<Post> = {}): Post {
  const at = "2026-11-26T10:00:00.000Z";
  return {
    id,
    accountId: "acc_1",
    provider: "feed",
    error: "No.",
    scheduledAt: at,
    updatedAt: at,
    ...more,
  } as Post;
}

function channel(
  id: string,
  state: "expiring" | "reconnect_required",
): Status["accountsToReconnect"][number] {
  return { id, name: id, provider: "feed", status: state, reason: null, queuedCount: 0 };
}

describe("what needs a person", () => {
  it("is nothing where nothing is wrong", () => {
    expect(isCalm(groupTroubles(status(), [], NOW))).toBe(true);
    // A paused channel without posts is how somebody wants it.
    const paused = [{ id: "acc_1", name: "Feed", provider: "feed", queuedCount: 0 }];
    expect(isCalm(groupTroubles(status({ accountsPaused: paused }), [], NOW))).toBe(true);
  });

  it("is no late post that is tried again: those are listed apart, but for channels that wait for a person", () => {
    const again = "Feed did not answer. It is tried again on Thursday 26 November 2026, 12:05 (UTC).";
    const late = [
      post("post_1", { error: again, status: "scheduled" }),
      post("post_2", { error: null }),
      post("post_3", { accountId: "acc_lost", status: "scheduled" }),
      post("post_4", { accountId: "acc_paused", status: "scheduled" }),
      // Whether it went out is asked, whatever its channel is.
      post("post_5", { accountId: "acc_paused", status: "publishing" }),
    ];
    const calm = groupTroubles(status(), [], NOW, late.slice(0, 2));
    expect(isCalm(calm)).toBe(true);
    expect(calm.trying.map(({ id }) => id)).toEqual(["post_1"]);
    expect(errorInWords(again).sentence).toContain("It is tried again on Thursday");
    const held = status({
      accountsToReconnect: [channel("acc_lost", "reconnect_required")],
      accountsPaused: [{ id: "acc_paused", name: "Feed", provider: "feed", queuedCount: 1 }],
    });
    expect(groupTroubles(held, [], NOW, late).trying.map(({ id }) => id)).toEqual(["post_1", "post_5"]);
  });

  it("is a publisher where posts wait for one", () => {
    const publisher = { running: false, heartbeatAt: null, workers: 0 };
    expect(groupTroubles(status({ publisher }), [], NOW).stopped).toBe(null);
    expect(groupTroubles(status({ publisher }, { scheduled: 3, overdue: 1 }), [], NOW).stopped).toEqual({
      waiting: 3,
      overdue: 1,
    });
  });

  it("puts failed posts where their remedy is", () => {
    const posts = [
      post("unknown", { accountId: "acc_lost", error: "outcome unknown: It broke off." }),
      post("lost", { accountId: "acc_lost" }),
      post("one"),
      post("two", { accountId: "acc_2" }),
      post("other", { error: "Something else." }),
      post("old", { scheduledAt: "2026-11-01T10:00:00.000Z", updatedAt: "2026-11-01T10:00:00.000Z" }),
    ];
    const accountsToReconnect = [channel("acc_lost", "reconnect_required"), channel("acc_1", "expiring")];
    const { unknown, lost, failures, older, expiring } = groupTroubles(
      status({ accountsToReconnect }),
      posts,
      NOW,
    );
    expect(unknown.map(({ id }) => id)).toEqual(["unknown"]);
    expect(lost.map(({ account, failed }) => [account.id, failed.map(({ id }) => id)])).toEqual([
      ["acc_lost", ["lost"]],
    ]);
    expect(failures.map((one) => one.posts.map(({ id }) => id))).toEqual([["one", "two"], ["other"]]);
    expect(older.map((one) => one.posts.map(({ id }) => id))).toEqual([["old"]]);
    expect(expiring.map(({ account }) => account.id)).toEqual(["acc_1"]);
  });
});

describe("errors for people", () => {
  it("keeps a platform's own words apart", () => {
    expect(
      errorInWords(
        'The server refused the request. Change the post, then send it again. Mastodon says: "Validation failed: Text is too long."',
      ),
    ).toEqual({
      sentence: "The server refused the request. Change the post, then send it again.",
      quote: { who: "Mastodon", words: "Validation failed: Text is too long." },
    });
    expect(errorInWords('Too long. dev.to says: "no". Shorten the text.')).toEqual({
      sentence: "Too long. Shorten the text.",
      quote: { who: "dev.to", words: "no" },
    });
    expect(errorInWords('Mastodon says: "no"')).toEqual({
      sentence: "Mastodon refused it.",
      quote: { who: "Mastodon", words: "no" },
    });
  });

  it("leaves out of an unknown outcome what the buttons say", () => {
    const error =
      'outcome unknown: the server did not answer. Look at the channel "Blog". Say here whether it is there.';
    expect(isUnknown(error)).toBe(true);
    expect(errorInWords(error)).toEqual({ sentence: "The server did not answer.", quote: null });
    expect(isUnknown("It was refused.")).toBe(false);
    expect(isUnknown(null)).toBe(false);
  });

  it("says so where no reason was given", () => {
    expect(errorInWords(null).sentence).toBe("It failed, and no reason was given.");
  });
});

it.each([
  ["failed", "Mastodon refused it.", null, null],
  ["failed", "outcome unknown: no answer came.", null, { url: "https://social.example/@me", isPost: false }],
  ["uploaded", null, null, { url: "https://social.example/@me", isPost: false }],
  ["failed", "Refused.", "https://social.example/1", { url: "https://social.example/1", isPost: true }],
  ["failed", "Refused.", "javascript:alert(1)", null],
] as const)(
  "a post that is %s (%s) can be looked at only where something may be",
  (status, error, platformUrl, place) => {
    expect(placeOutside({ status, error, platformUrl }, "https://social.example/@me")).toEqual(place);
  },
);

it("has posts in their places as an answer about them said, whatever was read before", () => {
  const later = "2026-11-26T11:00:00.000Z";
  const failed = [post("failed", { status: "failed" }), post("refused_again", { status: "failed" })];
  const late = [post("begun", { status: "publishing" }), post("other", { status: "scheduled" })];
  const known = [
    post("failed", { status: "publishing", updatedAt: later }),
    post("begun", { status: "failed", updatedAt: later }),
    post("other", { status: "failed", updatedAt: "2026-11-26T09:00:00.000Z" }),
    post("dismissed_elsewhere", { status: "failed", updatedAt: later }),
  ];
  const shown = asKnown({ failed, late }, new Map(known.map((one) => [one.id, one])));
  expect(shown.failed.map(({ id }) => id)).toEqual(["refused_again", "begun"]);
  expect(shown.late.map(({ id }) => id)).toEqual(["failed", "other"]);
});
