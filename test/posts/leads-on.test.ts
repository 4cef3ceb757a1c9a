import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/domain/time.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { plainCall } from "../../src/context.ts";
import { type Said, say, toStored } from "../../src/domain/sentences.ts";
import { awaitPost } from "../../src/posts/outcomes.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { callerOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount } from "../support/post-rows.ts";
import { drain } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

/* What an agent that knows only the answers is told next. */

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function schedule(args: object = {}): Promise<any> {
  return service.call("schedule_post", { accountId, scheduledAt: at(HOUR), caption: "Hello", ...args });
}

describe("a call that is repeated, because its answer was lost", () => {
  it("is told that the post is cancelled, and of nothing that would put it back", async () => {
    const { post } = await schedule();
    await service.call("cancel_post", { id: post.id });
    for (const [tool, args] of [
      ["cancel_post", { id: post.id }],
      ["cancel_post", { id: post.id, fromPlatform: true }],
      ["change_posts", { ids: [post.id], cancel: true }],
    ] as const)
      await expect(service.call(tool, args)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/The post is cancelled already\. Nothing is to be done\.$/),
      });
    await expect(service.call("update_post", { id: post.id, caption: "x" })).rejects.toThrow(
      /It goes out no more\. Only where it is wanted after all/,
    );
  });

  it("is told when the post was taken down, and get_post tells it from one that never went out", async () => {
    const { post } = await schedule({ scheduledAt: undefined });
    await drain(service.ctx);
    await service.call("cancel_post", { id: post.id, fromPlatform: true });
    await expect(service.call("cancel_post", { id: post.id, fromPlatform: true })).rejects.toThrow(
      /^The post is cancelled already \(taken down on .* \(UTC\)\)\. Nothing is to be done\.$/,
    );
    const taken = await service.call("get_post", { id: post.id });
    expect(taken.warnings).toEqual([expect.stringMatching(/^It was live, and was taken down on Feed on /)]);
    const { post: other } = await schedule();
    await service.call("cancel_post", { id: other.id });
    expect((await service.call("get_post", { id: other.id })).warnings).toBeUndefined();
  });

  it("is told that a post waits or is live where it was to be sent again", async () => {
    const { post } = await schedule();
    await expect(service.call("retry_post", { id: post.id })).rejects.toThrow(
      "The post is scheduled already. Nothing is to be done.",
    );
  });
});

