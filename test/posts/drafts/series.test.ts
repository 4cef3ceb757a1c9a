import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { makeSeriesPosts } from "../../../src/posts/drafts/series.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { rowsOf } from "../../support/handles.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const { tools } = await loadCatalog();
const plain = scriptedPlatform({
  name: "plain",
  title: "Plain",
  capabilities: TEXT_CAPABILITIES,
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});

let ctx: TestContext;
let toolbox: Toolbox;

beforeEach(async () => {
  ctx = await createTestContext({ platformList: [plain], media: createMemoryMedia(new Map()) });
  toolbox = createToolbox(ctx, tools);
  for (const name of ["blog", "wall"]) await addAccount(ctx, { id: `acc_${name}`, name, provider: "plain" });
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function call(tool: string, args: object, caller: Partial<Caller> = {}): Promise<any> {
  return (await toolbox.call(tool, args, callerOf(caller))).result;
}

/** Saved and approved. */
async function begin(repeat: object, more: object = {}): Promise<any> {
  const content = { caption: "Daily", targets: [{ accountId: "blog" }], repeat, ...more };
  const { draft } = await call("save_draft", content);
  return (await call("decide_draft", { id: draft.id, revision: 1, decision: "approve" })).draft;
}

function pass(): Promise<void> {
  return makeSeriesPosts(ctx, new AbortController().signal);
}

async function times(): Promise<string[]> {
  const rows = await rowsOf<{ scheduled_at: number }>(
    ctx.store,
    "SELECT scheduled_at FROM posts WHERE status <> 'cancelled' ORDER BY scheduled_at, account_id",
  );
  return rows.map(({ scheduled_at: at }) => new Date(Number(at)).toISOString().slice(0, 16));
}

async function show(id: string): Promise<any> {
  return (await call("list_drafts", { id })).drafts[0];
}

describe("a series", () => {
  it("begins with its approval: ordinary posts for two weeks, on each channel", async () => {
    const draft = await begin(
      { unit: "week", days: ["mon", "thu"], time: "09:00" },
      { targets: [{ accountId: "blog" }, { accountId: "wall", caption: "Own" }], labels: ["tips"] },
    );
    expect(draft).toMatchObject({ state: "repeating", outcome: "waiting" });
    expect(draft.repeat).toMatchObject({ timezone: "UTC", from: "2026-11-21" });
    expect(await times()).toEqual(
      ["2026-11-23", "2026-11-26", "2026-11-30", "2026-12-03"].flatMap((day) => [
        `${day}T09:00`,
        `${day}T09:00`,
      ]),
    );
    expect((await call("list_posts", { label: ["tips"] })).posts).toHaveLength(8);
    await pass();
    expect(await times()).toHaveLength(8);
  });

  it("goes on day by day, each time once, in two processes at once", async () => {
    await begin({ unit: "day", time: "09:30" });
    for (let day = 0; day < 5; day++) {
      await ctx.clock.advance(24 * 3_600_000);
      await Promise.all([pass(), pass()]);
    }
    const made = await times();
    expect(made).toHaveLength(19);
    expect(new Set(made).size).toBe(19);
  });

  it("is told beyond its posts in the calendar: its rule, until when they are made, and what comes", async () => {
    const { id } = await begin({ unit: "week", days: ["fri"], time: "07:00" });
    await begin({ unit: "day", time: "09:30", times: 3 });
    const december = { from: "2026-12-01", to: "2026-12-31" };
    const { series, posts } = await call("show_calendar", december);
    expect(posts.map((post: any) => post.scheduledAt.slice(0, 10))).toEqual(["2026-12-04"]);
    expect(series).toEqual([
      {
        draftId: id,
        text: "Daily",
        accountIds: ["acc_blog"],
        rule: "Every week on Fri at 07:00 (UTC), from Sat 21 Nov 2026, without an end",
        postsUntil: "2026-12-04T07:00:00.000Z",
        coming: ["11", "18", "25"].map((day) => `2026-12-${day}T07:00:00.000Z`),
      },
    ]);
    // Each time is a post or told as coming, never both.
    const week = await call("show_calendar", { from: "2026-11-23", to: "2026-12-04" });
    expect(week.series).toEqual([]);
    expect((await call("show_calendar", { ...december, accountId: ["wall"] })).series).toEqual([]);
    const far = await call("show_calendar", { from: "2027-02-01", to: "2027-02-28" });
    expect(far.series[0].coming).toHaveLength(4);
    expect((await call("show_calendar", december, { accountIds: ["acc_wall"] })).series).toEqual([]);
    await call("decide_draft", { id, revision: 2, decision: "stop" });
    expect((await call("show_calendar", december)).series).toEqual([]);
  });

  it("skips what was missed, says so, and makes no burst", async () => {
    const { id } = await begin({ unit: "day", time: "09:30" });
    ctx.clock.jumpTo("2027-01-05T12:00:00Z");
    await pass();
    const made = await times();
    expect(made.filter((time) => time > "2026-12-06" && time < "2027-01-05T12")).toEqual([]);
    expect(made.filter((time) => time > "2027-01-05T12")).toHaveLength(14);
    const [check] = (await show(id)).checks;
    expect(check).toMatchObject({ accountId: "acc_blog", error: null });
    expect(check.warnings[0]).toMatch(
      /^32 times were skipped, because no post could be made before: .*Tuesday 5 January 2027, 09:30 \(UTC\)/,
    );
  });

  it("takes its texts in turns, with those that were skipped", async () => {
    await begin({ unit: "day", time: "09:30", texts: ["One", "Two", "Three"] });
    const rows = await rowsOf<{ caption: string }>(
      ctx.store,
      "SELECT caption FROM posts ORDER BY scheduled_at",
    );
    expect(rows.map(({ caption }) => caption).slice(0, 5)).toEqual(["One", "Two", "Three", "One", "Two"]);
    ctx.clock.jumpTo("2027-01-05T12:00:00Z");
    await pass();
    const [later] = await rowsOf<{ caption: string }>(
      ctx.store,
      `SELECT caption FROM posts WHERE scheduled_at = ${Date.parse("2027-01-06T09:30:00Z")}`,
    );
    // The 47th time: from 21 November to 6 January.
    expect(later!.caption).toBe("Two");
  });

  it("begins with its first text also where it is approved after its first time", async () => {
    const repeat = { unit: "day", time: "15:30", times: 3, texts: ["One", "Two", "Three"] };
    const { draft } = await call("save_draft", { targets: [{ accountId: "blog" }], repeat });
    expect(draft.repeat.from).toBe("2026-11-21");
    ctx.clock.jumpTo("2026-11-22T16:00:00Z");
    await call("decide_draft", { id: draft.id, revision: 1, decision: "approve" });
    ctx.clock.jumpTo("2026-11-24T16:00:00Z");
    await pass();
    const rows = await rowsOf<{ caption: string }>(
      ctx.store,
      "SELECT caption FROM posts ORDER BY scheduled_at",
    );
    expect(rows.map(({ caption }) => caption)).toEqual(["One", "Two", "Three"]);
    expect(await times()).toEqual(["2026-11-23T15:30", "2026-11-24T15:30", "2026-11-25T15:30"]);
    expect((await show(draft.id)).state).toBe("repeating");
  });

  it("has each of its texts checked before a person is asked, and when they approve", async () => {
    const texts = ["Fine", "x".repeat(600), "Also fine", "y".repeat(700)];
    const repeat = { unit: "day", time: "09:30", times: 8, texts };
    const content = { targets: [{ accountId: "blog" }], repeat };
    const { draft } = await call("save_draft", content);
    expect(draft.checks[0].error).toMatch(/^repeat\.texts\[1\]: .*600.* repeat\.texts\[3\]: .*700/);
    await expect(call("save_draft", { ...content, submit: true })).rejects.toThrow(/repeat\.texts\[1\]/);
    const approval = { id: draft.id, revision: 1, decision: "approve" };
    await expect(call("decide_draft", approval)).rejects.toThrow(/repeat\.texts\[3\]: /);
    // The channel's own text stands in for all of them.
    const own = { ...content, targets: [{ accountId: "blog", caption: "Own" }], submit: true };
    expect((await call("save_draft", own)).draft).toMatchObject({
      state: "waiting",
      checks: [{ error: null }],
    });
  });

  it("is said to have no end, once, where texts take turns", async () => {
    const targets = [{ accountId: "blog" }, { accountId: "wall" }];
    const repeat = { unit: "day", time: "09:30", texts: ["One", "Two"] };
    const endless = /^repeat\.texts: after its last text the series begins again with the first/;
    const { draft, warnings } = await call("save_draft", { targets, repeat });
    expect(warnings.filter((warning: string) => endless.test(warning))).toHaveLength(1);
    expect(draft.checks.map((check: any) => check.warnings)).toEqual([[], []]);
    const ended = await call("save_draft", { targets, repeat: { ...repeat, times: 4 } });
    expect(ended.warnings.join(" ")).not.toMatch(/begins again/);
  });

  it("is named by what goes out, and tells which text goes out when", async () => {
    const repeat = { unit: "week", time: "09:00", times: 6, texts: ["Rye", "Spelt"] };
    const args = { caption: "Friday bread", targets: [{ accountId: "blog" }], repeat };
    const { draft, warnings } = await call("save_draft", args);
    expect(warnings).toContainEqual(
      expect.stringMatching(/^caption: is not used, because repeat\.texts take turns in its place\./),
    );
    const approval = { id: draft.id, revision: 1, decision: "approve" };
    const asked: string[] = [];
    const ask = async ({ text }: { text: string }) => {
      asked.push(text);
      return "yes" as const;
    };
    await toolbox.call("decide_draft", approval, callerOf(), { ask });
    expect(asked).toEqual([expect.stringMatching(/^Approve the draft "Rye"\?/)]);
    const [series] = (await call("show_calendar", { from: "2026-11-21", to: "2027-01-31" })).series;
    expect(series.text).toBe("Rye");
    const made = (await call("list_posts", {})).posts.map(({ caption }: any) => caption);
    expect(series.texts).toHaveLength(series.coming.length);
    expect([...made.toReversed(), ...series.texts].toSorted()).toEqual([
      "Rye",
      "Rye",
      "Rye",
      "Spelt",
      "Spelt",
      "Spelt",
    ]);
    expect(series.texts[0]).toBe(made.length % 2 === 0 ? "Rye" : "Spelt");
  });

  it("says that its own texts are left out where each channel has one", async () => {
    const repeat = { unit: "day", time: "09:00", times: 2, texts: ["Rye"] };
    const { warnings } = await call("save_draft", {
      targets: [{ accountId: "blog", caption: "Own" }],
      repeat,
    });
    expect(warnings).toContainEqual(expect.stringMatching(/^repeat\.texts: are not used/));
  });

  it.each([
    ["month", "2026-12-31", "on day 31 (in shorter months on the last day) at"],
    ["month", "2026-12-28", "on day 28 at"],
    ["year", "2028-02-29", "on 29 Feb (28 Feb in other years) at"],
  ])(
    "tells on which days a %s from %s has, and each answer where some have none",
    async (unit, from, words) => {
      const repeat = { unit, from, time: "09:00" };
      const saved = await call("save_draft", { caption: "x", targets: [{ accountId: "blog" }], repeat });
      const { draft } = saved;
      const told = words.includes("(") ? [`The series goes out ${words.replace(" at", ".")}`] : [];
      const among = ({ warnings = [] }: any): string[] =>
        warnings.filter((warning: string) => /^The series.* goes out on/.test(warning));
      expect(among(saved)).toEqual(told);
      const asked: string[] = [];
      const ask = async ({ text }: { text: string }) => {
        asked.push(text);
        return "no" as const;
      };
      const args = { id: draft.id, revision: 1, decision: "approve" };
      await toolbox.call("decide_draft", args, callerOf(), { ask }).catch(() => {});
      expect(asked[0]).toContain(words);
      const named = told.map((one) => one.replace("series", 'series "x"'));
      expect(among(await call("decide_draft", args))).toEqual(named);
    },
  );

  it("whose first time passed while it waited is told by the day that it begins on, everywhere", async () => {
    ctx.clock.jumpTo("2026-11-28T00:05:00Z");
    const content = { caption: "Weekly", targets: [{ accountId: "blog" }] };
    const repeat = { unit: "week", time: "00:10" };
    const { draft } = await call("save_draft", { ...content, repeat, submit: true });
    const late = expect.stringContaining("has passed");
    expect((await show(draft.id)).checks[0].warnings).not.toContainEqual(late);
    ctx.clock.jumpTo("2026-11-28T00:15:00Z");
    expect((await show(draft.id)).checks[0].warnings).toContain(
      "Its first time, Saturday 28 November 2026, 00:10 (UTC), has passed: approved now, the series begins on Saturday 5 December 2026, 00:10 (UTC).",
    );
    const again = await call("save_draft", { id: draft.id, revision: 1, note: "Soon", submit: true });
    expect(again.warnings).toContain(
      "The first of the series is on Saturday 5 December 2026, 00:10 (UTC), because 00:10 of Sat 28 Nov 2026 is over.",
    );
    const rule =
      "Every week on Sat at 00:10 (UTC), from Sat 5 Dec 2026, because 00:10 of Sat 28 Nov 2026 is over, without an end";
    const asked: string[] = [];
    const ask = async ({ text }: { text: string }) => {
      asked.push(text);
      return "yes" as const;
    };
    const args = { id: draft.id, revision: 2, decision: "approve" };
    await toolbox.call("decide_draft", args, callerOf(), { ask });
    expect(asked[0]).toContain(`It starts a series. ${rule}.`);
    ctx.clock.jumpTo("2026-12-06T00:00:00Z");
    const january = await call("show_calendar", { from: "2027-01-01", to: "2027-01-31" });
    expect(january.series[0].rule).toBe(rule);
    expect((await show(draft.id)).checks[0].warnings).not.toContainEqual(late);
  });

  it("that has no time left is said to have none while it waits", async () => {
    const content = { caption: "Once", targets: [{ accountId: "blog" }] };
    const repeat = { unit: "day", time: "09:30", until: "2026-11-22" };
    const { draft } = await call("save_draft", { ...content, repeat, submit: true });
    ctx.clock.jumpTo("2026-11-23T09:00:00Z");
    expect((await show(draft.id)).checks[0].warnings).toContainEqual(
      expect.stringMatching(/^repeat: no time of it lies ahead/),
    );
  });

  it("is shown as one to the person who approves it, with every text", async () => {
    const asked: string[] = [];
    const ask = async ({ text }: { text: string }) => {
      asked.push(text);
      return "no" as const;
    };
    const approve = async (content: object): Promise<void> => {
      const { draft } = await call("save_draft", { targets: [{ accountId: "blog" }], ...content });
      const approval = { id: draft.id, revision: 1, decision: "approve" };
      await toolbox.call("decide_draft", approval, callerOf(), { ask }).catch(() => {});
      const several = {
        drafts: [
          { id: draft.id, revision: 1 },
          { id: draft.id.replace(/.$/, "_"), revision: 1 },
        ],
      };
      await toolbox
        .call("decide_draft", { ...several, decision: "approve" }, callerOf(), { ask })
        .catch(() => {});
    };
    await approve({
      repeat: {
        unit: "week",
        days: ["mon"],
        time: "09:30",
        from: "2026-11-23",
        texts: ["One", "Two", "Three"],
      },
    });
    const words =
      "Every week on Mon at 09:30 (UTC), from Mon 23 Nov 2026, without an end; 3 texts take turns. It goes on until a person ends it. The texts: 1. “One”; 2. “Two”; 3. “Three”. It begins with: blog, Monday 23 November 2026, 09:30 (UTC): “One”";
    expect(asked[0]).toBe(`Approve the draft "One"? It starts a series. ${words}.`);
    expect(asked[1]).toContain(`1. The series "One". ${words}`);
    await approve({ caption: "Twice", repeat: { unit: "day", time: "09:30", times: 2 } });
    expect(asked[2]).toMatch(
      /It starts a series\. Every day at 09:30 \(UTC\), from Sat 21 Nov 2026, 2 times\. It begins with/,
    );
  });

  it("lets one time be changed or skipped, and makes it no second time", async () => {
    const draft = await begin({ unit: "day", time: "09:30" });
    const [first, second] = draft.posts;
    await call("update_post", { id: first.id, caption: "Special", scheduledAt: "2026-11-22T15:00:00Z" });
    await call("cancel_post", { id: second.id });
    await pass();
    const made = await times();
    expect(made.slice(0, 2)).toEqual(["2026-11-22T15:00", "2026-11-23T09:30"]);
    expect(made).toHaveLength(13);
  });

  it("ends when a person stops it: what waits is cancelled", async () => {
    const { id } = await begin({ unit: "day", time: "09:30" });
    const draft = (await call("decide_draft", { id, decision: "stop", note: "Enough" })).draft;
    expect(draft).toMatchObject({ state: "ended", outcome: "cancelled", decision: { what: "stopped" } });
    await ctx.clock.advance(3 * 24 * 3_600_000);
    await pass();
    expect(await times()).toEqual([]);
  });

  it("ends by itself once its last time has passed", async () => {
    const { id } = await begin({ unit: "day", time: "09:30", times: 3 });
    expect(await times()).toHaveLength(3);
    await pass();
    expect((await show(id)).state).toBe("repeating");
    ctx.clock.jumpTo("2026-11-24T09:31:00Z");
    await pass();
    expect((await show(id)).state).toBe("ended");
    expect(await times()).toHaveLength(3);
  });

  it("tells why a post could not be made, and makes it once that is mended", async () => {
    const { id } = await begin({ unit: "week", time: "09:30" });
    await rowsOf(ctx.store, "UPDATE accounts SET status = 'disconnected' WHERE id = 'acc_blog'");
    ctx.clock.jumpTo("2026-11-29T12:00:00Z");
    await pass();
    expect((await show(id)).checks[0].error).toMatch(/blog/);
    await rowsOf(ctx.store, "UPDATE accounts SET status = 'connected' WHERE id = 'acc_blog'");
    await pass();
    expect((await show(id)).checks[0].error).toBeNull();
    expect((await times()).at(-1)).toBe("2026-12-12T09:30");
  });

  it("is refused where no time of it lies ahead", async () => {
    const content = {
      caption: "Late",
      targets: [{ accountId: "blog" }],
      repeat: { unit: "day", time: "09:30", from: "2026-01-01", until: "2026-02-01" },
    };
    const { draft } = await call("save_draft", content);
    expect(draft.checks[0].error).toMatch(/^repeat: no time of it lies ahead/);
    await expect(
      call("decide_draft", { id: draft.id, revision: 1, decision: "approve" }),
    ).rejects.toMatchObject({ kind: "conflict" });
    await expect(
      call("decide_draft", {
        id: draft.id,
        revision: 1,
        decision: "approve",
        scheduledAt: "2027-01-01T00:00:00Z",
      }),
    ).rejects.toThrow(/a series has times of its own/);
  });
});

describe("who cancels one time of a series", () => {
  const first = async (): Promise<{ id: string }> =>
    (await call("list_posts", { status: ["scheduled"] })).posts.at(-1);
  const questionOf = async (id: string): Promise<string> => {
    let question = "";
    const ask = async ({ text }: { text: string }): Promise<never> => {
      question = text;
      throw new Error("no");
    };
    await toolbox.call("cancel_post", { id }, callerOf(), { ask }).catch(() => {});
    return question;
  };

  it("is told before and after that the others still come, when, and how to stop them", async () => {
    const { id } = await begin({ unit: "week", time: "09:30", days: ["wed"] });
    const post = await first();
    const told =
      'It is one of the series "Daily". The others still come, the next on Wednesday 2 December 2026, 09:30';
    const question = await questionOf(post.id);
    expect(question).toContain(told);
    expect(question).toMatch(/ Say no where the whole series is to end: it is stopped instead\.$/);
    const { warnings } = await call("cancel_post", { id: post.id });
    expect(warnings).toEqual([expect.stringContaining(told)]);
    expect(warnings[0]).toContain(`call decide_draft with stop: ${id}`);
    // The next one is not made yet, and comes all the same.
    const next = await first();
    expect((await call("cancel_post", { id: next.id })).warnings[0]).toContain(
      "on Wednesday 9 December 2026",
    );
    expect(await show(id)).toMatchObject({ state: "repeating", outcome: "waiting" });
  });

  it("is told nothing where none comes any more", async () => {
    await begin({ unit: "day", time: "09:30", times: 2 });
    await call("cancel_post", { id: (await first()).id });
    expect((await call("cancel_post", { id: (await first()).id })).warnings).toBeUndefined();
  });
});
