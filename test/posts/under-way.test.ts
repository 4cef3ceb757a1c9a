import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/domain/time.ts";
import { queryOf } from "../support/handles.ts";
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
  ])("is refused by %s with what is true of it, and what can be done", async (tool, args) => {
    const id = await lost();
    const call = service.call(tool, { ...(tool === "change_posts" ? { ids: [id] } : { id }), ...args });
    await expect(call).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining(
        `It was sent and the answer was lost, so it may be out already. It is looked at again at ${at(2 * MINUTE)}`,
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

describe("a retry with changes that would be dropped", () => {
  it("is refused with the next step; one whose changes are there already is done", async () => {
    const id = await schedule();
    await setPost(id, { error: "It answers 503.", tries: 1, next_at: service.clock.now() + MINUTE });
    await expect(service.call("retry_post", { id, caption: "Kind words" })).rejects.toThrow(
      `It waits for its next try at ${at(MINUTE)}. Change it with update_post`,
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
  });
});

it("a post for now on a paused channel is not said to go out at once, and its limit is told", async () => {
  await service.call("update_account", { accountId, paused: true });
  const { warnings } = await service.call("schedule_post", { accountId, caption: "Now", dryRun: true });
  expect(warnings).toEqual([
    expect.stringMatching(/is paused, so the post waits.*resumed\. .* up to 1 hour late; .* fails\.$/),
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
    expect.stringMatching(/^1 post here was live and was taken down: “Hello” \(post_gone\) at .*\.$/),
  ]);
  const { rows } = await service.call("get_report", { by: "post" });
  expect(rows.map(({ key }: { key: string }) => key)).toEqual(["post_kept"]);
});
