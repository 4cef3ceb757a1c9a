import { describe, expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import listPosts from "../../tools/list_posts.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

describe("list_posts", () => {
  it("answers a page of 50 unless told otherwise, each post with all its fields", async () => {
    await using ctx = await createTestContext();
    await addAccount(ctx.store, { id: "acc_1" });
    await addPosts(
      ctx.store,
      Array.from({ length: 60 }, (_, at) => ({
        id: `post_${at}`,
        caption: `Number ${at}`,
        metadata: { title: "Grüße" },
      })),
    );
    const toolbox = createToolbox(ctx, [listPosts]);
    const { result } = await toolbox.call("list_posts", {}, callerOf());
    expect(result["posts"]).toHaveLength(50);
    expect(result["posts"]).toContainEqual({
      id: "post_59",
      accountId: "acc_1",
      provider: "feed",
      mediaUrl: "",
      scheduledAt: "2026-12-01T09:00:00.000Z",
      status: "scheduled",
      caption: "Number 59",
      metadata: { title: "Grüße" },
      leadMinutes: null,
      platformPostId: null,
      platformUrl: null,
      error: null,
      attempts: 0,
      publishedAt: null,
      createdAt: "1970-01-01T00:00:00.000Z",
      updatedAt: "1970-01-01T00:00:00.000Z",
    });
    const rest = await toolbox.call("list_posts", { limit: 500, cursor: result["nextCursor"] }, callerOf());
    expect(rest.result).toMatchObject({ nextCursor: null, posts: expect.objectContaining({ length: 10 }) });
  });

  it.each([
    [
      { status: ["lost"] },
      /^status\[0\]: must be one of "scheduled", "publishing", "uploaded", "published", "failed", "cancelled"\.$/,
    ],
    [{ limit: 501 }, /^limit: must be at most 500\.$/],
    [{ limit: 0 }, /^limit: must be at least 1\.$/],
    [{ accountId: [] }, /^accountId: is empty\. Give at least one item, or leave it out\.$/],
    [
      { accountIds: ["acc_1"] },
      /^"accountIds" is not a known field\. Did you mean accountId\? The fields are accountId, provider, status/,
    ],
  ])("refuses %j", async (args, sentence) => {
    await using ctx = await createTestContext();
    const call = createToolbox(ctx, [listPosts]).call("list_posts", args, callerOf());
    expect(await call.catch(agentsWordsFor)).toMatch(sentence);
  });

  it("needs the permission to read", async () => {
    await using ctx = await createTestContext();
    const call = createToolbox(ctx, [listPosts]).call("list_posts", {}, callerOf({ permissions: ["files"] }));
    await expect(call).rejects.toMatchObject({ kind: "forbidden" });
  });
});
