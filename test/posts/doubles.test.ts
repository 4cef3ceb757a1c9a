import { NOTHING_CHANGED, SENT_AS_IT_WAS } from "../../src/posts/update-post.ts";
import type { PostStatus } from "../../src/domain/posts/post-states.ts";
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
    const isOwn = (one: string): boolean => one === NOTHING_CHANGED || one.startsWith(SENT_AS_IT_WAS);
    expect(warnings.filter((one: string) => !isOwn(one))).toEqual([]);
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
  const { warnings } = await call("retry_post", { id: await fail(id), scheduledAt: at(DAY) });
  expect(warnings).toEqual(["It is sent just as it was, at its time. It failed before: No.", ...warned]);
});

interface State {
  readonly status: PostStatus;
  readonly in_doubt?: number;
  readonly error?: string;
}

/** Each state in which a post is or may be out, or goes out soon, as the warning names it. */
const STATES: Readonly<Record<string, readonly [State, RegExp]>> = {
  "waits for another time": [
    { status: "scheduled" },
    /^The same text waits on this channel for Sunday 22 November 2026, 09:00 \(UTC\)\./,
  ],
  "is sent right now": [{ status: "publishing" }, /is under way on this channel, and may be out already\./],
  "was sent and its answer lost": [
    { status: "publishing", in_doubt: 1 },
    /was sent .* not known whether it is out\./,
  ],
  "is uploaded": [{ status: "uploaded" }, /is on the platform of this channel, and goes live on Sunday/],
  "failed with an unknown outcome": [
    { status: "failed", in_doubt: 1, error: "outcome unknown: …" },
    /was sent on this channel, and it is not known whether it is out\./,
  ],
  "was dismissed with an unknown outcome": [
    { status: "cancelled", in_doubt: 1 },
    /was sent on this channel, and it is not known whether it is out\./,
  ],
  "was refused": [{ status: "failed", error: "No." }, /failed, and can be sent again\./],
};

describe.each(Object.entries(STATES))("a post that says the same and %s", (_state, [set, told]) => {
  let other: string;
  beforeEach(async () => {
    other = await schedule();
    await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", other).execute();
  });

  it("is named before the same text goes out again, and in the answer", async () => {
    const named = expect.stringMatching(new RegExp(`${told.source}.*get_post with id "${other}"`));
    const again = { accountId, caption: "Hello" };
    const later = { ...again, scheduledAt: at(DAY + 5 * 60_000) };
    expect((await call("schedule_post", { ...again, dryRun: true })).warnings).toContainEqual(named);
    const { results } = await call("schedule_posts", { posts: [later], dryRun: true });
    expect(results[0].warnings).toEqual([named]);
    const csv = `accountId,scheduledAt,caption\n${accountId},${later.scheduledAt},Hello`;
    const { warnings } = await call("import_posts", { csv });
    expect(warnings.map(({ warning }: { warning: string }) => warning)).toContainEqual(named);
    const id = await schedule({ caption: "Other", scheduledAt: later.scheduledAt });
    expect((await call("update_post", { id, caption: "Hello", dryRun: true })).warnings).toContainEqual(
      named,
    );
    await queryOf(service.ctx.store)
      .updateTable("posts")
      .set({ caption: "Hello", status: "failed", next_at: null })
      .where("id", "=", id)
      .execute();
    expect((await call("retry_post", { id, dryRun: true })).warnings).toContainEqual(named);
    expect((await call("retry_post", { id })).warnings).toContainEqual(named);
  });

  it("is named in the question of a person", async () => {
    const inside = new RegExp(told.source.replace("^", ""));
    expect(await service.questionOf("schedule_post", { accountId, caption: "Hello" })).toMatch(inside);
    const { draft } = await call("save_draft", { caption: "Hello", targets: [{ accountId }] });
    const decision = { id: draft.id, revision: draft.revision, decision: "approve" };
    expect(await service.questionOf("decide_draft", decision)).toMatch(inside);
  });
});