it.each(["schedule_post", "update_post", "retry_post", "save_draft", "import_posts"])(
  "a time in the past makes %s name the server's time, and never offer to publish now",
  async (tool) => {
    const { post } = await schedule();
    const past = "2020-01-31T09:00:00Z";
    const args: Readonly<Record<string, object>> = {
      schedule_post: { accountId, caption: "x", scheduledAt: past },
      update_post: { id: post.id, scheduledAt: past },
      retry_post: { id: post.id, scheduledAt: past },
      save_draft: { caption: "x", targets: [{ accountId }], scheduledAt: past, submit: true },
      import_posts: { csv: `accountId,scheduledAt,caption\n${accountId},${past},x` },
    };
    const said = await service.call(tool, args[tool] ?? {}).then(
      ({ errors }) => errors[0].error,
      ({ message }: Error) => message,
    );
    expect(said).toMatch(/is in the past\. The server's time is .*\. Give a time in the future\./);
    expect(said).not.toMatch(/publish now|leave .* out/);
  },
);

describe("two posts of a channel at one minute", () => {
  const near = /on the same channel (?:for|at) the same minute: “(?:Hello|One|A)”\. Give one/;

  it("are told of by every call that plans them", async () => {
    await schedule();
    const { warnings } = await schedule({ caption: "Two" });
    expect(warnings).toEqual([expect.stringMatching(near)]);
    const { post: later } = await schedule({ caption: "Three", scheduledAt: at(2 * HOUR) });
    const moved = await service.call("change_posts", { ids: [later.id], shiftMinutes: -60, dryRun: true });
    expect(moved.warnings).toEqual([expect.stringMatching(near)]);
    const changed = await service.call("update_post", { id: later.id, scheduledAt: at(HOUR), dryRun: true });
    expect(changed.warnings).toEqual([expect.stringMatching(near)]);
    const pair = ["A", "B"].map((caption) => ({ accountId, caption, scheduledAt: at(DAY) }));
    const { results } = await service.call("schedule_posts", { posts: pair, dryRun: true });
    expect(results[1].warnings).toEqual([expect.stringMatching(near)]);
    const rows = ["A", "B"].map((caption) => `${accountId},${at(DAY)},${caption}`);
    const table = await service.call("import_posts", {
      csv: `accountId,scheduledAt,caption\n${rows.join("\n")}`,
    });
    expect(table.warnings).toEqual([
      { line: 3, rows: 1, warning: expect.stringMatching(/same minute as line 2/) },
    ]);
  });

  it("are no matter on two channels, a minute apart, or at once", async () => {
    await schedule();
    const other = await service.addFeed();
    expect((await schedule({ accountId: other, caption: "Two" })).warnings).toEqual([]);
    expect((await schedule({ caption: "Three", scheduledAt: at(HOUR + 60_000) })).warnings).toEqual([]);
    await schedule({ caption: "Four", scheduledAt: undefined });
    expect((await schedule({ caption: "Five", scheduledAt: undefined })).warnings).toEqual([]);
  });
});

describe("a post for now on a channel that a person holds", () => {
  it("is answered at once, with the reason alone", async () => {
    await service.call("update_account", { accountId, paused: true });
    const toolbox = createToolbox(service.ctx, service.tools);
    const options = { waitMs: 60_000 };
    const now = { accountId, caption: "Now" };
    const { result } = await toolbox.call("schedule_post", now, callerOf(), options);
    expect(result).toMatchObject({
      post: { status: "scheduled", error: expect.stringMatching(/is paused, so the post waits/) },
      warnings: [expect.stringMatching(/is paused, so the post waits/)],
    });
    const content = { caption: "Draft", targets: [{ accountId }] };
    const { draft } = await service.call("save_draft", content);
    const decision = { id: draft.id, revision: draft.revision, decision: "approve" };
    const decided = await toolbox.call("decide_draft", decision, callerOf(), options);
    expect(decided.result["warnings"]).toEqual([expect.stringMatching(/is paused, so the post waits/)]);
  });
});

describe("what is guessed", () => {
  it.each([
    [
      "update_account",
      { until: "2031-01-30" },
      /A pause has no end .* too late by then fail: .*change_posts moves posts/,
    ],
    ["update_account", { paused: "2031-01-30" }, /must be true or false\. A pause has no end/],
    [
      "schedule_post",
      { caption: "x", repeat: { every: 1 } },
      /A series is a draft\. save_draft takes repeat/,
    ],
    [
      "schedule_post",
      { caption: "x" },
      /^accountId: is required\. Give a string \(the channel: .*\)\. Take account ids from list_accounts/,
    ],
    ["get_post", {}, /^id: is required\. Give a string(?: \(.*\))?\. Take ids from list_posts/],
    [
      "save_draft",
      { caption: "x", accountId: "feed" },
      /"accountId" is not a known field\. Did you mean targets\?/,
    ],
    [
      "schedule_post",
      { accountId: "My feed", mediaUrl: "~/Pictures/a.png" },
      /is no media address\..* A file of this machine: upload_file with path/,
    ],
  ])("of %s is led on from %o", async (tool, args, sentence) => {
    const named = tool === "update_account" ? { accountId, ...args } : args;
    await expect(service.call(tool, named)).rejects.toThrow(sentence);
  });

  it("of a part of a thread is told what an object holds", async () => {
    const mastodon = { accountId: "acc_m", caption: "x", metadata: { thread: ["Two"] } };
    await addAccount(service.ctx.store, { id: "acc_m", provider: "mastodon", name: "Toots" });
    await expect(service.call("schedule_post", mastodon)).rejects.toThrow(
      /metadata\.thread\[0\]: must be an object with caption, mediaUrl, altText/,
    );
  });

  it("is a platform's other name, wherever one is named", async () => {
    const { platforms } = await service.call("list_platforms", { provider: ["insta", "Twitter"] });
    expect(platforms.map(({ provider }: any) => provider)).toEqual(["instagram", "x"]);
    await schedule();
    expect((await service.call("list_posts", { provider: ["RSS"] })).posts).toHaveLength(1);
    expect((await service.call("list_posts", { accountId: ["atom"] })).posts).toHaveLength(1);
    await expect(service.call("connect_channel", { provider: "insta" })).rejects.toThrow(
      /INSTAGRAM|Instagram/,
    );
  });
});

describe("alt texts", () => {
  it("are warned of where there is nothing to describe, and shown where there is", async () => {
    const stray = await schedule({ metadata: { altText: "A lake" }, dryRun: true });
    expect(stray.warnings).toEqual([expect.stringMatching(/^metadata\.altText: an alt text describes/)]);
    const media = { mediaUrl: "https://pictures.example/a.jpg", metadata: { altText: "A lake" } };
    expect((await schedule({ ...media, dryRun: true })).preview.note).toBe("Alt text: “A lake”.");
  });
});

describe("a post that was refused at once", () => {
  const set = (id: string, values: object): Promise<unknown> =>
    queryOf(service.ctx.store).updateTable("posts").set(values).where("id", "=", id).execute();

  /** What is said of it to a caller that waited. */
  async function toldOf(values: object): Promise<string[]> {
    const { post } = await schedule({ scheduledAt: undefined });
    await set(post.id, values);
    const answer = { post, warnings: [] };
    const call = plainCall(service.ctx, callerOf(), new AbortController().signal);
    const { warnings } = await awaitPost(answer, call, { ms: 0, signal: new AbortController().signal });
    return warnings.map((one: Said) => agentsWords(one).replaceAll(post.id, "ID"));
  }

  it("is told as not out, and that it is kept, with what mends it", async () => {
    expect(await toldOf({ status: "failed", error: "Refused." })).toEqual([
      "The post did not go out. Its error says why. It is kept: schedule no second one in its place. To mend it, call retry_post with what is to be changed (caption, mediaUrl, metadata, scheduledAt).",
    ]);
    expect(await toldOf({ status: "published", published_at: 1 })).toEqual([]);
  });

  it("is told as not known where that is so", async () => {
    const error = toStored(say("outcome unknown: lost.", { next: [{ do: "settle", postId: null }] }));
    expect(await toldOf({ status: "failed", in_doubt: 1, error })).toEqual([
      expect.stringMatching(/^It is not known whether the post is out\. .* Call resolve_post with id "ID"/),
    ]);
  });

  it("may be live once it is dismissed while nobody knows, which every answer says", async () => {
    const { post } = await schedule();
    const { id } = post;
    await set(id, { status: "failed", in_doubt: 1, error: "outcome unknown: lost." });
    const told =
      /It was dismissed, and it is not known whether it is out: it may be live\. .*Call resolve_post with/;
    const said = expect.stringMatching(told);
    expect((await service.call("resolve_post", { id, outcome: "dismissed" })).warnings).toEqual([said]);
    expect((await service.call("get_post", { id })).warnings).toEqual([said]);
    expect((await service.call("list_posts", {})).warnings).toEqual([said]);
    for (const [tool, args] of [
      ["cancel_post", { fromPlatform: true }],
      ["cancel_post", {}],
      ["resolve_post", { outcome: "dismissed" }],
    ] as const)
      await expect(service.call(tool, { id, ...args })).rejects.toThrow(told);
    const found = { id, outcome: "published", platformPostId: "7" };
    expect((await service.call("resolve_post", found)).post).toMatchObject({
      status: "published",
      platformPostId: "7",
      error: null,
    });
  });

  it("is settled as published after all where it had been settled as not published", async () => {
    const { post } = await schedule();
    const { id } = post;
    await set(id, { status: "failed", in_doubt: 1, error: "outcome unknown: lost." });
    expect((await service.call("resolve_post", { id, outcome: "not_published" })).post.error).toBe(
      "It was settled as not published. Send it again.",
    );
    const told = await service.call("resolve_post", { id, outcome: "published" });
    expect(told.post.status).toBe("published");
    expect(told.warnings).toEqual([
      `Its id on Feed is not known, so it can be neither changed nor taken down there, nor asked about. Call resolve_post with id "${id}" and outcome "published", with platformPostId, its id there.`,
    ]);
  });

  it("is settled where its outcome is unknown, which every refusal says", async () => {
    const { post } = await schedule();
    await set(post.id, { status: "failed", in_doubt: 1, error: "outcome unknown: lost." });
    for (const args of [{ fromPlatform: true }, {}])
      await expect(service.call("cancel_post", { id: post.id, ...args })).rejects.toThrow(
        /It is not known whether it is out\. Once .* or taken down where it is\. Call resolve_post with id .* \(with platformPostId, its id there, so that it can be taken down\)/,
      );
  });

  it("keeps its error once it is dismissed, and says that nothing of that is to be done", async () => {
    const { post } = await schedule();
    const error = "Feed refused it. Change the post, then send it again.";
    await set(post.id, { status: "failed", error });
    await service.call("resolve_post", { id: post.id, outcome: "dismissed" });
    const read = await service.call("get_post", { id: post.id });
    expect(read.post.error).toBe(error);
    expect(read.warnings).toEqual([
      expect.stringMatching(
        /^It had failed and was dismissed: nothing .* is to be done\. Only where it is wanted/,
      ),
    ]);
    expect((await service.call("list_posts", {})).warnings).toEqual([
      `1 post here had failed and was dismissed, so nothing that the error asks for is to be done: “Hello” (${post.id}).`,
    ]);
  });
});

it("a post that is being sent is not said to be one that can be cancelled, where it is to be taken down", async () => {
  const { post } = await schedule();
  const set = { status: "publishing" as const, lease_worker: "w" };
  await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", post.id).execute();
  await expect(service.call("cancel_post", { id: post.id, fromPlatform: true })).rejects.toThrow(
    /It is being sent right now\. Call get_post .* in a moment\. Once it is out, it can be taken down\. .*cancel_post with fromPlatform\.$/,
  );
});

describe("an argument that was hardly meant", () => {
  it("is a time more than two years ahead, in all that plan one", async () => {
    const far = { scheduledAt: "2036-11-21T09:00" };
    const told =
      /is more than two years ahead, on Friday 21 November 2036, 09:00 \(UTC\)\. Give another time/;
    const { post, warnings } = await schedule(far);
    expect(warnings).toEqual([expect.stringMatching(told)]);
    const near = await schedule({ scheduledAt: "2028-11-20T09:00" });
    expect(near.warnings).toEqual([]);
    expect((await service.call("update_post", { id: near.post.id, ...far })).warnings.join()).toMatch(told);
    const { draft } = await service.call("save_draft", { caption: "x", targets: [{ accountId }], ...far });
    expect(draft.checks[0].warnings.join()).toMatch(told);
    const csv = `channel,text,date\n${accountId},Row,${far.scheduledAt}`;
    expect((await service.call("import_posts", { csv })).warnings[0].warning).toMatch(told);
    const moved = await service.call("change_posts", { ids: [post.id], shiftMinutes: 60 });
    expect(moved.warnings.join()).toMatch(/\(post_\w+\): is more than two years ahead/);
  });

  it("is null for a text, which leaves it as it is: an empty one takes it away", async () => {
    const { post } = await schedule();
    await expect(service.call("update_post", { id: post.id, caption: null })).rejects.toThrow(/caption/);
    const answer = await service.call("update_post", { id: post.id, caption: null, leadMinutes: 5 });
    expect(answer.post.caption).toBe("Hello");
    await expect(service.call("update_post", { id: post.id, caption: "" })).rejects.toThrow(
      /^caption: is empty, and there are no media/,
    );
  });

  it("is a text for a list of posts, which names no channel", async () => {
    await expect(service.call("schedule_posts", { posts: "x" })).rejects.toThrow(
      /^posts\[0\]: must be an object/,
    );
    const { draft } = await service.call("save_draft", {
      caption: "x",
      targets: "feed",
      scheduledAt: at(DAY),
    });
    expect(draft.targets).toHaveLength(1);
  });

  it("is an empty list, which is no list that was left out", async () => {
    for (const tool of ["list_posts", "show_calendar"]) {
      await service.call(tool, { status: "" });
      await expect(service.call(tool, { status: [] })).rejects.toThrow(
        "status: is empty. Give at least one item, or leave it out.",
      );
    }
    await expect(service.call("schedule_posts", { posts: [] })).rejects.toThrow(
      /^posts: is empty\. Give at least one item\.$/,
    );
  });

  it("is a report that begins after now, or a day that is none", async () => {
    await expect(service.call("get_report", { from: "2026-12-30" })).rejects.toThrow(
      /^from: "2026-12-30" is after now, and without to the report ends now\./,
    );
    for (const [tool, args] of [
      ["get_report", {}],
      ["list_posts", {}],
      ["get_account_analytics", { accountId }],
      ["change_posts", { cancel: true }],
    ] as const)
      await expect(service.call(tool, { ...args, from: "last week" })).rejects.toThrow(
        'from: "last week" is not a date. Give one such as 2031-01-30.',
      );
  });
});
