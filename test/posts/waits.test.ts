import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Selectable, Updateable } from "kysely";
import { MINUTE, SECOND } from "../../src/domain/time.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { queryOf } from "../support/handles.ts";
import { warnOfWait } from "../../src/posts/outcomes.ts";
import { drain, runTick } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
let id: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
  id = (await service.call("schedule_post", { accountId, caption: "Due" })).post.id;
});
afterEach(() => service[Symbol.asyncDispose]());

const hold = (change: Updateable<Tables["accounts"]>): Promise<unknown> =>
  queryOf(service.ctx.store).updateTable("accounts").set(change).where("id", "=", accountId).execute();

const setPost = (change: Updateable<Tables["posts"]>): Promise<unknown> =>
  queryOf(service.ctx.store).updateTable("posts").set(change).where("id", "=", id).execute();

/** What each face says of it, which is one sentence. */
async function reason(): Promise<string | null> {
  const { post } = await service.call("get_post", { id });
  const { posts } = await service.call("list_posts", { accountId: [accountId] });
  const calendar = await service.call("show_calendar", {});
  const said = [post, ...posts, ...calendar.posts].filter((one: any) => one.id === id);
  expect(said).toHaveLength(3);
  const errors: (string | null)[] = said.map(({ error }: Selectable<Tables["posts"]>) => error);
  expect(new Set(errors).size).toBe(1);
  return errors[0] ?? null;
}

const soon = (): number => service.clock.now() + 5 * MINUTE;
const UNTIL = /This one waits until Saturday 21 November 2026, 09:05 \(UTC\)\.$/;

const SENT =
  "It was sent, and it is not known yet whether it is out. It is sent again, marked as the same post, or Feed is asked for it, so that it appears once. Nothing is to be done yet.";

describe("a due post that does not go out says why", () => {
  it.each([
    ["rate_limit", /^Feed takes no more posts from this channel for now\./],
    [
      "spacing",
      /^Posts of this channel whose time has come go out one after the other, the earliest first\./,
    ],
    ["order", /^An earlier post of this channel is tried again first\./],
  ] as const)("where its channel waits for a cause: %s", async (cause, why) => {
    await hold({ next_allowed_at: soon(), wait_cause: cause });
    await drain(service.ctx);
    expect(await reason()).toMatch(why);
    expect(await reason()).toMatch(UNTIL);
    await service.clock.advance(5 * MINUTE);
    await drain(service.ctx);
    expect(await reason()).toBeNull();
  });

  it("where another post of its channel is on its way", async () => {
    await hold({ in_flight_post: "post_other" });
    expect(await reason()).toBe(
      "It waits for the post before it on the channel Feed of default on Feed, which is on its way.",
    );
  });

  it("where its channel is paused or must be reconnected, before the next tick and after it", async () => {
    await hold({ paused: 1 });
    expect(await reason()).toMatch(/is paused, so the post waits/);
    await runTick(service.ctx);
    expect(await reason()).toMatch(/is paused, so the post waits/);
    await setPost({ error: null });
    await hold({ paused: 0, status: "reconnect_required", status_reason: "It ended." });
    expect(await reason()).toMatch(/must be reconnected first\. It ended\.$/);
  });

  it("where the platform is asked what became of it", async () => {
    await setPost({ status: "publishing", in_doubt: 1 });
    expect(await reason()).toBe(SENT);
  });

  it("where it is tried again later, and when", async () => {
    await queryOf(service.ctx.store)
      .insertInto("attempts")
      .values({
        id: "att_1",
        owner_id: "default",
        post_id: id,
        number: 1,
        run: 1,
        worker_id: "wrk_1",
        outcome: "retrying",
        error: "Feed asks to slow down.",
        lateness_ms: null,
        late_cause: null,
        started_at: service.clock.now(),
        finished_at: service.clock.now(),
      })
      .execute();
    await setPost({ status: "publishing", attempts: 1, next_at: soon() - 30 * SECOND });
    const next = "The next try is on Saturday 21 November 2026, 09:04 (UTC).";
    expect(await reason()).toBe(`Feed asks to slow down. ${next}`);
    await setPost({ in_doubt: 1 });
    expect(await reason()).toBe(`${SENT} Feed asks to slow down. ${next}`);
    await setPost({ next_at: service.clock.now() });
    expect(await reason()).toMatch(/Feed asks to slow down\.$/);
    await setPost({ next_at: soon() - 30 * SECOND });
    // What is tried again by itself is not to be changed and sent by a person.
    for (const advice of [
      "Change the post, then send it again.",
      "Change it, or look at the account on x.com, then send it again.",
      "Give a smaller one, then send the post again.",
    ])
      for (const quoted of ["", ' Feed says: "Validation failed"']) {
        await queryOf(service.ctx.store)
          .updateTable("attempts")
          .set({ error: `The server refused the request. ${advice}${quoted}` })
          .execute();
        const full = quoted === "" ? "" : ".";
        expect(await reason()).toBe(`${SENT} The server refused the request.${quoted}${full} ${next}`);
      }
    // What holds its channel back, a person does something about.
    await hold({ paused: 1 });
    expect(await reason()).not.toContain("Nothing is to be done");
  });

  it("in one sentence of a state: what is tried again later is not on its way", async () => {
    await setPost({ error: "The server answers 503.", next_at: soon() });
    const { post } = await service.call("get_post", { id });
    const again = "The server answers 503. It is tried again on Saturday 21 November 2026, 09:05 (UTC).";
    expect(post.error).toBe(again);
    expect((await warnOfWait({ ctx: service.ctx }, [post])).map(service.ctx.inWords)).toEqual([
      `The post is not out yet. ${again} Call get_post with id "${id}" later to see what became of it.`,
    ]);
  });

  it("but for what keeps its own reason, is on its way or is not due", async () => {
    await hold({ next_allowed_at: soon(), wait_cause: "rate_limit" });
    await setPost({ error: "The server answers 503." });
    expect(await reason()).toBe(
      "The server answers 503. It is tried again on Saturday 21 November 2026, 09:05 (UTC).",
    );
    await hold({ paused: 1 });
    expect(await reason()).toMatch(/^The server answers 503\. The channel .* is paused, so the post waits/);
    await hold({ paused: 0, next_allowed_at: 0 });
    await setPost({ error: 'Feed says: "Slow down"', next_at: soon() });
    expect(await reason()).toMatch(/^Feed says: "Slow down"\. It is tried again on .* 09:05 \(UTC\)\.$/);
    await setPost({ error: null, status: "publishing", in_doubt: 1, lease_worker: "wrk_1" });
    expect(await reason()).toBeNull();
    await setPost({
      status: "scheduled",
      in_doubt: 0,
      lease_worker: null,
      scheduled_at: service.clock.now() + SECOND,
    });
    expect(await reason()).toBeNull();
  });
});
