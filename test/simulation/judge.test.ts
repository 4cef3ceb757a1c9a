import { describe, expect, it } from "vitest";
import type { DeliveryRow } from "../../src/store/queries/webhooks.ts";
import { wishesOf } from "./acts-series.ts";
import type { Deed, FinalPost, Hook, Series, Version, Wish } from "./history.ts";
import { judge, type Outcome } from "./judge.ts";
import type { Publication } from "./platforms.ts";
import type { Told } from "./receivers.ts";

/* The judge itself: each rule with a history that breaks it, and one that just holds. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const DUE = 100 * MINUTE;

function deed(invokedAt: number, more: Partial<Deed> = {}): Deed {
  const answeredAt = more.outcome === "unknown" ? null : invokedAt + 10;
  return {
    tool: "t",
    args: {},
    invokedAt,
    clockAt: invokedAt,
    answeredAt,
    outcome: "done",
    answer: {},
    ...more,
  };
}

function version(text: string, more: Partial<Version> = {}): Version {
  return { text, scheduledAt: DUE, deed: deed(MINUTE), ...more };
}

function wish(more: Partial<Wish> = {}): Wish {
  const versions = [version("post 1 v1")];
  const none = { cancels: [], repeats: [], approvals: null, slotAt: null, isForgotten: false };
  return { name: "post 1", channel: "class_a", channelId: "acc_1", id: "post_1", versions, ...none, ...more };
}

const out = (text = "post 1 v1", sentAt = DUE, platform = "class_a"): Publication => ({
  platform,
  text,
  at: sentAt + 10,
  sentAt,
  leftAt: sentAt,
  clockAt: sentAt,
  from: "host1",
});

const row = (more: Partial<FinalPost> = {}): FinalPost => ({
  id: "post_1",
  channelId: "acc_1",
  caption: "post 1 v1",
  status: "published",
  error: null,
  inDoubt: false,
  scheduledAt: DUE,
  isHeld: false,
  hasWarnings: false,
  isTried: false,
  wasInterrupted: false,
  updatedAt: DUE,
  ...more,
});

const NOTHING = { deeds: [], series: [], hooks: [], told: [], events: [], figures: [] };

function told(more: Partial<Outcome>): string[] {
  const holds = { wishes: [wish()], published: [out()], posts: [row()], clockAt: 200 * MINUTE };
  const world = { mood: "wild" as const, glitches: [], zone: "UTC", channels, jumps: [], sent: [] };
  return judge({ violations: [], stray: [], ...world, ...NOTHING, ...holds, ...more });
}

const channels = ["acc_1", "acc_2"].map((id) => ({
  id,
  provider: "class_a",
  schedule: { timezone: "UTC", slots: [{ days: ["thu"], times: ["01:40", "03:00"] }] },
}));
/** In a world without faults, its channel paused and resumed around its time. */
const pausedUntil = (resumedAt: number, sentAt: number): Partial<Outcome> => ({
  mood: "calm",
  published: [out("post 1 v1", sentAt)],
  deeds: [
    deed(50 * MINUTE, { args: { accountId: "acc_1", paused: true } }),
    deed(resumedAt, { args: { accountId: "acc_1", paused: false } }),
  ],
});
const late = (minutes: number, more: Partial<Outcome> = {}): Partial<Outcome> => ({
  published: [out("post 1 v1", DUE + minutes * MINUTE)],
  ...more,
});
const lateOn = (platform: string, minutes: number): Partial<Outcome> => ({
  published: [out("post 1 v1", DUE + minutes * MINUTE, platform)],
});
const thread = (comments: Publication[], more: Partial<FinalPost> = {}): Partial<Outcome> => ({
  published: [out("post 1 v1", DUE, "class_g"), ...comments],
  posts: [row(more)],
});
const comment = (sentAt = DUE + 1): Publication => out("post 1 v1 comment", sentAt, "class_g");
const inSlot = (slotAt: number, zone = "UTC"): Partial<Outcome> => ({
  wishes: [wish({ slotAt })],
  published: [out("post 1 v1", slotAt)],
  zone,
});

