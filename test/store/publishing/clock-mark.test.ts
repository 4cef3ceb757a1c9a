import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { noteTime } from "../../../src/store/publishing/clock-mark.ts";
import { createTestContext } from "../../support/context.ts";
import { addAccount, addPost, readPost } from "../../support/publishing.ts";

describe("the time that is noted", () => {
  it("tells once that the clock went back, and brings forward what was put off, no post before its own time", async () => {
    await using ctx = await createTestContext();
    const { raw } = ctx.db;
    const now = ctx.clock.now();
    expect(noteTime(raw, now, SECOND)).toBe(0);
    const back = now - HOUR;
    const account = await addAccount(ctx, { next_allowed_at: now + 30 * SECOND });
    const free = await addAccount(ctx, { next_allowed_at: back - MINUTE });
    const retrying = await addPost(ctx, account, { scheduled_at: back - MINUTE, next_at: now + 10 * SECOND });
    const ahead = await addPost(ctx, account, { scheduled_at: now, next_at: now + 10 * SECOND });
    const waiting = await addPost(ctx, account, { scheduled_at: now + HOUR, due_at: now, next_at: now });

    expect(noteTime(raw, back, SECOND)).toBe(HOUR);
    // Another process notices it, too.
    expect(noteTime(raw, back + 1, SECOND)).toBe(0);

    const accounts = await ctx.db.query.selectFrom("accounts").select(["id", "next_allowed_at"]).execute();
    expect(accounts.find(({ id }) => id === account.id)?.next_allowed_at).toBe(back + 30 * SECOND);
    expect(accounts.find(({ id }) => id === free.id)?.next_allowed_at).toBe(back - MINUTE);
    expect((await readPost(ctx, retrying.id)).next_at).toBe(back + 10 * SECOND);
    expect((await readPost(ctx, ahead.id)).next_at).toBe(now);
    expect((await readPost(ctx, waiting.id)).next_at).toBe(now);
  });

  it("takes no notice of what daemons slew, and remembers the latest", async () => {
    await using ctx = await createTestContext();
    const { raw } = ctx.db;
    const now = ctx.clock.now();
    noteTime(raw, now, SECOND);
    expect(noteTime(raw, now - 600, SECOND)).toBe(0);
    expect(noteTime(raw, now - 1_200, SECOND)).toBe(1_200);
  });
});
