import { NOTHING_CHANGED } from "../../src/posts/update-post.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/domain/time.ts";
import { makeSeriesPosts } from "../../src/posts/drafts/series.ts";
import { drain, readPost } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
const call = (tool: string, args: object): Promise<any> => service.call(tool, args);

async function schedule(args: object = {}): Promise<string> {
  const content = { accountId, scheduledAt: at(DAY), caption: "Hello", ...args };
  return (await call("schedule_post", content)).post.id;
}

async function fail(id: string): Promise<string> {
  await queryOf(service.ctx.store)
    .updateTable("posts")
    .set({ status: "failed", error: "No.", next_at: null })
    .where("id", "=", id)
    .execute();
  return id;
}

/** Each way to change a post, or to look at a change, that leaves it what it is: its warnings. */
const UNCHANGED: Readonly<Record<string, (id: string) => Promise<any>>> = {
  "update_post with its text": (id) => call("update_post", { id, caption: "Hello" }),
  "update_post with its time": (id) => call("update_post", { id, scheduledAt: at(DAY) }),
  "a dry run of update_post": (id) => call("update_post", { id, caption: "Hello", dryRun: true }),
  "a dry run of update_post without changes": (id) => call("update_post", { id, dryRun: true }),
  "change_posts there and back": async (id) => {
    const there = await call("change_posts", { ids: [id], shiftMinutes: 5 });
    const back = await call("change_posts", { ids: [id], shiftMinutes: -5 });
    return { warnings: [...there.warnings, ...back.warnings] };
  },
  "change_posts to its day": (id) => call("change_posts", { ids: [id], toDay: at(DAY).slice(0, 10) }),
  "a dry run of change_posts": (id) => call("change_posts", { ids: [id], shiftMinutes: 5, dryRun: true }),
  "retry_post with its text": async (id) =>
    call("retry_post", { id: await fail(id), caption: "Hello", scheduledAt: at(DAY) }),
  "a dry run of retry_post": async (id) =>
    call("retry_post", { id: await fail(id), scheduledAt: at(DAY), dryRun: true }),
};

describe.each(Object.entries(UNCHANGED))("%s", (_way, change) => {
  it("is no double of itself", async () => {
    const id = await schedule();
    const { warnings } = await change(id);
    expect(warnings.filter((one: string) => one !== NOTHING_CHANGED)).toEqual([]);
  });
});

/** Each way to make a waiting post what another one is. */
const DOUBLED: Readonly<Record<string, () => Promise<any>>> = {
  update_post: async () =>
    call("update_post", { id: await schedule({ caption: "Other" }), caption: "Hello" }),
  "a dry run of update_post": async () =>
    call("update_post", { id: await schedule({ caption: "Other" }), caption: "Hello", dryRun: true }),
  retry_post: async () =>
    call("retry_post", {
      id: await fail(await schedule({ caption: "Other" })),
      caption: "Hello",
      scheduledAt: at(DAY),
    }),
  "change_posts by minutes": async () =>
    call("change_posts", { ids: [await schedule({ scheduledAt: at(DAY + HOUR) })], shiftMinutes: -60 }),
  "change_posts to a day": async () =>
    call("change_posts", {
      ids: [await schedule({ scheduledAt: at(2 * DAY) })],
      toDay: at(DAY).slice(0, 10),
    }),
};

describe.each(Object.entries(DOUBLED))("%s", (_way, change) => {
  it("warns of another post that waits with the same content", async () => {
    const other = await schedule();
    expect((await change()).warnings).toEqual([
      expect.stringContaining(`already. Call get_post with id "${other}" to read it.`),
    ]);
  });
});

it("lets posts that move together take each other's times", async () => {
  const ids = [await schedule(), await schedule({ scheduledAt: at(DAY + HOUR) })];
  expect((await call("change_posts", { ids, shiftMinutes: 60 })).warnings).toEqual([]);
});

it("warns of posts that become the same by moving together", async () => {
  const [one, two] = [await schedule(), await schedule({ scheduledAt: at(2 * DAY) })];
  const { warnings } = await call("change_posts", { ids: [one, two], toDay: at(3 * DAY).slice(0, 10) });
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toMatch(new RegExp(`^“Hello” \\(${one}\\): A post with the same .* with id "${two}"`));
});

it("warns of a text that is live, also when a post is changed or sent again", async () => {
  const live = await schedule({ scheduledAt: undefined });
  await drain(service.ctx);
  expect((await readPost(service.ctx, live)).status).toBe("published");
  const warned = [expect.stringContaining(`The same text is live`)];
  const id = await schedule({ caption: "Other" });
  expect((await call("update_post", { id, caption: "Hello", dryRun: true })).warnings).toEqual(warned);
  expect((await call("update_post", { id, caption: "Hello" })).warnings).toEqual(warned);
  expect((await call("retry_post", { id: await fail(id), scheduledAt: at(DAY) })).warnings).toEqual(warned);
});

it("takes what a series said before for no repetition", async () => {
  const time = at(HOUR).slice(11, 16);
  const { draft } = await call("save_draft", {
    caption: "Every day",
    targets: [{ accountId }],
    repeat: { unit: "day", time, timezone: "UTC" },
  });
  await call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
  await service.clock.advance(HOUR);
  await drain(service.ctx);
  await makeSeriesPosts(service.ctx, new AbortController().signal);
  const { posts } = await call("list_posts", { draftId: draft.id, status: ["scheduled"] });
  expect((await call("list_posts", { draftId: draft.id, status: ["published"] })).posts).toHaveLength(1);
  const id = posts.at(-1).id;
  expect((await call("update_post", { id, scheduledAt: at(2 * HOUR) })).warnings).toEqual([]);
  const again = { accountId, caption: "Every day", scheduledAt: at(0), dryRun: true };
  expect((await call("schedule_post", again)).warnings).toHaveLength(1);
});

describe("a dry run of a change", () => {
  it("shows the post as it would be, asks nobody and stores nothing", async () => {
    const id = await schedule();
    const before = await readPost(service.ctx, id);
    const shown = await call("update_post", { id, caption: "Better", scheduledAt: at(HOUR), dryRun: true });
    expect(shown).toMatchObject({
      post: { id, caption: "Better", scheduledAt: at(HOUR), status: "scheduled" },
      dryRun: true,
      preview: { text: "Better" },
    });
    await fail(id);
    const failed = await readPost(service.ctx, id);
    expect(await call("retry_post", { id, caption: "Best", dryRun: true })).toMatchObject({
      post: { id, caption: "Best", status: "scheduled", error: null },
      dryRun: true,
      preview: { text: "Best" },
    });
    expect(await readPost(service.ctx, id)).toEqual(failed);
    expect(failed).toMatchObject({ caption: before.caption, scheduled_at: before.scheduled_at });
  });

  it("says why the change would be refused", async () => {
    const id = await schedule();
    await expect(call("retry_post", { id, dryRun: true })).rejects.toMatchObject({ kind: "conflict" });
    await fail(id);
    await expect(call("update_post", { id, dryRun: true })).rejects.toMatchObject({ kind: "conflict" });
  });
});
