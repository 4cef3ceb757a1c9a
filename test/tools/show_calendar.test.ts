import { expect, it } from "vitest";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import showCalendar from "../../tools/show_calendar.ts";
import { callerOf, createTestContext } from "../support/context.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

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
