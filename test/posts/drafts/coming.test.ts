import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startService, type Service } from "../../support/service.ts";

/* The test's clock stands on Saturday 21 November 2026: posts of a series are made until 5 December. */

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

async function begin(repeat: object = {}, more: object = {}): Promise<string> {
  const { draft } = await service.call("save_draft", {
    caption: "Daily",
    targets: [{ accountId }],
    repeat: { unit: "day", time: "09:30", ...repeat },
    ...more,
  });
  await service.call("decide_draft", { id: draft.id, revision: 1, decision: "approve" });
  return draft.id;
}

const questionOf = (tool: string, args: object) => service.questionOf(tool, args);

const WINDOW = { from: "2026-12-10", to: "2026-12-12" };
const TOLD =
  /^1 series posts in this time as well: "Daily", 3 times, the first on Thursday 10 December 2026, 09:30 \(UTC\)\. Its posts are not made yet, and /;

describe("a series whose posts are not made yet", () => {
  it("is told to who would cancel or move all of a time, and with no post there too", async () => {
    const id = await begin();
    const cancel = { ...WINDOW, cancel: true };
    const { changed, warnings } = await service.call("change_posts", cancel);
    expect(changed).toEqual([]);
    expect(warnings).toEqual(["No waiting post fits, so nothing was changed.", expect.stringMatching(TOLD)]);
    expect(warnings[1]).toMatch(/not changed by this\. To stop a series, call decide_draft with stop: /);
    expect(warnings[1]).toContain(id);
    await service.call("schedule_post", { accountId, caption: "Own", scheduledAt: "2026-12-11T12:00" });
    expect(await questionOf("change_posts", cancel)).toMatch(
      /^Cancel 1 waiting post\? .*\. 1 series posts in this time as well: "Daily", 3 times, the first on /,
    );
    const { warnings: dry } = await service.call("change_posts", {
      ...WINDOW,
      shiftMinutes: 60,
      dryRun: true,
    });
    expect(dry.filter((one: string) => TOLD.test(one))).toHaveLength(1);
    const other = await service.addFeed();
    for (const narrowed of [{ accountId: [other] }, { label: ["else"] }])
      expect((await service.call("change_posts", { ...cancel, ...narrowed })).warnings).toHaveLength(1);
    const all = await service.call("change_posts", { accountId: [accountId], cancel: true, dryRun: true });
    expect(all.warnings.join()).toMatch(/"Daily", more than 62 times, the first on Saturday 5 December/);
  });

  it("is told to who moves posts onto a day of it, on its channel", async () => {
    await begin();
    const move = async (account: string, toDay: string): Promise<string> => {
      const body = { accountId: account, caption: "Own", scheduledAt: "2026-11-30T12:00" };
      const { post } = await service.call("schedule_post", body);
      const args = { ids: [post.id], toDay };
      return (await service.call("change_posts", args)).warnings.join();
    };
    expect(await move(accountId, "2026-12-13")).toMatch(
      /^The series "Daily" posts on Sunday 13 December 2026, 09:30 \(UTC\) as well, a day that is moved to\. .*decide_draft/,
    );
    // There its post is seen.
    expect(await move(accountId, "2026-12-01")).toBe("");
    expect(await move(await service.addFeed(), "2026-12-13")).toBe("");
  });

  it("is told to who lists the posts of a time, as far as it fits", async () => {
    const id = await begin({}, { labels: ["tips"] });
    const list = async (args: object): Promise<string[]> =>
      (await service.call("list_posts", args)).warnings ?? [];
    for (const args of [
      {},
      { status: ["scheduled"] },
      { label: ["tips"] },
      { provider: ["feed"] },
      { draftId: id },
    ])
      expect(await list({ ...WINDOW, ...args })).toEqual([expect.stringMatching(TOLD)]);
    for (const args of [
      { status: ["failed"] },
      { label: ["else"] },
      { provider: ["bluesky"] },
      { accountId: ["acc_0"] },
      { search: "own" },
      { to: "2026-12-04", from: "2026-11-22" },
    ])
      expect(await list({ ...WINDOW, ...args })).toEqual([]);
    expect(await list({ status: ["scheduled"] })).toEqual([]);
  });

  it("stands in the calendar of what is scheduled", async () => {
    await begin();
    const series = async (args: object): Promise<any[]> =>
      (await service.call("show_calendar", { ...WINDOW, ...args })).series;
    expect(await series({ status: ["scheduled"] })).toMatchObject([{ text: "Daily" }]);
    expect((await series({ status: ["scheduled"] }))[0].coming).toHaveLength(3);
    expect(await series({ status: ["published"] })).toEqual([]);
  });

  it("says how often, where that is once, or of several", async () => {
    await begin({ unit: "week", days: ["fri"] }, { title: "Fridays" });
    await begin();
    const { warnings } = await service.call("list_posts", WINDOW);
    expect(warnings[0]).toMatch(/^2 series post in this time as well: /);
    expect(warnings[0]).toContain(`"Fridays", on Friday 11 December 2026, 09:30 (UTC)`);
  });
});
