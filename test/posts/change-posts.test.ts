import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/domain/time.ts";
import { drain, readPost } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function schedule(args: object = {}): Promise<string> {
  const { post } = await service.call("schedule_post", {
    accountId,
    scheduledAt: at(HOUR),
    caption: "Hello",
    ...args,
  });
  return post.id;
}

const change = (args: object): Promise<any> => service.call("change_posts", args);

async function timesOf(...ids: string[]): Promise<string[]> {
  const rows = await Promise.all(ids.map((id) => readPost(service.ctx, id)));
  return rows.map((row) => new Date(row.scheduled_at).toISOString());
}

describe("moving several posts", () => {
  it("moves those of a time and leaves the rest, which then go out at their new time", async () => {
    const other = await service.addFeed();
    const [one, two] = [await schedule(), await schedule({ caption: "Two", scheduledAt: at(2 * HOUR) })];
    const elsewhere = await schedule({ accountId: other, caption: "Elsewhere" });
    const later = await schedule({ caption: "Later", scheduledAt: at(3 * DAY) });
    const answer = await change({ accountId: [accountId], to: at(DAY), shiftMinutes: 60 });
    expect(answer).toEqual({
      changed: [
        {
          id: one,
          accountId,
          scheduledAt: at(2 * HOUR),
          was: at(HOUR),
          status: "scheduled",
          text: "“Hello”",
        },
        {
          id: two,
          accountId,
          scheduledAt: at(3 * HOUR),
          was: at(2 * HOUR),
          status: "scheduled",
          text: "“Two”",
        },
      ],
      warnings: [
        expect.stringMatching(/^2 moved posts still go out within from and to: “Hello” \(post_\w+\), now /),
      ],
    });
    expect(await timesOf(elsewhere, later)).toEqual([at(HOUR), at(3 * DAY)]);
    const { posts } = await service.call("list_posts", { accountId: [accountId], status: ["scheduled"] });
    expect(posts.map((post: any) => post.id)).toEqual([later, two, one]);
    await service.clock.advance(2 * HOUR - MINUTE);
    await drain(service.ctx);
    expect((await readPost(service.ctx, one)).status).toBe("scheduled");
    await service.clock.advance(MINUTE);
    await drain(service.ctx);
    expect((await readPost(service.ctx, one)).status).toBe("published");
  });

  it("keeps the lead, and tells a post from its twin by its new time", async () => {
    const id = await schedule({ leadMinutes: 20 });
    await change({ ids: [id], shiftMinutes: 30 });
    const row = await readPost(service.ctx, id);
    expect(row.scheduled_at - row.due_at).toBe(20 * MINUTE);
    const twin = { accountId, caption: "Hello", scheduledAt: at(90 * MINUTE), dryRun: true };
    expect((await service.call("schedule_post", twin)).warnings.join()).toContain(id);
  });

  it("refuses a move into the past by name, and moves none", async () => {
    const [one, two] = [await schedule(), await schedule({ caption: "Two", scheduledAt: at(2 * HOUR) })];
    const call = change({ ids: [one, two], shiftMinutes: -90 });
    await expect(call).rejects.toThrow(
      new RegExp(`^None was changed\\. “Hello” \\(${one}\\): .* is in the past`),
    );
    await expect(call).rejects.not.toThrow(two);
    expect(await timesOf(one, two)).toEqual([at(HOUR), at(2 * HOUR)]);
  });

  it("tells of two posts of one minute once", async () => {
    const ids = [await schedule(), await schedule({ caption: "Other" })];
    const { warnings } = await change({ ids, toDay: "2027-01-15" });
    expect(warnings.filter((one: string) => one.includes("same minute"))).toHaveLength(1);
  });

  it("shows what would be, and stores nothing", async () => {
    const id = await schedule();
    expect(await change({ ids: [id], shiftMinutes: 60, dryRun: true })).toEqual({
      changed: [
        { id, accountId, scheduledAt: at(2 * HOUR), was: at(HOUR), status: "scheduled", text: "“Hello”" },
      ],
      warnings: [],
      dryRun: true,
    });
    expect((await change({ ids: [id], cancel: true, dryRun: true })).changed[0].status).toBe("cancelled");
    expect(await timesOf(id)).toEqual([at(HOUR)]);
    expect((await service.call("list_posts", { status: ["scheduled"] })).posts).toHaveLength(1);
  });
});