const sentAt = (at: number, text = "post 1 v1"): Outcome["sent"][number] => {
  return { platform: "class_a", text, at, clockAt: at, isRefused: false };
};
const sentTwice = (isRefused: boolean): Partial<Outcome> => ({
  mood: "limits",
  sent: [{ ...sentAt(DUE), isRefused }, sentAt(DUE + 2)],
});
/** Another post of its channel, due five seconds later. */
const nextOne = wish({
  name: "post 2",
  id: "post_2",
  versions: [version("post 2 v1", { scheduledAt: DUE + 5_000 })],
});
/** Both, as they were sent. */
const inTurn = (...at: readonly [first: number, other: number]): Partial<Outcome> => ({
  mood: "limits",
  wishes: [wish(), nextOne],
  published: [out(), out("post 2 v1", DUE + 5_000)],
  posts: [row(), row({ id: "post_2", caption: "post 2 v1", scheduledAt: DUE + 5_000 })],
  sent: [sentAt(at[0]), sentAt(at[1], "post 2 v1")].toSorted((a, b) => a.at - b.at),
});
/** The clock is an hour ahead for four seconds around the moment at which it was sent. */
const glitched = (dueAt: number, hosts = ["host1"]): Partial<Outcome> => ({
  wishes: [wish({ versions: [version("post 1 v1", { scheduledAt: dueAt })] })],
  published: [out("post 1 v1", DUE + 60 * MINUTE)].map((one) => ({ ...one, leftAt: DUE })),
  glitches: [{ from: DUE - 2_000, to: DUE + 2_000, byMs: 60 * MINUTE, hosts }],
});

/** What came of a draft that somebody had changed. */
const approvedAt = (revision: number): Partial<Outcome> => ({
  wishes: [draft([approval(revision)])],
  published: [out(`post 1 v${revision}`)],
  posts: [row({ caption: `post 1 v${revision}` })],
});

const failed = (more: Partial<FinalPost> = {}): FinalPost =>
  row({ status: "failed", error: "It was refused.", ...more });
const missed = (minutes: number): FinalPost =>
  failed({ error: "It missed its time: nothing was running.", updatedAt: DUE + minutes * MINUTE });
const cancelled = { cancels: [deed(2 * MINUTE)] };
const approval = (revision: number, more: Partial<Deed> = {}): Deed =>
  deed(3 * MINUTE, { args: { revision }, ...more });
const draft = (approvals: Deed[]): Wish =>
  wish({
    approvals,
    versions: [
      version("post 1 v1", { revision: 1 }),
      version("post 1 v2", { revision: 2, deed: deed(2 * MINUTE) }),
    ],
  });
const changed = (outcome: Deed["outcome"]): Wish =>
  wish({ versions: [version("post 1 v1"), version("post 1 v2", { deed: deed(2 * MINUTE, { outcome }) })] });
/** One changes the text, another the time, both before anybody answered. */
const merged = (sentAt: number): Partial<Outcome> => ({
  wishes: [
    wish({
      versions: [
        version("post 1 v1"),
        version("post 1 v2", { deed: deed(2 * MINUTE), sets: ["text"] }),
        version("post 1 v1", { deed: deed(2 * MINUTE), sets: ["time"], scheduledAt: DUE - MINUTE }),
      ],
    }),
  ],
  published: [out("post 1 v2", sentAt)],
});
const keyed = (id: string): Deed =>
  deed(MINUTE, { args: { idempotencyKey: "k" }, answer: { post: { id: `post_${id}` } } });
