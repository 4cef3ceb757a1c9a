import { afterEach, expect, it, vi } from "vitest";
import { untilOver } from "../../../../apps/page/channel/until-over.ts";
import { learnedPosts, learnPosts } from "../../../../apps/page/data/learned-posts.ts";
import { inOrder } from "../../../../apps/shared/in-order.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";

afterEach(() => vi.unstubAllGlobals());

const SENT = {
  id: "post_1",
  accountId: "acc_1",
  status: "publishing",
  scheduledAt: "2026-11-21T09:00:00.000Z",
  platformUrl: null,
  error: null,
} as const;
const before = { ...SENT, updatedAt: "2026-11-21T09:00:00.000Z" } as unknown as Post;
const refused = { ...before, status: "failed", error: "No.", updatedAt: "2026-11-21T09:00:01.000Z" } as Post;

it("has cards and counts know what became of posts before it is said, and no older answer undoes that", async () => {
  const steps: string[] = [];
  vi.stubGlobal("fetch", async () => Response.json({ result: { post: refused } }));
  const onChange = async (): Promise<void> => {
    steps.push(`the counts, and the card says ${learnedPosts.value.get("post_1")?.status}`);
  };
  const ended = await untilOver([SENT], { onChange, onWait: () => {} });
  steps.push(`the message says ${ended[0]?.status}`);
  expect(steps).toEqual(["the counts, and the card says failed", "the message says failed"]);
  learnPosts([before]);
  expect(learnedPosts.value.get("post_1")?.status).toBe("failed");
});

it("drops an answer that was overtaken by that of a later question", async () => {
  const answers: ((value: number) => void)[] = [];
  const taken: number[] = [];
  const load = inOrder(
    () => new Promise<number>((resolve) => answers.push(resolve)),
    (answer) => taken.push(answer),
  );
  const loads = [load(), load()];
  answers[1]!(2);
  await loads[1];
  answers[0]!(1);
  await loads[0];
  expect(taken).toEqual([2]);
});
