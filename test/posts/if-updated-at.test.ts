import { afterEach, beforeEach, expect, it } from "vitest";
import { startService, type Service } from "../support/service.ts";

/* Who changes what they read some time ago takes back no change that others made since. */

let service: Service;
let post: any;
beforeEach(async () => {
  service = await startService();
  const accountId = await service.addFeed();
  const scheduledAt = new Date(service.clock.now() + 3_600_000).toISOString();
  ({ post } = await service.call("schedule_post", { accountId, scheduledAt, caption: "As read" }));
  service.clock.advance(1_000);
});
afterEach(() => service[Symbol.asyncDispose]());

const change = (args: object): Promise<any> => service.call("update_post", { id: post.id, ...args });
const caption = async (): Promise<string> => (await service.call("get_post", { id: post.id })).post.caption;

it("changes a post that is still as it was read", async () => {
  const { post: first } = await change({ caption: "Mine", ifUpdatedAt: post.updatedAt });
  expect(first).toMatchObject({ caption: "Mine" });
  service.clock.advance(1_000);
  await change({ caption: "Mine again", ifUpdatedAt: first.updatedAt });
  expect(await caption()).toBe("Mine again");
});

it("changes nothing where the post was changed meanwhile, and says where to look", async () => {
  await change({ caption: "Theirs" });
  await expect(change({ caption: "Mine", ifUpdatedAt: post.updatedAt })).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringMatching(/^The post was changed since it was read/),
  });
  expect(await caption()).toBe("Theirs");
  // Over HTTP, too.
  const answer = await service.ask(`PATCH /api/v1/posts/${post.id}`, {
    json: { caption: "Mine", ifUpdatedAt: post.updatedAt },
  });
  expect(answer.status).toBe(409);
  expect(await caption()).toBe("Theirs");
});

it("lets one of two through that change it in one moment", async () => {
  const both = await Promise.allSettled(
    ["One", "Two"].map((text) => change({ caption: text, ifUpdatedAt: post.updatedAt })),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

it("names what is no time, and asks for a change", async () => {
  await expect(change({ caption: "Mine", ifUpdatedAt: "soon" })).rejects.toMatchObject({ kind: "invalid" });
  await expect(change({ ifUpdatedAt: post.updatedAt })).rejects.toThrow(/Nothing to change/);
});
