import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixture } from "../support/media.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";

const MINUTE = 60_000;

let service: Service;
let accountId: string;

beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});

afterEach(() => service[Symbol.asyncDispose]());

const inSeconds = (seconds: number): string => new Date(service.clock.now() + seconds * 1_000).toISOString();

const questionOf = (tool: string, args: object) => service.questionOf(tool, args);

async function schedule(args: object = {}): Promise<string> {
  const { post } = await service.call("schedule_post", {
    accountId,
    scheduledAt: inSeconds(3_600),
    caption: "Hello",
    ...args,
  });
  return post.id;
}

async function setPost(id: string, set: object): Promise<void> {
  await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", id).execute();
}

async function countPosts(): Promise<number> {
  return (await service.call("list_posts", {})).posts.length;
}

describe("before a post goes out", () => {
  it("is asked within a minute of its time, and nothing is stored after a no", async () => {
    const now = "Publish now on Feed of default: “Hello”?";
    expect(await questionOf("schedule_post", { accountId, caption: "Hello" })).toBe(now);
    expect(
      await questionOf("schedule_post", { accountId, caption: "Hello", scheduledAt: inSeconds(60) }),
    ).toBe("Publish on Feed of default, Saturday 21 November 2026, 09:01:00 (UTC): “Hello”?");
    expect(await countPosts()).toBe(0);
    expect(
      await questionOf("schedule_post", { accountId, caption: "Hello", scheduledAt: inSeconds(61) }),
    ).toBe(null);
    expect(await questionOf("schedule_post", { accountId, caption: "Hello", dryRun: true })).toBe(null);
    const batch = { posts: [{ accountId, caption: "Hello" }], dryRun: true };
    expect(await questionOf("schedule_posts", batch)).toBe(null);
    expect(await countPosts()).toBe(1);
  });

  it("says that its time is over, as the answer does", async () => {
    const passed = { accountId, caption: "Hello", scheduledAt: inSeconds(-120) };
    const told = "Its time, Saturday 21 November 2026, 08:58 (UTC), has passed, so now was taken.";
    expect(await questionOf("schedule_post", passed)).toBe(
      `Publish now on Feed of default: “Hello”? ${told}`,
    );
    expect((await service.call("schedule_post", { ...passed, dryRun: true })).warnings).toEqual([told]);
  });

  it("names no setting of the server", async () => {
    const id = await schedule();
    const error = "It was later than posts may go out (POSTHORN_MAX_LATENESS). Send it again.";
    await setPost(id, { status: "failed", error, next_at: null });
    expect(await questionOf("retry_post", { id })).toMatch(/later than posts may go out\. Send it again\./);
  });

  it("is asked only when it can go out at all, and with what speaks against it", async () => {
    await expect(questionOf("schedule_post", { accountId })).rejects.toThrow(/caption: is empty/);
    await expect(questionOf("schedule_post", { accountId: "acc_none", caption: "x" })).rejects.toThrow(
      /no account/,
    );
    await service.call("schedule_post", { accountId, caption: "Twice", scheduledAt: inSeconds(0) });
    expect(await questionOf("schedule_post", { accountId, caption: "Twice" })).toMatch(
      /“Twice”\? A post with the same account, media, caption and time is waiting already\. /,
    );
  });

  it("shows a text on one line, short and without tricks", async () => {
    const caption = `First\nsecond \u202Eesrever\u0007 👩‍👩‍👧 ${"x".repeat(900)}`;
    const question = (await questionOf("schedule_post", { accountId, caption }))!;
    expect(question).toContain("“First second esrever 👩‍👩‍👧 xxx");
    expect(question).toMatch(/x…” \(the first 599 of 927 characters\)\?$/);
    expect([...question].length).toBeLessThan(700);
  });

  it("is asked for a batch as a whole", async () => {
    const later = { accountId, caption: "Later", scheduledAt: inSeconds(3_600) };
    const wrong = { accountId, caption: "Wrong", scheduledAt: "yesterday" };
    const posts = [
      { accountId, caption: "One" },
      later,
      { accountId, metadata: { title: "Two" }, caption: "More" },
      wrong,
    ];
    expect(await questionOf("schedule_posts", { posts })).toBe(
      "Publish 2 posts now? Feed of default, now: “One”; Feed of default, now: “Two More”. It also schedules 1 post: Feed of default, Saturday 21 November 2026, 10:00 (UTC): “Later”.",
    );
    expect(await questionOf("schedule_posts", { posts: posts.slice(0, 2) })).toBe(
      "Publish now on Feed of default: “One”? It also schedules 1 post: Feed of default, Saturday 21 November 2026, 10:00 (UTC): “Later”.",
    );
    expect(await countPosts()).toBe(0);
    expect(await questionOf("schedule_posts", { posts: [later] })).toBe(null);
    const many = Array.from({ length: 12 }, (_, index) => ({ accountId, caption: `No ${index}` }));
    expect(await questionOf("schedule_posts", { posts: many })).toMatch(
      /^Publish 12 posts now\? .*“No 9”; and 2 more\.$/,
    );
  });

  it("is asked when a waiting post is moved to now", async () => {
    const id = await schedule();
    expect(await questionOf("update_post", { id, caption: "Better" })).toBe(null);
    expect(await questionOf("update_post", { id, scheduledAt: inSeconds(7_200) })).toBe(null);
    expect(await questionOf("update_post", { id, scheduledAt: inSeconds(0) })).toBe(
      "Publish now on Feed of default: “Better”?",
    );
    expect(await questionOf("update_post", { id, scheduledAt: inSeconds(0), caption: "Best" })).toBe(
      "Publish now on Feed of default: “Best”?",
    );
    expect((await service.call("get_post", { id })).post.scheduledAt).toBe(inSeconds(7_200));
  });
});