describe("moving posts to a day", () => {
  const inBerlin = (slots: object = []): Promise<any> =>
    service.call("update_account", { accountId, schedule: { timezone: "Europe/Berlin", slots } });

  it("keeps each one's time of day, and those that are there already where they are", async () => {
    const ids = [];
    for (const time of ["2026-11-27T09:00:30", "2026-11-28T18:15", "2026-11-30T07:00"])
      ids.push(await schedule({ scheduledAt: `${time}Z`, caption: time }));
    const { changed } = await change({ from: "2026-11-27", to: "2026-11-30", toDay: "2026-11-30" });
    expect(changed.map((post: any) => post.scheduledAt)).toEqual([
      "2026-11-30T07:00:00.000Z",
      "2026-11-30T09:00:30.000Z",
      "2026-11-30T18:15:00.000Z",
    ]);
    expect(await timesOf(...ids)).toHaveLength(3);
  });

  it.each([
    ["over the change to summer time", "2027-03-20T09:00+01:00", "2027-04-01", "2027-04-01T09:00+02:00"],
    ["to a time that is skipped there", "2027-03-20T02:30+01:00", "2027-03-28", "2027-03-28T03:00+02:00"],
    ["to a time that comes twice", "2027-10-20T02:30+02:00", "2027-10-31", "2027-10-31T02:30+02:00"],
    [
      "whose day there is another than in UTC",
      "2027-01-10T00:30+01:00",
      "2027-01-12",
      "2027-01-12T00:30+01:00",
    ],
  ])("goes by the channel's clock: %s", async (_what, scheduledAt, toDay, expected) => {
    await inBerlin();
    const id = await schedule({ scheduledAt });
    const { changed } = await change({ ids: [id], toDay });
    expect(changed[0].scheduledAt).toBe(new Date(expected).toISOString());
  });

  it("frees the slots that they leave, and is shown before", async () => {
    await inBerlin([{ days: ["fri"], times: ["09:00"] }]);
    const { post } = await service.call("schedule_post", { accountId, slot: "next", caption: "Slot" });
    const day = new Date(Date.parse(post.scheduledAt) + 3 * DAY).toISOString().slice(0, 10);
    expect((await change({ ids: [post.id], toDay: day, dryRun: true })).dryRun).toBe(true);
    await change({ ids: [post.id], toDay: day });
    expect((await readPost(service.ctx, post.id)).slot_at).toBeNull();
    const next = await service.call("schedule_post", { accountId, slot: "next", caption: "Next" });
    expect(next.post.scheduledAt).toBe(post.scheduledAt);
  });

  it.each([
    [
      "a day in words",
      "Friday",
      /^toDay: "Friday" is not a date\. Did you mean 20\d\d-\d\d-\d\d\? Send that\./,
    ],
    [
      "the name of today",
      "saturday",
      /^toDay: "saturday" is not a date\. Did you mean 2026-11-21, or 2026-11-28\? Ask the person which\./,
    ],
    ["a day of next week", "next friday", /Did you mean 2026-11-27\?/],
    ["a word", "soon", /^toDay: must be a date such as 2031-01-30, not "soon"\./],
    ["a day that no calendar holds", "2027-02-30", /^toDay: .*that month has 28 days/],
    ["a day that is over", "2020-01-01", /^None was changed\..* is in the past/],
    ["a day far away", "9999-01-01", /^toDay: .* is out of range/],
    ["a time", "2027-02-03T09:00", /^toDay: must be a date such as/],
    ["nothing", "", /^toDay: is empty\. Give a date such as/],
  ])("refuses %s, and moves none", async (_what, toDay, sentence) => {
    const id = await schedule();
    await expect(change({ ids: [id], toDay })).rejects.toThrow(sentence);
    await expect(change({ ids: [id], toDay })).rejects.toMatchObject({ kind: "invalid" });
    expect(await timesOf(id)).toEqual([at(HOUR)]);
  });
});

