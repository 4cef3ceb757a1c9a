import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { createTestContext } from "../../support/context.ts";
import { addAccount, addPost, readPost } from "../../support/publishing.ts";
import { queryOf } from "../../support/handles.ts";

describe("the time that is noted", () => {
  it("tells once that the clock went back, and brings forward what was put off, no post before its own time", async () => {
    await using ctx = await createTestContext();
    const { claims } = ctx.store;
    const now = ctx.clock.now();
    expect((await claims.noteTime(now, SECOND)).backMs).toBe(0);
    const back = now - HOUR;
    const account = await addAccount(ctx, { next_allowed_at: now + 30 * SECOND });
    const free = await addAccount(ctx, { next_allowed_at: back - MINUTE });
    const retrying = await addPost(ctx, account, { scheduled_at: back - MINUTE, next_at: now + 10 * SECOND });
    const ahead = await addPost(ctx, account, { scheduled_at: now, next_at: now + 10 * SECOND });
    const begun = { run: 1, fence: 1, effect_key: "k", request_hash: "h", asked: 0, started_at: now };
    for (const state of ["intent", "done"] as const)
      await queryOf(ctx.store)
        .insertInto("effects")
        .values({ ...begun, post_id: ahead.id, step: state, state })
        .execute();
    // Its process could not release it: others may send to it as soon as they could have.
    const hook = {
      id: "whk_1",
      owner_id: "own_1",
      address: "a",
      secrets_enc: "",
      events: "[]",
      status: "active" as const,
    };
    await queryOf(ctx.store)
      .insertInto("webhooks")
      .values({ ...hook, lease_worker: "wrk_1", lease_until: now + MINUTE, created_at: now, updated_at: now })
      .execute();
    const waiting = await addPost(ctx, account, { scheduled_at: now + HOUR, due_at: now, next_at: now });

    expect((await claims.noteTime(back, SECOND)).backMs).toBe(HOUR);
    // Another process notices it, too.
    expect((await claims.noteTime(back + 1, SECOND)).backMs).toBe(0);

    const accounts = await queryOf(ctx.store)
      .selectFrom("accounts")
      .select(["id", "next_allowed_at"])
      .execute();
    expect(accounts.find(({ id }) => id === account.id)?.next_allowed_at).toBe(back + 30 * SECOND);
    expect(accounts.find(({ id }) => id === free.id)?.next_allowed_at).toBe(back - MINUTE);
    const effects = await queryOf(ctx.store).selectFrom("effects").select(["step", "started_at"]).execute();
    expect(new Map(effects.map((row) => [row.step, row.started_at]))).toEqual(
      new Map([
        ["intent", back],
        ["done", now],
      ]),
    );
    const held = await queryOf(ctx.store)
      .selectFrom("webhooks")
      .select("lease_until")
      .executeTakeFirstOrThrow();
    expect(held.lease_until).toBe(back + MINUTE);
    expect((await readPost(ctx, retrying.id)).next_at).toBe(back + 10 * SECOND);
    expect((await readPost(ctx, ahead.id)).next_at).toBe(now);
    expect((await readPost(ctx, waiting.id)).next_at).toBe(now);
  });

  it("takes no notice of what daemons slew, and remembers the latest", async () => {
    await using ctx = await createTestContext();
    const { claims } = ctx.store;
    const now = ctx.clock.now();
    expect(await claims.noteTime(now, SECOND)).toEqual({ last: null, backMs: 0 });
    expect((await claims.noteTime(now - 600, SECOND)).backMs).toBe(0);
    expect((await claims.noteTime(now - 1_200, SECOND)).backMs).toBe(1_200);
  });
});