describe("whatever leads to a time within a minute", () => {
  const SLOTS = [
    { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], times: ["09:00", "09:01", "12:00"] },
  ];
  /** The next slot is 44 seconds ahead. */
  beforeEach(async () => {
    await service.call("update_account", { accountId, schedule: { slots: SLOTS } });
    await service.clock.advance(16_000);
  });

  it("is asked about: the next slot of one post, and of rows of a batch", async () => {
    const post = { accountId, caption: "In a slot", slot: "next" };
    const asked = "Publish on Feed of default, Saturday 21 November 2026, 09:01:00 (UTC): “In a slot”?";
    expect(await questionOf("schedule_post", post)).toBe(asked);
    expect(await questionOf("schedule_posts", { posts: [post, post] })).toBe(
      `${asked} It also schedules 1 post: Feed of default, Saturday 21 November 2026, 12:00 (UTC): “In a slot”.`,
    );
    expect(await countPosts()).toBe(0);
    await service.clock.advance(60_000);
    expect(await questionOf("schedule_post", post)).toBeNull();
    expect(await countPosts()).toBe(1);
  });

  it("is asked about: a change of a post that goes out then, a move, and posts that move to new slots", async () => {
    const id = await schedule({ scheduledAt: inSeconds(30) });
    expect(await questionOf("update_post", { id, caption: "Other" })).toBe(
      "Publish on Feed of default, Saturday 21 November 2026, 09:00:46 (UTC): “Other”?",
    );
    const later = await schedule({ caption: "Later", scheduledAt: inSeconds(3_600) });
    expect(await questionOf("change_posts", { ids: [later], shiftMinutes: -60 })).toMatch(
      / to now\. “Later”: Another post waits on the same channel for the same minute: “Hello”\./,
    );
    await service.call("cancel_post", { id });
    await service.call("schedule_post", { accountId, caption: "First", slot: "next" });
    await service.call("schedule_post", { accountId, caption: "Second", slot: "next" });
    const first = (await service.call("list_posts", { search: "First" })).posts[0].id;
    await service.call("cancel_post", { id: first });
    expect(await questionOf("update_account", { accountId, move: true })).toBe(
      "Move posts on Feed of default to its slots? 1 post goes out at once. Feed of default, now: “Second”.",
    );
    expect(await questionOf("update_account", { accountId, move: true, dryRun: true })).toBeNull();
  });
});

