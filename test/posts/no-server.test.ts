import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/domain/time.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

/* What an answer leaves open about when posts go out: no server stays, no time was given, or it is over. */

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
const local = (tool: string, args: object): Promise<any> => service.call(tool, args, { isLocal: true });
const saved = async (args: object): Promise<any> =>
  service.call("save_draft", { caption: "Draft", targets: [{ accountId }], submit: true, ...args });
const waits = async (): Promise<string> =>
  (await service.call("schedule_post", { accountId, caption: "A", scheduledAt: at(HOUR) })).post.id;

const questionOf = (tool: string, args: object) => service.questionOf(tool, args);

it.each([
  ["schedule_post", async () => ({ accountId, caption: "A", scheduledAt: at(HOUR) })],
  ["update_post", async () => ({ id: await waits(), scheduledAt: at(2 * HOUR) })],
  ["change_posts", async () => ({ ids: [await waits()], shiftMinutes: 60 })],
  [
    "decide_draft",
    async () => {
      const { draft } = await saved({ scheduledAt: at(HOUR) });
      return { id: draft.id, revision: draft.revision, decision: "approve" };
    },
  ],
  [
    "get_status",
    async () => {
      await waits();
      return {};
    },
  ],
] as const)("%s says where posts go out only while this client is open", async (tool, args) => {
  const { warnings } = await local(tool, await args());
  expect(warnings.join("\n")).toMatch(
    /^No Posthorn server is running on this data folder, so (?:this post goes|posts go) out only while this client is open/m,
  );
});

it("nothing is said of it where nothing goes out later", async () => {
  expect((await local("get_status", {})).warnings).toBeUndefined();
  const id = await waits();
  for (const [tool, args] of [
    ["update_post", { id, caption: "B" }],
    ["change_posts", { ids: [id], cancel: true }],
  ] as const)
    expect(String((await local(tool, args)).warnings)).not.toContain("No Posthorn server");
});

describe("a channel that must be reconnected", () => {
  it("is not said to publish now, and how long its posts wait is named", async () => {
    const cut = { status: "reconnect_required", status_reason: "Its login was refused." } as const;
    await queryOf(service.ctx.store).updateTable("accounts").set(cut).where("id", "=", accountId).execute();
    const question = await questionOf("schedule_post", { accountId, caption: "A" });
    expect(question).toMatch(
      /^Publish on Feed of default, which must be reconnected, as soon as it is reconnected: “A”\? /,
    );
    expect(question).toContain(
      "A post may go out up to 1 hour late. Once the channel is reconnected, what is later than that fails.",
    );
  });
});

describe("a draft and its time", () => {
  it("says that an approval publishes it at once, where it has none", async () => {
    const NONE =
      "It has no time, so it is published as soon as a person approves it. Give scheduledAt or slot if that was not meant.";
    expect((await saved({})).warnings).toContain(NONE);
    const other = await service.addFeed();
    const targets = [{ accountId, scheduledAt: at(HOUR) }, { accountId: other }];
    expect((await saved({ targets })).warnings.join()).toContain("It has no time on 1 channel, so");
    for (const args of [{ scheduledAt: at(HOUR) }, { submit: false }])
      expect((await saved(args)).warnings.join()).not.toContain("It has no time");
  });

  it("says where it is over", async () => {
    await saved({ scheduledAt: at(MINUTE) });
    const told = async (): Promise<string> =>
      (await service.call("list_drafts", {})).drafts[0].checks[0].warnings.join();
    expect(await told()).toBe("");
    await service.clock.advance(2 * MINUTE);
    const passed = "Its time, Saturday 21 November 2026, 09:01 (UTC), has passed";
    expect(await told()).toBe(`${passed}: approved now, it goes out at once.`);
    await service.clock.advance(HOUR);
    expect(await told()).toBe(`${passed}, so it cannot be approved without another time.`);
  });

  it("among many, what goes out at once is counted, and a series has its name", async () => {
    const repeat = { unit: "week", days: ["mon"], time: "09:00", texts: ["One", "Two"] };
    const drafts: { id: string; revision: number }[] = [];
    for (const args of [{}, { scheduledAt: at(HOUR) }, { title: "Mondays", repeat, caption: null }]) {
      const { draft } = await saved(args);
      drafts.push({ id: draft.id, revision: draft.revision });
    }
    const question = await questionOf("decide_draft", { drafts, decision: "approve" });
    expect(question).toMatch(/^Approve 3 drafts\? 1 post goes out now\.\n1\. /);
    expect(question).toContain('\n3. The series "Mondays". Every week on Mon');
  });
});

it("a pause tells how many posts it fails, not of the first alone", async () => {
  for (const hours of [1, 2, 3])
    await service.call("schedule_post", { accountId, caption: "A", scheduledAt: at(hours * HOUR) });
  const { warnings } = await service.call("update_account", { accountId, paused: true });
  expect(warnings.join()).toContain("Should it be paused for a week, 3 of them fail.");
});

it("a series without an end says so, and is named before its channel is disconnected", async () => {
  const repeat = { unit: "day", time: "10:00" };
  const { draft, warnings } = await saved({ title: "Daily", repeat });
  expect(warnings.join()).toContain("repeat: has no end, so the series goes on until a person ends it.");
  expect((await saved({ repeat: { ...repeat, times: 2 } })).warnings.join()).not.toContain("has no end");
  await service.call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
  expect(await questionOf("disconnect_channel", { accountId })).toContain(
    '1 series is meant for it and cannot post before that: "Daily".',
  );
});

it("a time that may be meant otherwise is no guess to be sent at once", async () => {
  const told = (scheduledAt: string): Promise<string> =>
    service.call("schedule_post", { accountId, caption: "A", scheduledAt }).then(() => "", String);
  for (const text of ["08:00", "saturday 8:00", "this Saturday 8:00"])
    expect(await told(text), text).not.toContain("Send that");
  for (const text of ["18:00", "tomorrow 8:00", "monday 9:00"])
    expect(await told(text), text).toContain("Send that");
});
