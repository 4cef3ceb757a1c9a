import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY } from "../../src/domain/time.ts";
import { queryOf } from "../support/handles.ts";
import { send } from "../support/http.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service[Symbol.asyncDispose]());

async function addPublished(): Promise<string> {
  const accountId = await service.addFeed();
  const { post } = await service.call("schedule_post", { accountId, caption: "Hello", labels: ["news"] }, {});
  const at = service.ctx.clock.now() - 2 * DAY;
  const db = queryOf(service.ctx.store);
  await db.updateTable("posts").set({ status: "published", published_at: at, next_at: null }).execute();
  await db
    .insertInto("results")
    .values({
      ...{
        account_id: accountId,
        at,
        post_id: post.id,
        provider: "feed",
        media: "t",
        next_at: null,
        step: 4,
      },
      h24: "5,,,2,,,,",
    })
    .execute();
  return post.id;
}

describe("get_report", () => {
  it("answers the same as GET /report", async () => {
    const id = await addPublished();
    const told = await service.call("get_report", { by: "label", metric: "likes" }, {});
    expect(told.rows).toEqual([
      {
        ...{ key: "news", posts: 1, sampled: 1 },
        metrics: { views: { sum: 5, median: 5, posts: 1 }, likes: { sum: 2, median: 2, posts: 1 } },
      },
    ]);
    const key = await service.keyFor("default");
    const answer = await send(service.port, "GET /api/v1/report?by=post&metric=likes&at=24h&limit=5", {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.json.rows).toMatchObject([{ key: id, post: { text: "Hello" } }]);
  });

  it.each([
    [{ by: "moon" }, /^by/],
    [{ at: "2d" }, /^at/],
    [{ metric: "karma" }, /^metric/],
    [{ limit: 0 }, /^limit/],
    [{ from: "yesterday" }, /^from/],
  ])("refuses %j", async (args, sentence) => {
    await expect(service.call("get_report", args, {})).rejects.toThrow(sentence);
  });
});