describe("before a channel goes on", () => {
  it("asks about the posts that go out at once, and the dry run and the answer tell them", async () => {
    await service.call("update_account", { accountId, paused: true });
    expect(await questionOf("update_account", { accountId, paused: false })).toBeNull();
    await service.call("update_account", { accountId, paused: true });
    const tooLate = await schedule({ caption: "Too late", scheduledAt: inSeconds(60) });
    await service.clock.advance(90 * MINUTE);
    await schedule({ caption: "Kept back", scheduledAt: inSeconds(0) });
    await schedule({ caption: "Later", scheduledAt: inSeconds(3_600) });
    const due = "“Kept back”, which was due on Saturday 21 November 2026, 10:30 (UTC)";
    const late =
      "being more than 1 hour late: “Too late”, which was due on Saturday 21 November 2026, 09:01 (UTC).";
    const dry = await service.call("update_account", { accountId, paused: false, dryRun: true });
    expect(dry).toMatchObject({
      moved: [],
      dryRun: true,
      warnings: [
        `1 post goes out now: ${due}. 1 post fails, ${late} Move it first, or send it again afterwards. change_posts moves posts.`,
      ],
    });
    expect(await questionOf("update_account", { accountId, paused: false })).toBe(
      `Resume Feed of default? 1 post goes out at once. Feed of default, now: “Kept back”. 1 post fails, ${late} Say no to give what is too late another time first.`,
    );
    const done = await service.call("update_account", { accountId, schedule: { slots: [], paused: false } });
    expect(done.warnings).toEqual([
      `1 post goes out now: ${due}. 1 post failed, ${late} Send it again. retry_post does that: ${tooLate}.`,
    ]);
    expect(await service.call("update_account", { accountId, paused: false })).not.toHaveProperty("warnings");
  });

  it("asks where posts only fail", async () => {
    await service.call("update_account", { accountId, paused: true });
    await schedule({ caption: "Too late", scheduledAt: inSeconds(60) });
    await service.clock.advance(90 * MINUTE);
    expect(await questionOf("update_account", { accountId, paused: false })).toMatch(
      /^Resume Feed of default\? 1 post fails, being more than 1 hour late: “Too late”/,
    );
  });
});

describe("a post for now on a paused channel", () => {
  it("is asked about as one that waits", async () => {
    await service.call("update_account", { accountId, paused: true });
    const post = { accountId, caption: "Hello" };
    const held = "as soon as it is resumed";
    expect(await questionOf("schedule_post", post)).toMatch(
      new RegExp(
        `^Publish on Feed of default, which is paused, ${held}: “Hello”\\? A post may go out up to 1 hour late\\. [^.]*fails\\.$`,
      ),
    );
    const posts = [post, { accountId, caption: "Two" }];
    expect(await questionOf("schedule_posts", { posts })).toMatch(
      new RegExp(
        `^Publish 2 posts as soon as their channels are resumed\\? Feed of default, ${held}: “Hello”`,
      ),
    );
    const { draft } = await service.call("save_draft", { caption: "Draft", targets: [{ accountId }] });
    const approval = { id: draft.id, revision: 1, decision: "approve" };
    expect(await questionOf("decide_draft", approval)).toMatch(
      new RegExp(`It keeps 1 post until the channel is resumed\\. Feed of default, ${held}: “Draft”`),
    );
  });
});

describe("what a question tells of a post", () => {
  it("holds its media, their descriptions, what follows it and its link", async () => {
    const { json } = await service.ask("POST /api/v1/files?name=photo.png", {
      headers: { "content-type": "image/png" },
      body: fixture("photo.png"),
    });
    const post = {
      accountId,
      caption: "A lake",
      mediaUrl: json.file.id,
      metadata: { altText: "A lake at dawn", link: "https://lake.example/" },
    };
    const question = await questionOf("schedule_post", post);
    expect(question).toMatch(
      /: “A lake”, with 1 picture, with a link to https:\/\/lake\.example\/ \(Alt text: “A lake at dawn”\.\)\?/,
    );
    const bare = { accountId, mediaUrl: json.file.id };
    expect(await questionOf("schedule_posts", { posts: [post, bare] })).toMatch(
      /“A lake”, with 1 picture; Feed of default, now: 1 picture without text\./,
    );
    const { accountId: _accountId, ...content } = post;
    const { draft } = await service.call("save_draft", { ...content, targets: [{ accountId }] });
    const approval = { id: draft.id, revision: 1, decision: "approve" };
    expect(await questionOf("decide_draft", approval)).toMatch(
      /^Approve the draft "A lake"\? It publishes 1 post now\. Feed of default, now: “A lake”, with 1 picture, with a link to \S+ \(Alt text: “A lake at dawn”\.\)/,
    );
  });

  it("says that the same text is live, and names no tool", async () => {
    const post = { accountId, caption: "Twice" };
    await setPost(await schedule(post), { status: "published", published_at: service.clock.now() });
    for (const [tool, args] of [
      ["schedule_post", post],
      ["schedule_posts", { posts: [post] }],
    ] as const)
      expect(await questionOf(tool, args)).toMatch(
        /“Twice”\? The same text is live on this channel since .* Leave this one out if that was not meant\.$/,
      );
    const { warnings } = await service.call("schedule_post", post);
    expect(warnings).toEqual([
      expect.stringMatching(/Take this one down if that was not meant\. .*cancel_post with fromPlatform\.$/),
    ]);
    const later = await service.call("schedule_post", { ...post, scheduledAt: inSeconds(3_600) });
    expect(later.warnings).toEqual([expect.stringMatching(/Cancel this one if that was not meant\.$/)]);
  });
});