it("offers the weekday of the posts' own week too, nearest first, and no day that is over", async () => {
  const id = await schedule({ scheduledAt: "2026-12-07T09:00:00Z" });
  await expect(change({ ids: [id], toDay: "friday" })).rejects.toThrow(
    /Did you mean 2026-12-11, or 2026-11-27\? Ask the person which\./,
  );
  // Of a Saturday, the Friday may be the one before it or the next.
  const saturday = await schedule({ caption: "Late", scheduledAt: "2026-12-05T09:00:00Z" });
  service.clock.jumpTo("2026-11-28T00:05:00Z");
  await expect(change({ ids: [saturday], toDay: "Friday" })).rejects.toThrow(
    /Did you mean 2026-12-04, or 2026-12-11\? Ask the person which\./,
  );
  await expect(change({ ids: [saturday], toDay: "sunday" })).rejects.toThrow(
    /Did you mean 2026-12-06, or 2026-11-29\? Ask the person which\./,
  );
  await expect(change({ ids: [id], toDay: "some friday soon" })).rejects.toThrow(/must be a date/);
  await expect(change({ ids: [id], toDay: "yesterday" })).rejects.toThrow(/must be a date such as/);
});

describe("cancelling several posts", () => {
  it("cancels all that wait on an account, once with a key", async () => {
    const ids = [await schedule(), await schedule({ caption: "Two" })];
    const call = { accountId: [accountId], cancel: true, idempotencyKey: "k" };
    const answer = await change(call);
    expect(answer.changed.map((post: any) => post.status)).toEqual(["cancelled", "cancelled"]);
    expect(await change(call)).toEqual(answer);
    await service.clock.advance(2 * HOUR);
    await drain(service.ctx);
    for (const id of ids) expect((await readPost(service.ctx, id)).status).toBe("cancelled");
    expect((await change({ accountId: [accountId], cancel: true })).warnings).toEqual([
      expect.stringMatching(/No waiting post fits/),
    ]);
  });

  it("cancels none where one does not wait any more, or is not there", async () => {
    const [one, two] = [await schedule(), await schedule({ caption: "Two" })];
    await service.call("cancel_post", { id: two });
    await expect(change({ ids: [one, two], cancel: true })).rejects.toThrow(
      new RegExp(`None was changed\\. “Two” \\(${two}\\): .*The post is cancelled`),
    );
    await expect(change({ ids: [one, "post_none"], cancel: true })).rejects.toMatchObject({
      kind: "not_found",
    });
    expect((await readPost(service.ctx, one)).status).toBe("scheduled");
  });
});

it.each([
  ["nothing", { shiftMinutes: 5 }, /Which posts\?/],
  ["both ways to say which", { ids: ["post_x"], from: "2026-01-01", shiftMinutes: 5 }, /Which posts\?/],
  ["no change", { ids: ["post_x"] }, /What is to be done with them\?/],
  ["a move by nothing", { ids: ["post_x"], shiftMinutes: 0 }, /What is to be done with them\?/],
  [
    "two changes",
    { ids: ["post_x"], shiftMinutes: 5, cancel: true },
    /shiftMinutes and cancel are given together\./,
  ],
  [
    "two moves",
    { ids: ["post_x"], shiftMinutes: 5, toDay: "2027-01-01" },
    /shiftMinutes and toDay are given/,
  ],
  ["an empty start", { from: "", to: "2027-01-01", cancel: true }, /^from: is empty\./],
  ["an empty end", { from: "2027-01-01", to: " ", cancel: true }, /^to: is empty\./],
])("refuses a wish with %s", async (_what, args, sentence) => {
  await expect(change(args)).rejects.toThrow(sentence);
});

it("takes 500 at once, quickly enough, and refuses a filter that fits more", async () => {
  const posts = Array.from({ length: 100 }, (_one, index) => ({
    accountId,
    caption: `Number ${index}`,
    scheduledAt: at(HOUR + index * MINUTE),
  }));
  for (let round = 0; round < 5; round++) await service.call("schedule_posts", { posts });
  expect((await change({ accountId: [accountId], shiftMinutes: 5 })).changed).toHaveLength(500);
  await schedule();
  await expect(change({ accountId: [accountId], shiftMinutes: 5 })).rejects.toThrow(/More than 500/);
});

it("does not touch what a limited key cannot see", async () => {
  const id = await schedule();
  await queryOf(service.ctx.store)
    .updateTable("posts")
    .set({ owner_id: "other" })
    .where("id", "=", id)
    .execute();
  await expect(change({ ids: [id], cancel: true })).rejects.toMatchObject({ kind: "not_found" });
});