/** Each day at 1:40, approved before the first. */
const daily = (more: Partial<Series> = {}): Series => {
  const begun = { draft: { decision: { at: new Date(MINUTE).toISOString() } } };
  const texts = ["post 1 v1", "post 1 v2"];
  const one = { name: "post 1", channel: "class_a", channelId: "acc_1", time: "01:40", zone: "UTC", texts };
  const approvals = [deed(MINUTE, { answer: begun })];
  return { ...one, saved: deed(0), approvals, stops: [], isForgotten: false, ...more };
};
const series = (one: Series, ...posts: FinalPost[]): Partial<Outcome> => ({
  series: [one],
  wishes: wishesOf(one, 200 * MINUTE),
  published: posts[0]?.status === "published" ? [out()] : [],
  posts,
});
const second = row({ caption: "post 1 v2", status: "scheduled", scheduledAt: DUE + DAY });
const table = (made: number): Partial<Outcome> => ({
  wishes: [1, 2].map((at) =>
    wish({ name: `post ${at}`, id: null, versions: [version(`post ${at} v1`)], table: "t" }),
  ),
  published: [],
  posts: [1, 2].map((at) => failed({ id: `post_${at}`, caption: `post ${at} v1` })).slice(0, made),
});
/** On a channel whose slots are three minutes apart. */
const gap = (minutes: number): Partial<Outcome> => ({
  ...slots({ slotAt: DUE + minutes * MINUTE }),
  channels: channels.map((one) => ({
    ...one,
    schedule: {
      ...one.schedule,
      minGapMinutes: 3,
      slots: [{ days: ["thu"], times: ["01:40", "01:42", "01:43"] }],
    },
  })),
});
const hook: Hook = { path: "/h", channelIds: null, deed: deed(0), id: "whk_1", isRestored: false };
const event: DeliveryRow = {
  ...{ seq: 1, id: "evt_1", owner_id: "o", webhook_id: "whk_1", event: "post.published", tries: 1 },
  ...{ snapshot: '{"id":"post_1"}', happened_at: DUE, tried_at: DUE, http_status: 200 },
  ...{ status: "delivered", error: null, next_at: null },
};
const heard = (more: Partial<Told & { caption: string }> = {}): Told => {
  const data = { id: "post_1", caption: more.caption ?? "post 1 v1" };
  const body = JSON.stringify({ type: "post.published", data });
  return { path: "/h", id: "evt_1", body, at: DUE + 20, isTaken: true, ...more };
};
const hooked = (told: Told[], ...events: Partial<DeliveryRow>[]): Partial<Outcome> => ({
  hooks: [hook],
  told,
  events: events.map((more) => ({ ...event, ...more })),
});
const revoked = (use: Deed): Partial<Outcome> => ({
  deeds: [
    { ...deed(2 * MINUTE), tool: "revoke_key", args: { key: "key_1" } },
    { ...use, by: "key_1" },
  ],
});
const unsure = deed(MINUTE, { mayNot: true, outcome: "unknown" });
const givenUp = (at: number): Partial<Outcome> => ({
  deeds: [deed(at, { tool: "disconnect_channel", args: { accountId: "acc_1" } })],
});
/** It is left over, and another of its channel went out at that moment. */
const afterAnother = (sentAt: number): Partial<Outcome> => ({
  wishes: [wish(), nextOne],
  published: [out("post 2 v1", sentAt, "class_d")],
  posts: [row({ status: "scheduled" }), row({ id: "post_2", caption: "post 2 v1" })],
});
const slots = (more: Partial<Wish>, jumps: readonly number[] = []): Partial<Outcome> => ({
  jumps,
  wishes: [
    wish({ slotAt: DUE }),
    wish({ name: "post 2", id: "post_2", versions: [version("post 2 v1")], slotAt: DUE, ...more }),
  ],
  published: [out(), out("post 2 v1")],
  posts: [row(), row({ id: "post_2", caption: "post 2 v1" })],
});