describe("a forgotten time", () => {
  const NO_TIME = /^It goes out at once, because no time was given\./;

  it("is told in dry runs and batches", async () => {
    const post = { accountId, caption: "Now?" };
    const dry = await service.call("schedule_post", { ...post, dryRun: true });
    expect(dry.warnings).toEqual([expect.stringMatching(NO_TIME)]);
    const timed = { ...post, caption: "Timed", scheduledAt: inSeconds(0) };
    const batch = async (dryRun: boolean): Promise<string[][]> => {
      const { results } = await service.call("schedule_posts", { posts: [post, timed], dryRun });
      return results.map(({ warnings }: any) => warnings);
    };
    expect(await batch(true)).toEqual([[expect.stringMatching(/Give scheduledAt or slot if that was/)], []]);
    // Then it is too late for a time.
    const look =
      "What became of it is not known yet. Call get_post in a moment. If that was not meant, call cancel_post with fromPlatform.";
    expect(await batch(false)).toEqual([[`It goes out at once, because no time was given. ${look}`], []]);
    expect((await service.call("schedule_post", { ...post, caption: "Meant" })).warnings).toEqual([]);
  });
});

describe("before a post is stopped or changed", () => {
  it("names it with its time", async () => {
    const id = await schedule();
    expect(await questionOf("cancel_post", { id })).toBe(
      `Cancel the post “Hello” on Feed of default? It is due on Saturday 21 November 2026, 10:00 (UTC) and will not go out.`,
    );
    expect((await service.call("get_post", { id })).post.status).toBe("scheduled");
    await setPost(id, { status: "uploaded" });
    expect(await questionOf("cancel_post", { id, fromPlatform: true })).toMatch(
      /^Delete the post “Hello” on Feed of default from the platform\?/,
    );
  });

  it("tells since when and where a live one is, before it is taken down", async () => {
    const id = await schedule();
    const publishedAt = Date.parse(inSeconds(0)) - 3_600_000;
    await setPost(id, {
      status: "published",
      platform_post_id: "1",
      next_at: null,
      published_at: publishedAt,
      platform_url: "https://a.example/1",
    });
    expect(await questionOf("cancel_post", { id, fromPlatform: true })).toBe(
      "Delete the post “Hello” on Feed of default from the platform? It is live since Saturday 21 November 2026, 08:00 (UTC) at https://a.example/1, and cannot be brought back.",
    );
    expect((await service.call("get_post", { id })).post.status).toBe("published");
  });

  it("asks before a failed one goes out with another text, and before it is dismissed", async () => {
    const id = await schedule();
    await setPost(id, { status: "failed", next_at: null, error: "It was refused." });
    expect(await questionOf("retry_post", { id, caption: "Better", scheduledAt: inSeconds(7_200) })).toBe(
      null,
    );
    await setPost(id, { status: "failed", next_at: null, error: "It was refused." });
    expect(await questionOf("retry_post", { id, caption: "Best" })).toBe(
      "Publish now on Feed of default: “Best”? It failed before: It was refused.",
    );
    await expect(questionOf("retry_post", { id, caption: "" })).rejects.toThrow(/caption: is empty/);
    expect(await questionOf("resolve_post", { id, outcome: "dismissed" })).toBe(
      "Put the failed post “Better” on Feed of default away? It will never be sent.",
    );
    expect((await service.call("get_post", { id })).post.status).toBe("failed");
    expect(await questionOf("retry_post", { id, caption: "Other", dryRun: true })).toBe(null);
    expect(await questionOf("retry_post", { id })).toBe(
      "Publish now on Feed of default: “Better”? It failed before: It was refused.",
    );
    await setPost(id, { error: 'Feed refused it. Change the post, then send it again. Feed says: "No"' });
    expect(await questionOf("retry_post", { id })).toMatch(/Feed says: "No"\.? Nothing of it is changed\.$/);
    expect(await questionOf("retry_post", { id, caption: "Other" })).not.toContain("Nothing of it");
    await setPost(id, { in_doubt: 1 });
    expect(await questionOf("retry_post", { id })).toMatch(/\? Whether it went out before is not known\./);
  });

  it("asks once for all that are moved or cancelled together", async () => {
    const ids = [];
    for (let count = 0; count < 11; count++) ids.push(await schedule({ caption: `No ${count}` }));
    const [first = ""] = ids;
    expect(await questionOf("change_posts", { ids: [first], shiftMinutes: 60 })).toBe(
      "Move 1 waiting post? “No 0” on Feed of default, Saturday 21 November 2026, 10:00 (UTC) to Saturday 21 November 2026, 11:00 (UTC)",
    );
    expect(await questionOf("change_posts", { accountId: [accountId], cancel: true })).toMatch(
      /^Cancel 11 waiting posts\? “No 0” on Feed of default, .*“No 9”.*; and 1 more$/,
    );
    expect(await questionOf("change_posts", { ids, cancel: true, dryRun: true })).toBe(null);
    await expect(questionOf("change_posts", { ids, shiftMinutes: -600 })).rejects.toThrow(/in the past/);
    expect((await service.call("list_posts", { status: ["scheduled"] })).posts).toHaveLength(11);
  });

  it("tells of a live one what would change", async () => {
    const id = await schedule();
    await setPost(id, { status: "published", platform_post_id: "1" });
    const edit = { id, caption: "New", metadata: { title: "T", tags: ["a"] } };
    expect(await questionOf("edit_published_post", edit)).toBe(
      "Change the live post “Hello” on Feed of default? Its text becomes “New”; title: “T”; tags: “a”.",
    );
    expect(await questionOf("edit_published_post", { ...edit, metadata: null })).toMatch(
      /; its other fields are emptied\.$/,
    );
  });

  it("asks nobody about a change that changes nothing", async () => {
    const id = await schedule({ scheduledAt: inSeconds(20) });
    const { caption } = (await service.call("get_post", { id })).post;
    expect(await questionOf("update_post", { id, caption })).toBe(null);
    expect(await questionOf("update_post", { id, caption: "Other" })).toMatch(/^Publish on/);
    await setPost(id, { status: "published", platform_post_id: "1" });
    expect(await questionOf("edit_published_post", { id, caption })).toBe(null);
    expect(await questionOf("edit_published_post", { id, caption: "Other" })).toMatch(/^Change the live/);
  });

  it("asks what the person saw of one whose outcome is unknown", async () => {
    const id = await schedule();
    await setPost(id, { status: "failed", in_doubt: 1 });
    expect(await questionOf("resolve_post", { id, outcome: "published" })).toMatch(
      /^Have you seen the post “Hello” on Feed of default on the channel\?/,
    );
    expect(await questionOf("resolve_post", { id, outcome: "not_published" })).toMatch(/is not there\?/);
  });

  it.each([
    ["cancel_post", {}, "cancelled"],
    ["update_post", { scheduledAt: "now" }, "published"],
    ["edit_published_post", { caption: "x" }, "scheduled"],
    ["resolve_post", { outcome: "published" }, "published"],
  ])("asks nobody about %s where it is not possible", async (tool, args, status) => {
    const id = await schedule();
    await setPost(id, { status });
    const timed = "scheduledAt" in args ? { scheduledAt: inSeconds(0) } : args;
    await expect(questionOf(tool, { id, ...timed })).rejects.toThrow(
      /but this needs a post that is|cancelled already|Nothing to settle/,
    );
    await expect(questionOf(tool, { ...timed, id: "post_none" })).rejects.toThrow(/no post/);
  });
});

