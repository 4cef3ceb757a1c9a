import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { askToPublish } from "../../src/posts/questions.ts";
import { askToRelease } from "../../src/posts/update-account.ts";
import { callOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { drain, readPost } from "../support/publishing.ts";
import { addResult } from "../support/results.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function schedule(args: object = {}): Promise<string> {
  const body = { accountId, caption: "Hello", scheduledAt: at(HOUR), ...args };
  return (await service.call("schedule_post", body)).post.id;
}

const setPost = (id: string, set: object): Promise<unknown> =>
  queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", id).execute();

/** One that was sent, and whose answer was lost. */
async function lost(): Promise<string> {
  const id = await schedule({ scheduledAt: at(MINUTE) });
  await service.clock.advance(2 * MINUTE);
  await setPost(id, { status: "publishing", in_doubt: 1, next_at: service.clock.now() + 2 * MINUTE });
  return id;
}

describe("a post whose answer was lost", () => {
  it.each([
    ["cancel_post", {}],
    ["update_post", { caption: "Other" }],
    ["change_posts", { cancel: true }],
    ["resolve_post", { outcome: "dismissed" }],
    ["resolve_post", { outcome: "published" }],
    ["retry_post", { caption: "Other" }],
    ["retry_post", {}],
  ])("is refused by %s with what is true of it, and what can be done", async (tool, args) => {
    const id = await lost();
    const call = service.call(tool, { ...(tool === "change_posts" ? { ids: [id] } : { id }), ...args });
    await expect(call).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining(
        "It was sent and the answer was lost, so it may be out already. It is looked at again on Saturday 21 November 2026, 09:04 (UTC)",
      ),
    });
    await expect(call).rejects.toThrow(/pause its channel with update_account\.$/);
    await expect(call).rejects.not.toThrow(/right now|is known|Nothing is to be done/);
  });

  it("is told to who empties the time in which it may go out", async () => {
    const id = await lost();
    const window = { from: at(0), to: at(HOUR), cancel: true };
    const { warnings } = await service.call("change_posts", window);
    expect(warnings.join()).toContain(
      `1 post is under way and not changed by this, and may go out, or be out`,
    );
    expect(warnings.join()).toContain(id);
    expect((await service.call("get_status", {})).nextDueAt).toBe(at(2 * MINUTE));
  });

  it("is told to who pauses, resumes, disconnects and connects again, and says itself that it is held", async () => {
    const id = await lost();
    const told = /1 post is under way and may be out already: “Hello”, which was due on /;
    const paused = await service.call("update_account", { accountId, paused: true });
    expect(paused.warnings).toEqual([expect.stringMatching(told)]);
    expect((await service.call("get_post", { id })).post.error).toMatch(
      /not known yet whether it is out.*is paused, so the post waits/,
    );
    const resumed = await service.call("update_account", { accountId, paused: false });
    expect(resumed.warnings).toEqual([expect.stringMatching(told)]);
    const { account } = await service.call("disconnect_channel", { accountId });
    expect(account.statusReason).toMatch(told);
    const again = await service.call("connect_channel", { accountId });
    expect(again.instructions).toMatch(told);
  });
});

