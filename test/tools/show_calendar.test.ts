import { expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import showCalendar from "../../tools/show_calendar.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";
import { startService } from "../support/service.ts";

it("answers whole posts and the window they lie in", async () => {
  await using ctx = await createTestContext();
  await addAccount(ctx.store, { id: "acc_1" });
  await addPosts(ctx.store, [{ id: "post_1", caption: "Hello", scheduledAt: "2026-11-24T08:00:00Z" }]);
  const { result } = await createToolbox(ctx, [showCalendar]).call(
    "show_calendar",
    { from: "2026-11-23", to: "2026-11-29" },
    callerOf(),
  );
  expect(result).toMatchObject({
    posts: [{ id: "post_1", caption: "Hello", scheduledAt: "2026-11-24T08:00:00.000Z" }],
    names: { acc_1: "acc_1" },
    from: "2026-11-23T00:00:00.000Z",
    to: "2026-11-29T23:59:59.999Z",
    timezone: "UTC",
  });
});

it("names every copy of what is next, and no other post of that time", async () => {
  await using service = await startService();
  const accounts = [await service.addFeed(), await service.addFeed(), await service.addFeed()];
  const next = async (): Promise<string[][]> =>
    (await service.call("show_calendar", { status: ["scheduled"], limit: 1 })).posts.map((post: any) => [
      post.caption,
      post.accountId,
    ]);
  const [first, second, third] = accounts;
  const scheduledAt = "2027-02-01T09:00:00Z";
  const post = (accountId: unknown, caption: string) => ({ accountId, caption, scheduledAt });
  const posts = [post(first, "News"), post(second, "News"), post(third, "Others")];
  await service.call("schedule_posts", { posts });
  // Which one of a moment comes first its id says.
  const shown = (await next()).sort();
  const news = [
    ["News", first],
    ["News", second],
  ].sort();
  expect(shown).toEqual(shown[0]?.[0] === "News" ? news : [["Others", third]]);
  // A draft's posts are copies, whatever each channel is told.
  const targets = [{ accountId: first }, { accountId: third, caption: "Shorter" }];
  const { draft } = await service.call("save_draft", {
    caption: "Draft",
    targets,
    scheduledAt: "2027-01-01T09:00:00Z",
  });
  await service.call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
  expect((await next()).sort()).toEqual(
    [
      ["Draft", first],
      ["Shorter", third],
    ].sort(),
  );
});
