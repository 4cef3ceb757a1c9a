import { afterEach, expect, it, vi } from "vitest";
import { learnedPosts } from "../../../../apps/page/data/shared-data.ts";
import { updateAsSeen } from "../../../../apps/page/post/update-as-seen.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";

afterEach(() => vi.unstubAllGlobals());

it("goes through once the person was told what others changed, and shows it everywhere", async () => {
  const seen = { id: "post_1", status: "scheduled", caption: "Old", updatedAt: "2026-11-21T09:00:00.000Z" };
  const now = { ...seen, caption: "New", updatedAt: "2026-11-21T09:00:01.000Z" };
  vi.stubGlobal("fetch", async (url: string, { body }: { body: string }) => {
    const isStale = url.endsWith("update_post") && JSON.parse(body).ifUpdatedAt !== now.updatedAt;
    return isStale
      ? Response.json({ error: "It was changed." }, { status: 409 })
      : Response.json({ result: { post: now } });
  });
  const post = seen as Post;
  await expect(updateAsSeen(post, {}, ["caption"])).rejects.toThrow("The text is now “New”.");
  expect(learnedPosts.value.get("post_1")?.caption).toBe("New");
  expect(await updateAsSeen(post, {}, ["caption"])).toEqual(now);
});