describe("a post whose answer was lost, and whose channel lets nobody ask", () => {
  const holds = {
    refused: { status: "reconnect_required", status_reason: "Its login was refused." },
    disconnected: { status: "disconnected" },
    paused: { paused: 1 },
  } as const;
  const hold = (change: object): Promise<unknown> =>
    queryOf(service.ctx.store).updateTable("accounts").set(change).where("id", "=", accountId).execute();

  async function lostAndHeld(how: keyof typeof holds): Promise<string> {
    await hold({ status: "connected", status_reason: null, paused: 0 });
    const id = await lost();
    await hold(holds[how]);
    await service.clock.advance(5 * MINUTE);
    return id;
  }

  const CALLS = [
    ["cancel_post", {}],
    ["cancel_post", { fromPlatform: true }],
    ["update_post", { caption: "Other" }],
    ["change_posts", { cancel: true }],
    ["retry_post", {}],
    ["retry_post", { caption: "Other" }],
  ] as const;

  it.each(Object.keys(holds).flatMap((how) => CALLS.map(([tool, args]) => [how, tool, args] as const)))(
    "%s: %s %j is refused with what is to be done, and with no time that is over",
    async (how, tool, args) => {
      const id = await lostAndHeld(how as keyof typeof holds);
      const told = await service
        .call(tool, { ...(tool === "change_posts" ? { ids: [id] } : { id }), ...args })
        .then(() => "", String);
      expect(told).toContain("It was sent and the answer was lost, so it may be out already.");
      expect(told).toContain(how === "paused" ? "is paused" : "must be reconnected first");
      expect(told).toContain("Who has looked at the channel can settle it now.");
      expect(told).toContain(`Call resolve_post with id "${id}"`);
      expect(told.includes(`Call connect_channel with provider "feed" and accountId "${accountId}"`)).toBe(
        how !== "paused",
      );
      expect(told).not.toMatch(/2026/);
    },
  );

  it.each(Object.keys(holds) as (keyof typeof holds)[])("%s: a person settles it", async (how) => {
    const settle = (id: string, outcome: string): Promise<any> =>
      service.call("resolve_post", { id, outcome });
    const [seen, absent, unwanted] = [await lostAndHeld(how), await lostAndHeld(how), await lostAndHeld(how)];
    expect((await settle(seen, "published")).post).toMatchObject({ status: "published", error: null });
    expect((await settle(absent, "not_published")).post).toMatchObject({
      status: "failed",
      error: "It was settled as not published. Send it again.",
    });
    const { post } = await settle(unwanted, "dismissed");
    expect(post).toMatchObject({ status: "cancelled", error: expect.stringMatching(/unknown/) });
    await hold({ status: "connected", status_reason: null, paused: 0 });
    await drain(service.ctx);
    for (const id of [seen, absent, unwanted])
      expect(await readPost(service.ctx, id)).toMatchObject({
        attempts: 0,
        next_at: null,
        // What is dismissed may be live.
        in_doubt: id === unwanted ? 1 : 0,
      });
    expect((await service.call("retry_post", { id: absent })).post.status).toBe("scheduled");
    await drain(service.ctx);
    expect(await readPost(service.ctx, absent)).toMatchObject({ status: "published", attempts: 1 });
  });

  it("nobody settles what a publisher works on, or will ask about", async () => {
    const id = await lostAndHeld("refused");
    await setPost(id, { lease_worker: "wrk_other" });
    for (const outcome of ["published", "not_published", "dismissed"])
      await expect(service.call("resolve_post", { id, outcome })).rejects.toThrow(/right now/);
    await setPost(id, { lease_worker: null });
    await hold({ status: "connected" });
    for (const outcome of ["published", "not_published", "dismissed"])
      await expect(service.call("resolve_post", { id, outcome })).rejects.toThrow(
        /It is looked at again soon, or later/,
      );
  });

  it("says first that it was sent, and then what its channel needs", async () => {
    const id = await lostAndHeld("refused");
    await setPost(id, { error: "The channel Feed of default on Feed must be reconnected first. No." });
    const { post } = await service.call("get_post", { id });
    expect(post.error).toMatch(
      /^It was sent, and it is not known yet whether it is out\. .* must be reconnected first\. Its login was refused\.$/,
    );
    expect(post.error.match(/must be reconnected/g)).toHaveLength(1);
  });

  it("a failed one is not sent again: its channel is connected, or a person settles it", async () => {
    const id = await lostAndHeld("refused");
    await setPost(id, { status: "failed", next_at: null });
    for (const args of [{ id }, { id, caption: "Other" }])
      await expect(service.call("retry_post", args)).rejects.toThrow(
        /must be reconnected first\. Its login was refused\. Call connect_channel .* Who has looked at the channel can settle it now\. Call resolve_post/,
      );
  });
});

describe("a retry with changes that would be dropped", () => {
  it("is refused with the next step; one whose changes are there already is done", async () => {
    const id = await schedule();
    await setPost(id, { error: "It answers 503.", tries: 1, next_at: service.clock.now() + MINUTE });
    await expect(service.call("retry_post", { id, caption: "Kind words" })).rejects.toThrow(
      "It waits for its next try on Saturday 21 November 2026, 09:01:00 (UTC). Change it with update_post",
    );
    for (const args of [{ id }, { id, caption: "Hello" }])
      await expect(service.call("retry_post", args)).rejects.toThrow(
        /scheduled already\. Nothing is to be done/,
      );
    await setPost(id, { status: "published" });
    await expect(service.call("retry_post", { id, caption: "Kind words" })).rejects.toThrow(
      /Change it with edit_published_post/,
    );
  });

  it("says in the dry run of one without changes that it is sent as it was, and why it failed", async () => {
    const id = await schedule();
    await setPost(id, { status: "failed", next_at: null, error: "Feed refused it." });
    expect((await service.call("retry_post", { id, dryRun: true })).warnings).toEqual([
      "It is sent just as it was, at once. It failed before: Feed refused it.",
    ]);
    const refused = "Feed refused it. Change the post, then send it again.";
    await setPost(id, { error: refused });
    expect((await service.call("retry_post", { id })).warnings).toEqual([
      "Nothing of it was changed before it was sent again, though its refusal asked for that.",
    ]);
    await setPost(id, { status: "failed", next_at: null, error: refused });
    expect((await service.call("retry_post", { id, caption: "Other" })).warnings).toEqual([]);
  });

  it("is told of the channels there are where it names none", async () => {
    await expect(service.call("schedule_post", { accountId: null, caption: "Hello" })).rejects.toThrow(
      /^accountId: is required\. .*Take account ids from list_accounts\.$/,
    );
  });
});