describe("before something is given up", () => {
  it("tells what hangs on a channel", async () => {
    const args = { accountId };
    const question =
      "Disconnect the channel Feed of default on Feed? Its passwords and tokens will be forgotten.";
    expect(await questionOf("disconnect_channel", args)).toBe(question);
    await schedule();
    expect(await questionOf("disconnect_channel", args)).toBe(
      `${question} 1 waiting post fails unless it is connected again in time.`,
    );
    await service.call("disconnect_channel", args);
    expect(await questionOf("disconnect_channel", args)).toBe(null);
  });

  it("names a file, unless a post needs it", async () => {
    const upload = await service.ask("POST /api/v1/files?name=photo.png", {
      headers: { "content-type": "image/png" },
      body: fixture("photo.png"),
    });
    const { id, sizeBytes } = upload.json.file;
    expect(await questionOf("delete_file", { id })).toBe(
      `Delete the file “photo.png” (${sizeBytes} bytes) for good?`,
    );
    await schedule({ mediaUrl: id });
    const post = await schedule({ mediaUrl: id });
    await expect(questionOf("delete_file", { id })).rejects.toThrow(
      `2 waiting posts use this file: “Hello” (`,
    );
    await service.call("cancel_post", { id: post });
    await service.clock.advance(MINUTE);
  });
});
