import { describe, expect, it } from "vitest";
import { finish } from "../../support/contract/ends.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import {
  duplicate,
  forbidden,
  invalidRequest,
  noCredits,
  problem,
  rateLimited,
  spendCap,
  usageCapped,
  withoutBody,
} from "./problems.ts";
import { createWorld } from "./world.ts";

const POST = "POST /2/tweets";

describe("what X answers to a post", () => {
  it.each([
    ["no credits", noCredits(), /credits .* used up.*Buy credits/],
    ["the spending limit", spendCap(), /spending limit .*Raise it/],
    ["a cap on its use", usageCapped(), /quota .*used up/],
    [
      "an app that may not",
      problem(403, "Client Forbidden", "…", "https://api.x.com/2/problems/client-forbidden"),
      /belongs to a project/,
    ],
    [
      "an app whose plan has not got it",
      {
        status: 403,
        json: {
          errors: [
            {
              code: 453,
              message:
                "You currently have access to a subset of X API V2 endpoints. If you need access to this endpoint, you may need a different access level.",
            },
          ],
        },
      },
      /belongs to a project/,
    ],
    [
      "an app that may only read",
      problem(
        403,
        "Forbidden",
        "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.",
      ),
      /Read and write/,
    ],
  ])("waits for whoever runs it on %s, and the channel stays connected", async (_what, answer, sentence) => {
    await using world = await createWorld();
    const account = await world.connect();
    world.fake.refusals.set(POST, answer);
    const { id } = await addPost(world.ctx, account);
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringMatching(sentence),
    });
    const row = await queryOf(world.ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    expect(row.status).toBe("connected");
    world.fake.refusals.clear();
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
  });

  it.each([
    ["a duplicate", duplicate(), /duplicate.*Change the text/],
    [
      "code 187",
      { status: 403, json: { errors: [{ code: 187, message: "Status is a duplicate." }] } },
      /duplicate/,
    ],
    ["too long a text", forbidden("Your Tweet text is too long."), /^caption: is longer/],
    [
      "too long a video",
      forbidden("This user is not allowed to post a video longer than 2 minutes."),
      /^mediaUrl: .*longer video/,
    ],
    ["media that are gone", invalidRequest("Your media IDs are invalid."), /Send the post again/],
    ["two cashtags", forbidden("Posts may contain at most one cashtag."), /^caption: .*cashtag/],
    ["anything it forbids", forbidden("You are not permitted to perform this action."), /does not permit/],
    [
      "a reply that it does not allow",
      forbidden(
        "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.",
      ),
      /does not allow this reply.*x\.com/,
    ],
    [
      "what it does not offer the account",
      forbidden("Your account is not permitted to access this feature."),
      /does not offer this to the account/,
    ],
    [
      "what it sells to large plans alone",
      forbidden("Quote-posting requires an Enterprise plan. It is not available on self-serve tiers."),
      /only to apps of its Enterprise plan.*address of the post/,
    ],
    ["an address", forbidden("The Tweet contains an invalid URL."), /^caption: .*address/],
    [
      "a post that is not there for it",
      problem(403, "Authorization Error", "…", "https://api.x.com/2/problems/not-authorized-for-resource"),
      /is gone, or X does not show it/,
    ],
    [
      "a request it does not know",
      invalidRequest("x"),
      /X refused the request with the error invalid-request/,
    ],
  ])("fails for %s", async (_what, answer, sentence) => {
    await using world = await createWorld();
    const { id } = await addPost(world.ctx, await world.connect());
    world.fake.refusals.set(POST, answer);
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(sentence),
      platform_post_id: null,
    });
    expect(world.fake.requests.filter((one) => one === POST)).toHaveLength(1);
  });

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

  it("asks for a person where the account is suspended", async () => {
    await using world = await createWorld();
    const { id } = await addPost(world.ctx, await world.connect());
    world.fake.refusals.set(
      POST,
      problem(403, "Forbidden", "Your account is suspended and is not permitted to access this feature."),
    );
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("suspended"),
    });
  });
});