it("compares posts without a text by their media", async () => {
  const film = { caption: undefined, mediaUrl: "https://media.example/film.mp4" };
  const id = await schedule(film);
  const { warnings } = await call("schedule_post", {
    accountId,
    ...film,
    scheduledAt: at(2 * DAY),
    dryRun: true,
  });
  expect(warnings).toContainEqual(expect.stringMatching(`^The same media waits .* with id "${id}"`));
});

it("tells posts of one call that say the same, and that one is to be cancelled once both are made", async () => {
  const posts = [0, 5].map((minutes) => ({
    accountId,
    caption: "Hello",
    scheduledAt: at(DAY + minutes * 60_000),
  }));
  const same =
    "Another post of this call says the same on the same channel, on Sunday 22 November 2026, 09:00 (UTC).";
  const shown = await call("schedule_posts", { posts, dryRun: true });
  expect(shown.results[1].warnings).toEqual([`${same} Leave one of them out if that was not meant.`]);
  const made = await call("schedule_posts", { posts });
  expect(made.results[1].warnings).toEqual([`${same} Cancel one of them if that was not meant.`]);
  const twins = await call("schedule_posts", {
    posts: [posts[0], posts[0]].map((post) => ({ ...post, caption: "Twin" })),
  });
  expect(twins.results[1].warnings).toEqual([
    "Another post of this call has the same account, media, caption and time. Cancel one of them if that was not meant.",
  ]);
  const csv = [
    "accountId,scheduledAt,caption",
    ...[3, 4].map((days) => `${accountId},${at(days * DAY)},Row`),
  ];
  expect((await call("import_posts", { csv: csv.join("\n") })).warnings).toEqual([
    expect.objectContaining({
      line: 3,
      warning: expect.stringMatching("^Says the same on the same channel as line 2,"),
    }),
  ]);
});

it("says of each of several posts without a time that it goes out at once", async () => {
  const posts = ["One", "Two"].map((caption) => ({ accountId, caption }));
  const { results } = await call("schedule_posts", { posts });
  for (const { warnings } of results)
    expect(warnings).toEqual([expect.stringMatching(/^It goes out at once/)]);
});

it("tells posts that come to one day with the same text by a move", async () => {
  const other = await schedule();
  const id = await schedule({ scheduledAt: at(4 * DAY + HOUR) });
  const { warnings } = await call("change_posts", { ids: [id], toDay: at(DAY).slice(0, 10), dryRun: true });
  expect(warnings).toEqual([expect.stringContaining(`The same text waits on this channel`)]);
  expect(warnings[0]).toContain(other);
});

describe("a draft that waits for a decision", () => {
  const draft = async (args: object = {}): Promise<any> =>
    (await call("save_draft", { caption: "Hello", targets: [{ accountId }], submit: true, ...args })).draft;

  it("is told of by what says the same: a post, another draft, a table", async () => {
    const { id } = await draft();
    const named = expect.stringMatching(
      `^A draft with the same text for this channel waits for a decision: .* with id "${id}"`,
    );
    expect(
      (await call("schedule_post", { accountId, caption: "Hello", dryRun: true })).warnings,
    ).toContainEqual(named);
    expect((await draft({ scheduledAt: at(DAY) })).checks[0].warnings).toEqual([named]);
    const csv = `accountId,scheduledAt,caption\n${accountId},${at(DAY)},Hello`;
    const { warnings } = await call("import_posts", { csv });
    expect(warnings.map(({ warning }: { warning: string }) => warning)).toContainEqual(named);
  });

  it("is no double of itself, nor one on another channel", async () => {
    const own = await draft();
    const { draft: again } = await call("save_draft", { id: own.id, revision: own.revision, note: "n" });
    expect(again.checks[0].warnings).toEqual([]);
    const there = { accountId: await service.addFeed() };
    expect((await draft({ targets: [there] })).checks[0].warnings).toEqual([]);
  });

  it("stands in the question where two that say the same are approved in one call", async () => {
    const drafts = [await draft(), await draft()].map(({ id, revision }) => ({ id, revision }));
    const question = await service.questionOf("decide_draft", { drafts, decision: "approve" });
    expect(question?.match(/A draft with the same text for this channel waits/g)).toHaveLength(2);
  });
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
