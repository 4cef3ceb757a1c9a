import { describe, expect, it } from "vitest";
import { createKey } from "../../src/access/api-keys.ts";
import { exportOwner, type ExportLine } from "../../src/reporting/export.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { startService } from "../support/service.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount as addChannel } from "../support/publishing.ts";
import { addResult } from "../support/results.ts";

async function lines(ctx: TestContext, owner: string): Promise<ExportLine[]> {
  const all: ExportLine[] = [];
  for await (const line of exportOwner(callOf(ctx, callerOf({ ownerId: owner })), "1.2.3")) all.push(line);
  return all;
}

describe("an export", () => {
  it("holds everything of one owner, and no secret", async () => {
    await using ctx = await createTestContext();
    await addAccount(ctx.store, { id: "acc_1" });
    await addAccount(ctx.store, { id: "acc_2", ownerId: "bob" });
    await queryOf(ctx.store).updateTable("accounts").set({ secrets_enc: "v1.sealed" }).execute();
    const { key } = await createKey(callOf(ctx), { name: "Script" });
    const count = 450;
    await addPosts(
      ctx.store,
      Array.from({ length: count }, (_, n) => ({
        id: `post_${String(n).padStart(4, "0")}`,
        caption: `Post ${n}`,
      })),
    );
    await addPosts(ctx.store, [{ id: "post_b", ownerId: "bob", accountId: "acc_2", caption: "Bob's" }]);
    const all = await lines(ctx, "default");
    expect(all.map(({ type }) => type)).toEqual([
      "export",
      "account",
      "key",
      ...Array(count).fill("post"),
      "end",
    ]);
    expect(all[0]).toMatchObject({ program: "posthorn", owner: "default", version: "1.2.3" });
    expect(all[3]).toMatchObject({ post: { id: "post_0000", caption: "Post 0" }, history: [] });
    expect(all.at(-1)).toEqual({
      type: "end",
      accounts: 1,
      keys: 1,
      webhooks: 0,
      drafts: 0,
      files: 0,
      posts: count,
    });
    const text = JSON.stringify(all);
    for (const secret of ["v1.sealed", key.split("_")[2] ?? "", "Bob's"]) expect(text).not.toContain(secret);
  });

  it("holds drafts, and what a plan says of posts", async () => {
    await using service = await startService();
    const accountId = await service.addFeed();
    const draft = { caption: "Drafted", targets: [{ accountId }], labels: ["one"], note: "Why" };
    const { id } = (await service.call("save_draft", draft)).draft;
    await service.call("decide_draft", { id, revision: 1, decision: "approve" });
    const all: ExportLine[] = [];
    for await (const line of exportOwner(callOf(service.ctx), "1.2.3")) all.push(line);
    expect(all.find(({ type }) => type === "draft")).toMatchObject({ draft: { id, state: "scheduled" } });
    expect(all.find(({ type }) => type === "post")).toMatchObject({
      draftId: id,
      labels: ["one"],
      note: "Why",
    });
    expect(all.at(-1)).toMatchObject({ drafts: 1, posts: 1 });
  });

  it("holds what platforms told of posts", async () => {
    await using ctx = await createTestContext();
    const account = await addChannel(ctx);
    const post = { at: ctx.clock.now(), media: "t", labels: [] };
    await addResult(ctx, account, { ...post, id: "post_a", figures: { likes: 0, views: 7 } });
    await addResult(ctx, account, { ...post, id: "post_b", figures: null });
    const posts = (await lines(ctx, "default")).filter(({ type }) => type === "post");
    expect(posts.map(({ results }) => results)).toEqual([{ "24h": { views: 7, likes: 0 } }, undefined]);
  });

  it("is refused for an owner that has nothing", async () => {
    await using ctx = await createTestContext();
    await expect(lines(ctx, "nobody")).rejects.toThrow('The owner "nobody" has nothing here');
  });
});