describe("the judge", () => {
  it("has nothing to say where all is well", () => expect(told({})).toEqual([]));

  it.each<[rule: string, broken: Partial<Outcome>, holds: Partial<Outcome>]>([
    ["twice", { published: [out(), out()] }, { wishes: [changed("unknown")], published: [out("post 1 v2")] }],
    [
      "twice, of a copy",
      { wishes: [wish({ isForgotten: true })], published: [out(), out()] },
      {
        wishes: [wish({ isForgotten: true, versions: [version("post 1 v1"), version("post 1 v2")] })],
        published: [out(), out("post 1 v2")],
      },
    ],
    ["early", { published: [out("post 1 v1", DUE - 1)] }, { published: [out("post 1 v1", DUE)] }],
    ["as it was before a change", { wishes: [changed("done")] }, { wishes: [changed("refused")] }],
    ["lost", { published: [], posts: [] }, { wishes: [wish({ id: null })], published: [], posts: [] }],
    ["said to be out", { published: [] }, { published: [], posts: [failed()] }],
    ["said to have failed for certain", { posts: [failed()] }, { posts: [failed({ inDoubt: true })] }],
    [
      "failed without a reason",
      { published: [], posts: [failed({ error: null })] },
      { published: [], posts: [failed()] },
    ],
    [
      "cancelled",
      { wishes: [wish(cancelled)] },
      { wishes: [wish(cancelled)], published: [], posts: [row({ status: "cancelled" })] },
    ],
    [
      "never settled",
      { published: [], posts: [row({ status: "publishing" })] },
      { published: [], posts: [row({ status: "scheduled", isHeld: true })] },
    ],
    ["not approved", { wishes: [draft([])] }, { wishes: [draft([approval(1, { outcome: "unknown" })])] }],
    [
      "not what was approved",
      { wishes: [draft([approval(2)])] },
      { wishes: [draft([approval(1, { outcome: "unknown" }), approval(2)])] },
    ],
    ["the change of two, too early", merged(DUE - MINUTE - 1), merged(DUE - MINUTE)],
    [
      "changed just before it was sent",
      {
        wishes: [wish({ versions: [version("post 1 v1"), version("post 1 v2", { deed: deed(DUE - 11) })] })],
      },
      {
        wishes: [wish({ versions: [version("post 1 v1"), version("post 1 v2", { deed: deed(DUE - 10) })] })],
      },
    ],
    [
      "approved, and no post",
      { wishes: [{ ...draft([approval(1)]), id: null }], published: [], posts: [] },
      { wishes: [{ ...draft([]), id: null }], published: [], posts: [] },
    ],
    ["a time of a series missing", series(daily(), row()), series(daily(), row(), second)],
    [
      "a time of a series on another day",
      series(daily(), row(), { ...second, scheduledAt: DUE + DAY - 1 }),
      series(daily({ approvals: [deed(MINUTE, { outcome: "unknown" })] }), row(), second),
    ],
    [
      "a series stopped",
      series(daily({ stops: [deed(DUE + MINUTE)] }), row(), second),
      series(daily({ stops: [deed(DUE + MINUTE)] }), row(), { ...second, status: "cancelled" }),
    ],
    ["a table in part", table(1), table(2)],
    ["told of what is not so", hooked([heard({ at: DUE })], {}), hooked([heard()], {})],
    ["told in two ways", hooked([heard(), heard({ caption: "post 1" })], {}), hooked([heard(), heard()], {})],
    [
      "told twice",
      hooked([heard(), heard({ id: "evt_2" })], {}),
      { ...hooked([heard(), heard({ id: "evt_2" })], {}), hooks: [{ ...hook, isRestored: true }] },
    ],
    [
      "told again what was taken",
      { ...hooked([heard(), heard()], {}), mood: "limits" },
      { ...hooked([heard({ isTaken: false }), heard()], {}), mood: "limits" },
    ],
    [
      "told late where nothing fails",
      { ...hooked([heard({ at: DUE + 6_000 })], {}), mood: "calm" },
      { ...hooked([heard({ at: DUE + 5_000 })], {}), mood: "calm" },
    ],
    ["never told", hooked([]), { ...hooked([]), hooks: [{ ...hook, deed: deed(MINUTE) }] }],
    ["said to be told", hooked([heard({ isTaken: false })], {}), hooked([heard()], {})],
    [
      "told by nobody",
      hooked([], { status: "pending", next_at: DUE }),
      hooked([], { status: "pending", next_at: 200 * MINUTE }),
    ],
    [
      "not told without a reason",
      hooked([], { status: "failed" }),
      hooked([], { status: "failed", error: "It was turned off." }),
    ],
    ["done with a revoked key", revoked(deed(3 * MINUTE)), revoked(deed(2 * MINUTE))],
    [
      "done beyond what a key allows",
      { deeds: [deed(MINUTE, { mayNot: true })] },
      { deeds: [deed(MINUTE, { mayNot: true, outcome: "refused" })] },
    ],
    [
      "out beyond what a key allows",
      { wishes: [wish({ versions: [version("post 1 v1", { deed: unsure })] })] },
      {
        wishes: [wish({ id: null, versions: [version("post 1 v1", { deed: unsure })] })],
        published: [],
        posts: [],
      },
    ],
    ["on a channel that was given up", givenUp(DUE - 3 * MINUTE), givenUp(DUE - MINUTE)],
    [
      "figures of another post",
      { figures: [{ text: "post 1 v1", stored: ["8"], told: ["7"] }] },
      { figures: [{ text: "post 1 v1", stored: ["7"], told: ["6", "7"] }] },
    ],
    ["two answers", { deeds: [keyed("1"), keyed("2")] }, { deeds: [keyed("1"), keyed("1")] }],
    ["one slot for two", slots({}), slots({ channelId: "acc_2" })],
    [
      "one slot for two, and a clock that was set before or between",
      slots({}, [0]),
      slots({ versions: [version("post 2 v1", { deed: deed(5 * MINUTE) })] }, [3 * MINUTE]),
    ],
    [
      "waits for long where nothing is before it",
      { published: [], posts: [row({ status: "scheduled" })] },
      afterAnother(200 * MINUTE),
    ],
    ["two slots without their gap", gap(2), gap(3)],
    ["a slot that there is not", inSlot(DUE + 7 * MINUTE), inSlot(DUE)],
    [
      "a slot in an hour that comes twice",
      inSlot(Date.UTC(2026, 10, 1, 6, 40), "America/New_York"),
      inSlot(Date.UTC(2026, 10, 1, 5, 40), "America/New_York"),
    ],
    [
      "a slot in an hour that is skipped",
      inSlot(Date.UTC(2026, 2, 29, 2, 0), "Europe/Berlin"),
      inSlot(Date.UTC(2026, 2, 29, 1, 0), "Europe/Berlin"),
    ],
    ["too late", late(80), late(70)],
    ["too late where it is told", lateOn("class_b", 61), lateOn("class_b", 60)],
    [
      "too late by a clock that was just set",
      late(80, { jumps: [0] }),
      late(80, { jumps: [DUE + 80 * MINUTE] }),
    ],
    ["missed in time", { published: [], posts: [missed(59)] }, { published: [], posts: [missed(61)] }],
    ["late where nothing fails", late(1, { mood: "calm" }), late(0.01, { mood: "calm" })],
    ["while its channel is paused", pausedUntil(200 * MINUTE, DUE), pausedUntil(DUE, DUE + 500)],
    ["refused and sent again", sentTwice(true), sentTwice(false)],
    [
      "refused and sent again for nobody",
      { ...sentTwice(true), wishes: [wish({ repeats: [deed(DUE - 1)] })] },
      { ...sentTwice(true), wishes: [wish({ repeats: [deed(DUE + 1)] })] },
    ],
    ["out of order", inTurn(DUE + 9_000, DUE + 8_000), inTurn(DUE + 8_000, DUE + 9_000)],
    [
      "out of order behind one that failed",
      inTurn(DUE + 90_000, DUE + 57_000),
      inTurn(DUE + 90_000, DUE + 59_000),
    ],
    [
      "left over, and all at once",
      inTurn(DUE + 200_000, DUE + 201_000),
      inTurn(DUE + 200_000, DUE + 231_000),
    ],
    ["begun too late", { sent: [sentAt(DUE + 60 * MINUTE + 2_000)] }, { sent: [sentAt(DUE + 60 * MINUTE)] }],
    ["due by a clock that was wrong", glitched(DUE + 1_000), glitched(DUE)],
    ["wrong since before it began", glitched(DUE + 1_000), glitched(DUE + 1_000, [])],
    [
      "unknown where nothing fails",
      { mood: "calm", published: [], posts: [failed({ inDoubt: true })] },
      { mood: "calm", published: [], posts: [failed()] },
    ],
    [
      "not finished by a process that was asked to end",
      { mood: "calm", posts: [row({ wasInterrupted: true })] },
      { mood: "limits", posts: [row({ wasInterrupted: true })] },
    ],
    ["approved as it was before", approvedAt(1), approvedAt(2)],
    ["a comment twice", thread([comment(), comment()]), thread([comment()])],
    ["a comment before its post", thread([comment(DUE - MINUTE)]), thread([comment()])],
    ["no comment", thread([]), thread([], { hasWarnings: true })],
    ["no comment yet", thread([]), thread([], { isTried: true })],
    ["nobody's", { published: [out(), out("spam")] }, {}],
    ["asked what may not be asked", { violations: ["POST /d/publish: twice"] }, {}],
    ["thrown", { stray: ["TypeError"] }, {}],
  ])("%s", (_rule, broken, holds) => {
    expect(told(broken)).not.toEqual([]);
    expect(told(holds)).toEqual([]);
  });
});
