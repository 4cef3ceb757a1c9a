import { afterAll, beforeAll, expect, it } from "vitest";
import { startService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** As it is sent, with the ids left out. */
function textOf(post: object): string {
  return JSON.stringify(post).replaceAll(/(?<=")(post|acc)_\w+/g, "$1_…");
}

const RECORD =
  '{"id":"post_…","accountId":"acc_…","provider":"feed","mediaUrl":"","scheduledAt":"2026-12-01T09:00:00.000Z",' +
  '"status":"scheduled","caption":"Hello","metadata":null,"leadMinutes":null,"platformPostId":null,"platformUrl":null,' +
  '"error":null,"attempts":0,"publishedAt":null,"createdAt":"2026-11-21T09:00:00.000Z","updatedAt":"2026-11-21T09:00:00.000Z"}';

it("is byte for byte the same, whichever way a post came to be", async () => {
  const accountId = await service.addFeed();
  const scheduledAt = "2026-12-01T09:00:00Z";
  const plan = { labels: ["one"], note: "Why" };
  const { post } = await service.call("schedule_post", { accountId, caption: "Hello", scheduledAt, ...plan });
  const content = { caption: "Hello", targets: [{ accountId }], scheduledAt, ...plan };
  const { draft } = await service.call("save_draft", content);
  await service.call("decide_draft", { id: draft.id, revision: 1, decision: "approve" });
  const slots = [{ days: ["tue"], times: ["09:00"] }];
  const other = await service.addFeed();
  await service.call("update_account", {
    accountId: other,
    schedule: { timezone: "UTC", slots, minGapMinutes: 0 },
  });
  service.clock.jumpTo("2026-11-24T09:00:00Z");
  const inSlot = await service.call("schedule_post", { accountId: other, caption: "Hello", slot: "next" });
  service.clock.jumpTo("2026-11-21T09:00:00Z");
  const all = (await service.ask("GET /api/v1/posts?limit=10")).json.posts;
  expect(all).toHaveLength(3);
  for (const one of [post, ...all]) {
    const shown =
      one.id === inSlot.post.id ? { ...one, createdAt: post.createdAt, updatedAt: post.updatedAt } : one;
    expect(textOf(shown)).toBe(RECORD);
  }
});
