import { afterEach, expect, it, vi } from "vitest";
import { followPosts, following } from "../../../../apps/page/channel/follow-posts.ts";
import { learnedPosts, loadStatus, status, troubleCount } from "../../../../apps/page/data/shared-data.ts";

afterEach(() => vi.unstubAllGlobals());

const statusWith = (failed: number) => ({
  publisher: { running: true },
  counts: { failed, unknownOutcome: 0, scheduled: 0, overdue: 0 },
  accountsToReconnect: [],
  accountsPaused: [],
  setupProblems: [],
});
const post = { id: "post_1", accountId: "acc_1", scheduledAt: "2026-11-21T09:00:00.000Z", platformUrl: null };
const sent = { ...post, status: "publishing", error: null } as const;
const refused = { ...post, status: "failed", error: "No.", updatedAt: "2026-11-21T09:00:01.000Z" } as const;

it("has cards and counts know what its message says, also where an older answer comes last", async () => {
  let failed = 0;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const answers: Readonly<Record<string, () => object>> = {
    get_status: () => statusWith(failed),
    get_post: () => ({ post: refused }),
    list_drafts: () => ({ drafts: [] }),
  };
  let statusReads = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    const tool = url.split("/").at(-1) ?? "";
    const result = answers[tool]?.();
    if (tool === "get_status" && ++statusReads === 1) await held;
    return Response.json({ result });
  });
  const stale = loadStatus();
  failed = 1;
  followPosts([sent]);
  expect(following.value).toBe(1);
  // Its message turns when all of it is over.
  await expect.poll(() => following.value).toBe(0);
  expect(learnedPosts.value.get("post_1")?.status).toBe("failed");
  expect(troubleCount.value).toBe(1);
  release();
  await stale;
  expect(status.value?.counts.failed).toBe(1);
});
