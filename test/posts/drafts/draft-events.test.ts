import { afterEach, beforeEach, expect, it } from "vitest";
import { describeOfPartly } from "../../../src/posts/drafts/draft-events.ts";
import { describeOfTheDay } from "../../../src/reporting/webhooks/reminders.ts";
import { rowsOf } from "../../support/handles.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
let accounts: string[];

beforeEach(async () => {
  service = await startService();
  accounts = [await service.addFeed(), await service.addFeed()];
  await service.call("create_webhook", {
    url: "https://hooks.example/",
    events: ["draft.waiting", "draft.decided", "draft.partly", "digest.daily"],
  });
  await service.call("create_webhook", {
    url: "https://hooks.example/narrow",
    events: ["draft.waiting"],
    accountId: accounts.slice(0, 1),
  });
});
afterEach(() => service[Symbol.asyncDispose]());

async function told(): Promise<any[]> {
  const rows = await rowsOf<{ event: string; snapshot: string }>(
    service.ctx.store,
    "SELECT event, snapshot FROM webhook_deliveries ORDER BY seq",
  );
  return rows.map(({ event, snapshot }) => ({ event, ...JSON.parse(snapshot) }));
}

async function submit(): Promise<{ id: string; revision: number }> {
  const content = {
    title: "Opening",
    caption: "We open",
    targets: accounts.map((accountId) => ({ accountId })),
  };
  const { draft } = await service.call("save_draft", content);
  expect(await told()).toEqual([]);
  return (await service.call("save_draft", { id: draft.id, revision: 1, submit: true })).draft;
}

it("tells of a draft that waits and of the decision, and only a webhook that may know all its channels", async () => {
  const { id, revision } = await submit();
  expect(await told()).toEqual([
    {
      event: "draft.waiting",
      draftId: id,
      title: "Opening",
      text: "We open",
      accountIds: accounts,
      scheduledAt: null,
      writtenBy: "This machine",
      decision: null,
      posts: [],
    },
  ]);
  await service.call("decide_draft", { id, revision, decision: "changes", note: "Shorter" });
  expect((await told()).slice(1)).toMatchObject([
    { event: "draft.decided", decision: { what: "changes", by: "This machine", note: "Shorter" }, posts: [] },
  ]);
});

it("tells once of a group that went out only in part, when all of it has ended", async () => {
  const { id, revision } = await submit();
  const { draft } = await service.call("decide_draft", { id, revision, decision: "approve" });
  const end = (at: number, status: string): Promise<unknown> =>
    rowsOf(service.ctx.store, `UPDATE posts SET status = '${status}' WHERE id = '${draft.posts[at].id}'`);
  const partly = async (): Promise<any[]> => (await told()).filter(({ event }) => event === "draft.partly");
  await end(0, "failed");
  await describeOfPartly(service.ctx);
  expect(await partly()).toEqual([]);
  await end(1, "published");
  await Promise.all([describeOfPartly(service.ctx), describeOfPartly(service.ctx)]);
  await describeOfPartly(service.ctx);
  expect(await partly()).toMatchObject([
    { draftId: id, posts: [{ status: "failed" }, { status: "published" }] },
  ]);
});

it("counts in the digest what waits for a decision", async () => {
  await submit();
  service.clock.jumpTo("2026-11-22T08:00:30Z");
  await describeOfTheDay(service.ctx);
  expect((await told()).at(-1)).toMatchObject({ event: "digest.daily", waitingDrafts: 1 });
});