it("a post for now on a paused channel is not said to go out at once, and its limit is told", async () => {
  await service.call("update_account", { accountId, paused: true });
  const { warnings } = await service.call("schedule_post", { accountId, caption: "Now", dryRun: true });
  expect(warnings).toEqual([
    expect.stringMatching(/is paused, so the post waits.*resumed\. .* up to 1 hour late\. .* fails\.$/),
  ]);
});

it("a post that was taken down is told in lists, and is in no report", async () => {
  const db = queryOf(service.ctx.store);
  const account = await db
    .selectFrom("accounts")
    .selectAll()
    .where("id", "=", accountId)
    .executeTakeFirstOrThrow();
  const shared = { at: service.clock.now() - MINUTE, media: "t", labels: [], figures: { likes: 3 } };
  await addResult(service.ctx, account, { ...shared, id: "post_kept" });
  const more = { status: "cancelled", caption: "Hello" } as const;
  await addResult(service.ctx, account, { ...shared, id: "post_gone" }, more);
  const { warnings } = await service.call("list_posts", {});
  expect(warnings).toEqual([
    expect.stringMatching(/^1 post here was live and was taken down: “Hello” \(post_gone\) on .*\.$/),
  ]);
  const { rows } = await service.call("get_report", { by: "post" });
  expect(rows.map(({ key }: { key: string }) => key)).toEqual(["post_kept"]);
});

describe("a channel that its platform asked to wait", () => {
  const wait = (ms: number): Promise<unknown> =>
    queryOf(service.ctx.store)
      .updateTable("accounts")
      .set({ next_allowed_at: service.clock.now() + ms, wait_cause: "rate_limit" })
      .where("id", "=", accountId)
      .execute();
  const THEN = /1 post goes out not before .*, 09:06 \(UTC\), as Feed takes no more posts before/;

  it("is not said to go on at once when it is resumed or connected again", async () => {
    await schedule({ scheduledAt: at(MINUTE) });
    await service.call("update_account", { accountId, paused: true });
    await service.clock.advance(2 * MINUTE);
    await wait(4.5 * MINUTE);
    const call = callOf(service.ctx);
    expect(await askToRelease(call, { accountId, paused: false })).toMatch(
      /^Resume Feed.*\? 1 post goes out not before .*, 09:06 \(UTC\), as Feed takes no more posts before\. .*, then: “Hello”/,
    );
    const dry = await service.call("update_account", { accountId, paused: false, dryRun: true });
    expect(dry.warnings).toEqual([expect.stringMatching(THEN)]);
    const { warnings } = await service.call("update_account", { accountId, paused: false });
    expect(warnings).toEqual([expect.stringMatching(THEN)]);
    expect(await askToPublish(call, { accountId, caption: "Now" })).toMatch(
      /^Publish on Feed.*, not before .*, 09:06 \(UTC\), as Feed takes no more posts before: “Now”/,
    );
    await service.call("disconnect_channel", { accountId });
    expect((await service.call("connect_channel", { accountId })).instructions).toMatch(
      /1 post goes out as soon as it is connected, but not before .*, 09:06 \(UTC\)/,
    );
  });

  it("keeps the moment of a post whose step is open, which is told to the second where it is near", async () => {
    const id = await lost();
    const { run } = await readPost(service.ctx, id);
    await queryOf(service.ctx.store)
      .insertInto("effects")
      .values({
        ...{ post_id: id, run, step: "send", state: "intent" as const, started_at: service.clock.now() },
        ...{ fence: 1, effect_key: "k", request_hash: "h", asked: 0 },
      })
      .execute();
    await service.call("update_account", { accountId, paused: true });
    const dry = await service.call("update_account", { accountId, paused: false, dryRun: true });
    expect(dry.warnings.join()).toMatch(
      /may be out already: “Hello”.* The next try is made later: that of “Hello” not before .*, 09:04 \(UTC\)\.$/,
    );
    await service.clock.advance(30.5 * SECOND);
    const { warnings } = await service.call("update_account", { accountId, paused: false });
    expect(warnings.join()).toMatch(/not before .*, 09:04:00 \(UTC\)\.$/);
    expect((await service.call("get_post", { id })).post.error).toMatch(
      /The next try is on .*, 09:04:00 \(UTC\)\.$/,
    );
  });
});

