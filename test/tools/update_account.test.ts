import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inspectAccount } from "../../src/channels/connecting/inspect.ts";
import { findAccountRow } from "../../src/store/queries/accounts.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { addAccount } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const update = (args: object, caller: object = {}): Promise<any> =>
  service.call("update_account", { accountId, ...args }, caller);
const refused = (args: object): Promise<string> =>
  update(args).then(
    () => "not refused",
    (error: Error) => `${Reflect.get(error, "kind")} ${error.message}`,
  );

const SLOTS = [{ days: ["mon", "fri"], times: ["09:30", "17:00"] }];

describe("update_account", () => {
  it("replaces the schedule, in the server's zone and without a gap where none is given", async () => {
    const { account, moved } = await update({ schedule: { slots: SLOTS } });
    expect(account.schedule).toEqual({ timezone: "UTC", slots: SLOTS, minGapMinutes: 0, paused: false });
    expect([account.utm, moved]).toEqual([null, []]);
    const berlin = { timezone: "Europe/Berlin", slots: SLOTS, minGapMinutes: 30 };
    expect((await update({ schedule: berlin })).account.schedule).toEqual({ ...berlin, paused: false });
    // As it is shown it may be given.
    expect((await update({ schedule: { ...berlin, paused: true } })).account.schedule.paused).toBe(true);
    expect((await update({ schedule: null, paused: false })).account.schedule).toBeNull();
    expect((await update({ schedule: { slots: [] } })).account.schedule).toBeNull();
  });

  it("keeps the zone of a channel without slots", async () => {
    const tokyo = { timezone: "Asia/Tokyo", slots: [] };
    expect((await update({ schedule: tokyo })).account.schedule).toMatchObject(tokyo);
    expect((await update({ paused: true })).account.schedule).toMatchObject({ ...tokyo, paused: true });
    expect((await update({ paused: false })).account.schedule).toMatchObject(tokyo);
  });

  it("takes days and times as people write them", async () => {
    const slots = [
      { days: ["Monday", "monday", "TUE", "Thurs."], times: ["9am", "9:00", "9 AM", "5:30 pm"] },
    ];
    const { account } = await update({ schedule: { slots } });
    expect(account.schedule.slots).toEqual([
      { days: ["mon", "mon", "tue", "thu"], times: ["09:00", "09:00", "09:00", "17:30"] },
    ]);
    for (const wrong of ["mo", "someday", "days"])
      expect(await refused({ schedule: { slots: [{ days: [wrong], times: ["9am"] }] } })).toMatch(
        /^invalid schedule\.slots\[0\]\.days\[0\]: must be one of "mon"/,
      );
  });

  it("leaves what is not given as it is", async () => {
    const utm = { source: "{provider}", medium: null, campaign: null };
    await update({ schedule: { slots: SLOTS }, utm: { source: "{provider}" }, paused: true });
    const { account } = await update({ name: "News" });
    expect(account).toMatchObject({ name: "News", schedule: { slots: SLOTS, paused: true }, utm });
    expect((await update({ utm: null })).account.utm).toBeNull();
    expect((await update({ utm: { source: "" } })).account.utm).toBeNull();
  });

  it("warns of a name that another channel has", async () => {
    await update({ name: "News" });
    const other = await service.addFeed();
    const called = `Another channel is called "news", too, so this one is called "news on Feed (${other.slice(-6)})" here. It can be given another name.`;
    expect((await service.call("update_account", { accountId: other, name: "news" })).warnings).toEqual([
      called,
    ]);
    expect((await update({ name: "Journal" })).warnings).toBeUndefined();
    // Who does not reach the other one learns nothing of it.
    expect((await update({ name: "news" }, { accountIds: [accountId] })).warnings).toBeUndefined();
  });

  it("changes nothing with dryRun", async () => {
    const before = (await service.call("list_accounts", {})).accounts;
    const shown = await update({ schedule: { slots: SLOTS }, name: "News", paused: true, dryRun: true });
    expect(shown).toMatchObject({ dryRun: true, account: { name: "News", schedule: { paused: true } } });
    expect((await service.call("list_accounts", {})).accounts).toEqual(before);
  });

  it.each([
    [{}, /^invalid Nothing to change\. Give one of name, schedule, paused, utm, move\./],
    [{ dryRun: true }, /^invalid Nothing to change/],
    [{ paused: null }, /^invalid paused: is empty, which counts as left out, so nothing is to change\./],
    [{ paused: "", name: "" }, /^invalid paused, name: are empty, which count as left out/],
    [
      { paused: true, schedule: { slots: [], paused: false } },
      /^invalid paused: differs from schedule\.paused/,
    ],
    [
      { schedule: { slots: [{ days: ["mon"], times: ["25:30"] }] } },
      /^invalid schedule\.slots.*times.*such as 09:30/,
    ],
    [{ schedule: { slots: SLOTS, timezone: "Berlin" } }, /^invalid schedule\.timezone.*IANA time zone/],
    [{ schedule: { slots: SLOTS, every: 1 } }, /^invalid schedule.*every/],
    [{ utm: { source: "{platform}" } }, /^invalid utm\.source.*\{provider\} and \{label\}/],
    [{ name: "\u200b" }, /^invalid name/],
    [{ accountId: "acc_none", paused: true }, /^not_found accountId/],
  ])("refuses %j", async (args, sentence) => {
    expect(await refused(args)).toMatch(sentence);
  });

  it("needs the permission and the account within reach", async () => {
    await expect(update({ paused: true }, { permissions: ["read", "publish"] })).rejects.toMatchObject({
      kind: "forbidden",
    });
    await expect(update({ paused: true }, { accountIds: ["acc_other"] })).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(update({ paused: true }, { ownerId: "other" })).rejects.toMatchObject({ kind: "not_found" });
  });

  it("is PATCH /accounts/{id}", async () => {
    const key = await service.keyFor("default");
    const answer = await service.ask(`PATCH /api/v1/accounts/${accountId}`, { key, json: { paused: true } });
    expect([answer.status, answer.json.account.schedule.paused]).toEqual([200, true]);
    const { json } = await service.ask(`GET /api/v1/accounts/${accountId}`, { key });
    expect(json.account).toEqual(answer.json.account);
    expect((await service.ask(`PATCH /api/v1/accounts/${accountId}`, { key, json: {} })).status).toBe(400);
    expect(
      (await service.ask("PATCH /api/v1/accounts/acc_none", { key, json: { paused: true } })).status,
    ).toBe(404);
  });

  it("adds to links what it says, in dry runs too, and once", async () => {
    await update({ utm: { source: "{provider}", campaign: "{label}" } });
    const scheduledAt = new Date(service.clock.now() + 3_600_000).toISOString();
    const args = {
      accountId,
      caption: "https://example.com/a",
      metadata: { link: "https://example.com/b" },
      scheduledAt,
    };
    const { post: shown } = await service.call("schedule_post", { ...args, dryRun: true });
    const { post } = await service.call("schedule_post", args);
    for (const one of [shown, post])
      expect([one.caption, one.metadata]).toEqual([
        "https://example.com/a?utm_source=feed",
        { link: "https://example.com/b?utm_source=feed" },
      ]);
    const same = await service.call("update_post", { id: post.id, caption: post.caption });
    expect(same.post.caption).toBe(post.caption);
    const changed = await service.call("update_post", {
      id: post.id,
      metadata: { link: "https://example.com/c" },
    });
    expect([changed.post.caption, changed.post.metadata]).toEqual([
      post.caption,
      { link: "https://example.com/c?utm_source=feed" },
    ]);
    await update({ utm: null });
    const plain = await service.call("update_post", { id: post.id, caption: "https://example.com/d" });
    expect(plain.post.caption).toBe("https://example.com/d");
  });

  it("gives a name that the platform's own does not replace", async () => {
    await using ctx = await createTestContext({
      platformList: [
        scriptedPlatform({
          publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
          inspect: async () => ({ name: "Its own name", problem: null }),
        }),
      ],
    });
    const named = await addAccount(ctx, { name: "Mine", is_renamed: 1 });
    const other = await addAccount(ctx);
    for (const one of [named, other]) await inspectAccount(ctx, one);
    const { ownerId } = callerOf();
    expect((await findAccountRow(ctx.store, ownerId, named.id))?.name).toBe("Mine");
    expect((await findAccountRow(ctx.store, ownerId, other.id))?.name).toBe("Its own name");
  });
});
