import { describe, expect, it } from "vitest";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { problem, rateLimited, withoutBody } from "./problems.ts";
import { createWorld } from "./world.ts";

const POST = "POST /2/tweets";

describe("what X answers to a post", () => {
  it("waits as x-rate-limit-reset says", async () => {
    await using world = await createWorld();
    const { ctx, fake } = world;
    const { id } = await addPost(ctx, await world.connect());
    const resetAt = ctx.clock.now() + 7 * 60_000;
    fake.refusals.set(POST, rateLimited(resetAt));
    await drain(ctx);
    expect((await readPost(ctx, id)).next_at).toBe(resetAt);
    fake.refusals.clear();
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.posts.heads).toHaveLength(1);
  });

  it.each([
    ["that has no reason", withoutBody(403), 10_000],
    [
      "that does not know a good token",
      problem(
        403,
        "Unsupported Authentication",
        "Authenticating with Unknown is forbidden for this endpoint. Supported authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].",
        "https://api.x.com/2/problems/unsupported-authentication",
      ),
      10_000,
    ],
    [
      "of what looks automated",
      {
        status: 403,
        json: { errors: [{ code: 226, message: "This request looks like it might be automated." }] },
      },
      900_000,
    ],
  ])("tries again after a refusal %s", async (_what, answer, withinMs) => {
    await using world = await createWorld();
    const { ctx, fake } = world;
    const { id } = await addPost(ctx, await world.connect());
    fake.refusals.set(POST, answer);
    await drain(ctx);
    const waiting = await readPost(ctx, id);
    expect(waiting).toMatchObject({ status: "scheduled" });
    expect((waiting.next_at ?? 0) - ctx.clock.now()).toBeLessThanOrEqual(withinMs);
    fake.refusals.clear();
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect(fake.posts.heads).toHaveLength(1);
  });
});