describe("a channel that is paused and without access", () => {
  it.each(["disconnected", "reconnect_required"] as const)("says both of its posts: %s", async (status) => {
    const id = await schedule({ scheduledAt: at(MINUTE) });
    await service.call("update_account", { accountId, paused: true });
    await queryOf(service.ctx.store)
      .updateTable("accounts")
      .set({ status, status_reason: "The token ended." })
      .where("id", "=", accountId)
      .execute();
    await service.clock.advance(2 * MINUTE);
    const both = /is paused, so the post waits .* It must be reconnected first\. The token ended\.$/;
    expect((await service.call("get_post", { id })).post.error).toMatch(both);
    await drain(service.ctx);
    expect((await readPost(service.ctx, id)).error).toMatch(both);
    expect((await service.call("get_post", { id })).post.error).toMatch(both);
    const { warnings } = await service.call("update_account", { accountId, paused: false });
    expect(warnings).toEqual([
      expect.stringMatching(
        /must be reconnected first\. The token ended\. .*connect_channel.* Until then nothing of it goes out\.$/,
      ),
    ]);
    expect((await service.call("get_post", { id })).post.error).toMatch(
      /^The channel .* must be reconnected/,
    );
  });
});

describe("two channels of one name of which one is disconnected", () => {
  const Twin = "Twin";
  let other: string;
  beforeEach(async () => {
    other = await service.addFeed();
    for (const id of [accountId, other]) await service.call("update_account", { accountId: id, name: Twin });
    await schedule({ scheduledAt: at(MINUTE) });
    await service.call("disconnect_channel", { accountId });
    await service.clock.advance(2 * MINUTE);
  });

  it.each([
    ["schedule_post", { caption: "Hello" }],
    ["change_posts", { cancel: true }],
    ["update_account", { paused: true }],
    ["save_draft", { targets: [{ accountId: Twin }] }],
    ["list_posts", {}],
    ["get_account_analytics", { from: "2026-11-20" }],
    ["disconnect_channel", {}],
    ["import_posts", { csv: "caption,scheduledAt\nHello,2031-01-01T10:00" }],
  ])("is refused by %s with both, and which of them is disconnected", async (tool, args) => {
    const given = tool === "list_posts" || tool === "change_posts" ? [Twin] : Twin;
    const where = tool === "save_draft" ? {} : { accountId: given };
    await expect(service.call(tool, { ...where, ...args })).rejects.toThrow(
      new RegExp(
        `"Twin" may be any of .* \\(${accountId}, disconnected\\), .* \\(${other}\\)\\. Give one of these`,
      ),
    );
  });

  it("means the disconnected one where it is connected again, which the answer names", async () => {
    const { account, instructions } = await service.call("connect_channel", { accountId: Twin });
    expect(account.id).toBe(accountId);
    expect(instructions).toMatch(/1 post goes out as soon as it is connected: “Hello”/);
  });
});

it("the answers that plan a post name its channel with the handle where another one has its name", async () => {
  await queryOf(service.ctx.store)
    .updateTable("accounts")
    .set({ name: "Twin", handle: "@one" })
    .where("id", "=", accountId)
    .execute();
  const post = { accountId, caption: "Hello", scheduledAt: at(HOUR) };
  expect((await service.call("schedule_post", post)).warnings).toEqual([]);
  const other = await service.addFeed();
  await queryOf(service.ctx.store)
    .updateTable("accounts")
    .set({ name: "Twin", handle: "@two" })
    .where("id", "=", other)
    .execute();
  const told = "It goes to Twin on Feed (@one). Another channel has that name, too.";
  const { post: _post, warnings } = await service.call("schedule_post", {
    ...post,
    caption: "Hello again",
    scheduledAt: at(2 * HOUR),
  });
  expect(warnings).toEqual([told]);
  const { draft, ...saved } = await service.call("save_draft", {
    caption: "Draft",
    targets: [{ accountId }],
    scheduledAt: at(HOUR),
    submit: true,
  });
  expect(saved.warnings).toEqual([told]);
  const decision = { id: draft.id, revision: draft.revision, decision: "approve" };
  expect((await service.call("decide_draft", decision)).warnings).toContain(told);
});
