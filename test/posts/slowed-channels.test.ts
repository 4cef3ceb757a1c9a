import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/domain/time.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

/* A channel that its platform asked to wait: what is asked, answered and listed names the same moment. */

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

/** A Saturday, 9:00. */
const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
const FREED = "Saturday 21 November 2026, 09:10 (UTC)";
const KEPT = `Feed takes no more posts from this channel for now. It goes out on ${FREED} at the earliest.`;

const slow = (id = accountId): Promise<unknown> =>
  queryOf(service.ctx.store)
    .updateTable("accounts")
    .set({ next_allowed_at: service.clock.now() + 10 * MINUTE, wait_cause: "rate_limit" })
    .where("id", "=", id)
    .execute();

const questionOf = (tool: string, args: object) => service.questionOf(tool, args);

const saved = async (args: object): Promise<any> =>
  service.call("save_draft", { caption: "Draft", targets: [{ accountId }], submit: true, ...args });

const waits = async (scheduledAt: string): Promise<string> =>
  (await service.call("schedule_post", { accountId, caption: "Waits", scheduledAt })).post.id;

describe("an answer about a post within the wait says when it goes out", () => {
  it.each([
    ["schedule_post", () => ({ accountId, caption: "A" })],
    ["schedule_post", () => ({ accountId, caption: "A", dryRun: true })],
    ["schedule_post", () => ({ accountId, caption: "A", scheduledAt: at(5 * MINUTE) })],
    ["save_draft", () => ({ caption: "A", targets: [{ accountId }] })],
    [
      "save_draft",
      () => ({ caption: "A", targets: [{ accountId }], scheduledAt: at(5 * MINUTE), submit: true }),
    ],
  ])("%s", async (tool, args) => {
    await slow();
    const { warnings } = await service.call(tool, args());
    expect(warnings).toContain(KEPT);
    expect(warnings.join()).not.toContain("at once");
  });

  it.each([
    ["schedule_posts", () => ({ posts: [{ accountId, caption: "A", scheduledAt: at(5 * MINUTE) }] })],
    [
      "import_posts",
      () => ({ csv: `channel,text,scheduledAt\n${accountId},A,${at(5 * MINUTE)}`, dryRun: true }),
    ],
  ])("%s", async (tool, args) => {
    await slow();
    expect(JSON.stringify(await service.call(tool, args()))).toContain(KEPT);
  });

  it("update_post, change_posts and what becomes of it at once", async () => {
    const id = await waits(at(2 * HOUR));
    await slow();
    const { warnings } = await service.call("update_post", { id, scheduledAt: at(5 * MINUTE) });
    expect(warnings).toContain(KEPT);
    const moved = await service.call("change_posts", { ids: [id], shiftMinutes: 1 });
    expect(moved.warnings).toContain(`“Waits” (${id}): ${KEPT}`);
    const toolbox = createToolbox(service.ctx, service.tools);
    const args = { accountId, caption: "Now" };
    const now = await toolbox.call("schedule_post", args, callerOf(), { waitMs: 0 });
    expect((now.result["warnings"] as string[]).filter((one) => one.includes(FREED))).toHaveLength(1);
  });

  it("but not where its time is later, or the channel is held back anyway", async () => {
    await slow();
    const args = { accountId, caption: "A", scheduledAt: at(HOUR), dryRun: true };
    expect((await service.call("schedule_post", args)).warnings).not.toContain(KEPT);
    await service.call("update_account", { accountId, paused: true });
    expect(
      (await service.call("schedule_post", { ...args, scheduledAt: at(MINUTE) })).warnings,
    ).not.toContain(KEPT);
  });

  it("a draft keeps nothing of it, which is over soon", async () => {
    await slow();
    await saved({});
    await service.clock.advance(HOUR);
    const { drafts } = await service.call("list_drafts", {});
    expect(drafts[0].checks).toMatchObject([{ warnings: [] }]);
  });
});

describe("a question says now only of what goes out now", () => {
  it.each([
    ["schedule_post", async () => ({ accountId, caption: "A" })],
    ["update_post", async () => ({ id: await waits(at(2 * HOUR)), scheduledAt: at(0) })],
    ["change_posts", async () => ({ ids: [await waits(at(30 * MINUTE))], shiftMinutes: -30 })],
    [
      "schedule_posts",
      async () => ({
        posts: [
          { accountId, caption: "A" },
          { accountId, caption: "B" },
        ],
      }),
    ],
    [
      "decide_draft",
      async () => {
        const { draft } = await saved({});
        return { id: draft.id, revision: draft.revision, decision: "approve" };
      },
    ],
  ] as const)("%s", async (tool, args) => {
    const given = await args();
    await slow();
    const question = await questionOf(tool, given);
    expect(question).toContain(`not before ${FREED}, as Feed takes no more posts before`);
    expect(question).not.toMatch(/\bnow\b|at the earliest/);
  });

  it("and counts them among others", async () => {
    const other = await service.addFeed();
    const both = [accountId, other].map((id) => ({ accountId: id, caption: "A" }));
    const { draft } = await saved({ targets: both.map(({ accountId: id }) => ({ accountId: id })) });
    await slow();
    expect(await questionOf("schedule_posts", { posts: both })).toMatch(/^Publish 2 posts, 1 of them now\? /);
    const decision = { id: draft.id, revision: draft.revision, decision: "approve" };
    expect(await questionOf("decide_draft", decision)).toContain(
      "It keeps 1 post until the channel may send more and publishes 1 post now.",
    );
  });
});

it("lists the channel, and the moment at which something goes out next", async () => {
  const [slowed, later] = [at(10 * MINUTE), at(HOUR)];
  await waits(at(5 * MINUTE));
  await slow();
  const { accounts } = await service.call("list_accounts", {});
  const told = `Feed takes no more posts from this channel for now. The next one goes out on ${FREED} at the earliest.`;
  expect(accounts.find(({ id }: { id: string }) => id === accountId)).toMatchObject({
    status: "connected",
    statusReason: told,
  });
  const status = await service.call("get_status", {});
  expect(status.warnings).toContain(`Feed of default: ${told}`);
  expect(status.nextDueAt).toBe(slowed);
  const second = await service.addFeed();
  await service.call("schedule_post", { accountId: second, caption: "B", scheduledAt: later });
  expect((await service.call("get_status", {})).nextDueAt).toBe(slowed);
});
