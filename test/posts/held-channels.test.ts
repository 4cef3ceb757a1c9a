import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/domain/time.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

/* A channel that a person holds back, has to reconnect, or that its platform slowed: each tool that plans says so. */

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function waiting(): Promise<string> {
  const { post } = await service.call("schedule_post", {
    accountId,
    caption: "A",
    scheduledAt: at(3 * HOUR),
  });
  return post.id;
}

async function failed(): Promise<string> {
  const id = await waiting();
  const set = { status: "failed", error: "No.", next_at: null } as const;
  await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", id).execute();
  return id;
}

/** Each tool that plans a post, with what it takes; made before the channel is held. */
const PLANNING: Readonly<Record<string, readonly [string, () => Promise<object>]>> = {
  schedule_post: ["schedule_post", async () => ({ accountId, caption: "B", scheduledAt: at(HOUR) })],
  "schedule_post at once": ["schedule_post", async () => ({ accountId, caption: "B" })],
  schedule_posts: [
    "schedule_posts",
    async () => ({ posts: [{ accountId, caption: "B", scheduledAt: at(HOUR) }] }),
  ],
  update_post: ["update_post", async () => ({ id: await waiting(), scheduledAt: at(HOUR) })],
  "change_posts by minutes": ["change_posts", async () => ({ ids: [await waiting()], shiftMinutes: -60 })],
  "change_posts to a day": [
    "change_posts",
    async () => ({ ids: [await waiting()], toDay: at(DAY).slice(0, 10), dryRun: true }),
  ],
  "retry_post with changes": ["retry_post", async () => ({ id: await failed(), scheduledAt: at(HOUR) })],
  import_posts: [
    "import_posts",
    async () => ({ csv: `accountId,scheduledAt,caption\n${accountId},${at(HOUR)},B`, dryRun: false }),
  ],
  save_draft: [
    "save_draft",
    async () => ({ caption: "B", targets: [{ accountId }], scheduledAt: at(HOUR), submit: true }),
  ],
};

const HELD = {
  paused: [{ paused: 1 }, /is paused, so the post waits/],
  "to be reconnected": [{ status: "reconnect_required" }, /must be reconnected first/],
  slowed: [{ next_allowed_at: Date.UTC(2026, 11, 1), wait_cause: "rate_limit" }, /at the earliest/],
} as const;

describe.each(Object.entries(HELD))("a channel that is %s", (state, [set, told]) => {
  const hold = (): Promise<unknown> =>
    queryOf(service.ctx.store).updateTable("accounts").set(set).where("id", "=", accountId).execute();

  it.each(Object.entries(PLANNING))("is named by %s", async (_way, [tool, made]) => {
    const args = await made();
    await hold();
    // What failed is sent again once its channel can be used.
    const answer = await service.call(tool, args).catch((error: unknown) => String(error));
    expect(JSON.stringify(answer)).toMatch(told);
  });

  it("is named, or refuses, where a failed post is sent again as it was", async () => {
    const id = await failed();
    await hold();
    const again = service.call("retry_post", { id });
    if (state === "to be reconnected") await expect(again).rejects.toThrow(told);
    else expect((await again).warnings).toContainEqual(expect.stringMatching(told));
  });

  it("is named by a decision", async () => {
    const { draft } = await service.call("save_draft", {
      caption: "B",
      targets: [{ accountId }],
      scheduledAt: at(HOUR),
    });
    await hold();
    const decision = { id: draft.id, revision: draft.revision, decision: "approve" };
    const answer = await service.call("decide_draft", decision);
    if (state !== "slowed") expect(JSON.stringify(answer)).toMatch(told);
    else expect(answer.draft.state).toBe("scheduled");
  });
});
