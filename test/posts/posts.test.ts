import { LateCauses, claimDue } from "../../src/publishing/claim.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE, SECOND, toZoned } from "../../src/domain/time.ts";
import { drain, readPost } from "../support/publishing.ts";
import { fixture } from "../support/media.ts";
import { startService, type Service } from "../support/service.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount } from "../support/post-rows.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const inMinutes = (minutes: number): string => new Date(service.clock.now() + minutes * MINUTE).toISOString();

async function schedule(args: object = {}): Promise<any> {
  return service.call("schedule_post", { accountId, scheduledAt: inMinutes(60), caption: "Hello", ...args });
}

async function upload(): Promise<{ id: string; url: string }> {
  const answer = await service.ask("POST /api/v1/files?name=photo.png", {
    headers: { "content-type": "image/png" },
    body: fixture("photo.png"),
  });
  expect(answer.status).toBe(201);
  return answer.json.file;
}

describe("scheduling", () => {
  it("answers with exactly the fields of a post", async () => {
    const { post, warnings } = await schedule({ metadata: { title: "T" }, leadMinutes: 10 });
    expect(post).toEqual({
      id: expect.stringMatching(/^post_[0-9a-z]{26}$/),
      accountId,
      provider: "feed",
      mediaUrl: "",
      scheduledAt: inMinutes(60),
      status: "scheduled",
      caption: "Hello",
      metadata: { title: "T" },
      leadMinutes: 10,
      platformPostId: null,
      platformUrl: null,
      error: null,
      attempts: 0,
      publishedAt: null,
      createdAt: inMinutes(0),
      updatedAt: inMinutes(0),
    });
    expect(warnings).toEqual([]);
  });

  it("takes a moment of the last five minutes, or none, as now, and refuses one before with the server's time", async () => {
    expect((await schedule({ scheduledAt: inMinutes(-5) })).post.scheduledAt).toBe(inMinutes(0));
    expect((await schedule({ scheduledAt: undefined })).post.scheduledAt).toBe(inMinutes(0));
    await expect(schedule({ scheduledAt: inMinutes(-6) })).rejects.toThrow(
      `The server's time is ${toZoned(Date.parse(inMinutes(0)), "UTC")}`,
    );
  });

  it("tells once that a text is too long, also where the platform checks it as well", async () => {
    await addAccount(service.ctx.store, { id: "acc_sky", provider: "bluesky" });
    const long = schedule({ accountId: "acc_sky", caption: "x".repeat(301) });
    await expect(long).rejects.toThrow(
      "caption: has 301 graphemes, but Bluesky takes at most 300. Shorten it by 1.",
    );
    await expect(long).rejects.not.toThrow(/caption:.*caption:/);
  });

  it("takes a text of which nothing is seen for none, on every platform", async () => {
    for (const [name, platform] of service.ctx.platforms) {
      const id = `acc_${name}`;
      await addAccount(service.ctx.store, { id, provider: name });
      const refusal = (caption: string, metadata = {}): Promise<string> =>
        schedule({ accountId: id, caption, metadata, dryRun: true }).then(
          () => "taken",
          (error: Error) => error.message,
        );
      const empty = await refusal("");
      expect(empty, name).not.toBe("taken");
      for (const text of ["\u200b", " \u2060\ufeff\n", "\u00ad\u180e\u3164\u2800", "\u{e0020}"])
        expect(await refusal(text), `${name} ${JSON.stringify(text)}`).toBe(empty);
      if ("thread" in platform.metadata.shape)
        expect(await refusal("One", { thread: [{ caption: "\u200b" }] }), name).toContain(
          "metadata.thread[0].caption: is empty",
        );
    }
    // A reader sees these.
    for (const caption of ["👨‍👩‍👧", "ᅠx", "‮a"])
      expect((await schedule({ caption })).post.caption).toBe(caption);
  });

  it("names the fields of a part of a thread as such", async () => {
    await addAccount(service.ctx.store, { id: "acc_sky", provider: "bluesky" });
    const metadata = { thread: [{ caption: "y", foo: 1 }] };
    await expect(schedule({ accountId: "acc_sky", metadata })).rejects.toThrow(
      /^metadata\.thread\[0\]: "foo" is not a known field\. The fields of metadata\.thread\[0\] are caption, mediaUrl, altText\.$/,
    );
  });

  it("reads a time without an offset in the configured zone, which programs are told", async () => {
    const { post, warnings } = await schedule({ scheduledAt: "2027-01-31T09:00:00" });
    expect(post.scheduledAt).toBe("2027-01-31T09:00:00.000Z");
    expect(warnings).toEqual([]);
    expect((await schedule({ scheduledAt: "2027-01-31T10:00:00+01:00" })).post.scheduledAt).toBe(
      "2027-01-31T09:00:00.000Z",
    );
  });

  it.each([
    ["an impossible day", { scheduledAt: "2027-02-30T10:00:00Z" }, /scheduledAt.*not a date/],
    ["a number of years", { scheduledAt: "9999-01-01T00:00:00Z" }, /scheduledAt.*out of range/],
    [
      "unknown metadata",
      { metadata: { titel: "x" } },
      /metadata: "titel" is not a known field\. Did you mean title\? The fields of Feed are title/,
    ],
    ["metadata of another type", { metadata: { tags: 5, title: 5 } }, /metadata\.title: must be a string/],
    [
      "two thumbnails",
      { thumbnailUrl: "https://a.example/1", metadata: { thumbnailUrl: "https://a.example/2" } },
      /thumbnailUrl: differs/,
    ],
    ["a lead that is too long", { leadMinutes: 99_999 }, /leadMinutes: must be from 0 to/],
    ["nothing to post", { caption: "" }, /caption: is empty, and there are no media/],
    [
      "a text that is too long",
      { caption: "x".repeat(10_001) },
      /caption: has 10001 characters.*Shorten it by 1/,
    ],
    ["an unknown account", { accountId: "acc_nope" }, /accountId.*list_accounts/],
    ["a missing file", { mediaUrl: "file_01jd0000000000000000000000" }, /mediaUrl/],
    ["a local path", { mediaUrl: "file:///etc/passwd" }, /mediaUrl/],
  ])("refuses %s", async (_name, args, message) => {
    await expect(schedule(args)).rejects.toThrow(message);
    expect((await service.call("list_posts", {})).posts).toEqual([]);
  });

  it("takes a file's id as media and stores its address", async () => {
    const file = await upload();
    const { post } = await schedule({
      mediaUrl: file.id,
      metadata: { moreMedia: [{ url: file.id, altText: "again" }], thumbnailUrl: file.id },
    });
    expect(post.mediaUrl).toBe(file.url);
    expect(post.metadata).toEqual({
      moreMedia: [{ url: file.url, altText: "again" }],
      thumbnailUrl: file.url,
    });
    await expect(service.call("delete_file", { id: file.id })).rejects.toThrow(/waiting post/);
  });

  it("warns of a post that is waiting already, and of media that does not answer", async () => {
    const first = await schedule({ mediaUrl: "https://media.example/a.jpg" });
    expect(first.warnings).toEqual([expect.stringMatching(/mediaUrl: the address does not answer now/)]);
    const second = await schedule({ mediaUrl: "https://media.example/a.jpg" });
    expect(second.warnings.join()).toContain(first.post.id);
  });

  it("stores nothing on a dry run, and says that it was one", async () => {
    const shown = await schedule({ dryRun: true });
    expect(shown).toMatchObject({ post: { id: "", caption: "Hello" }, dryRun: true });
    expect(shown.preview).toEqual({
      text: "Hello",
      parts: [],
      count: { length: 5, max: 10_000, unit: "characters" },
      media: [],
      link: null,
      note: null,
    });
    const { results } = await service.call("schedule_posts", {
      posts: [
        { accountId, caption: "shown", scheduledAt: inMinutes(1), dryRun: true },
        { accountId, caption: "kept", scheduledAt: inMinutes(1) },
      ],
    });
    expect(results).toMatchObject([
      { post: { id: "" }, dryRun: true, preview: { text: "shown" } },
      { post: { caption: "kept" } },
    ]);
    expect(results[1]).not.toHaveProperty("dryRun");
    expect(results[1]).not.toHaveProperty("preview");
    expect((await service.call("list_posts", {})).posts.map((post: any) => post.caption)).toEqual(["kept"]);
    expect(await schedule({ dryRun: false })).not.toHaveProperty("preview");
  });

  it("looks at a whole batch with one word, stores nothing, and tells what the posts are to each other", async () => {
    const post = { accountId, caption: "Twice", scheduledAt: inMinutes(1) };
    const args = { posts: [post, post, { ...post, accountId: "acc_none" }], dryRun: true };
    const { results } = await service.call("schedule_posts", args);
    const shown = { post: { id: "" }, dryRun: true, preview: { text: "Twice" }, error: null };
    expect(results).toMatchObject([
      { ...shown, warnings: [] },
      { ...shown, warnings: [expect.stringMatching(/^Another post of this call has the same account/)] },
      { post: null, error: expect.stringContaining("acc_none") },
    ]);
    expect((await service.call("list_posts", {})).posts).toEqual([]);
  });

  it("warns of a text that is live on the channel since not long, whatever its spelling, and names the post", async () => {
    const { post } = await schedule({ scheduledAt: undefined, caption: "Grüße" });
    await drain(service.ctx);
    const again = await schedule({ caption: "Gru\u0308ße", dryRun: true });
    expect(again.warnings).toEqual([expect.stringMatching(`live on this channel since .*${post.id}`)]);
    expect((await schedule({ caption: "Grüße an alle" })).warnings).toEqual([]);
    expect((await schedule({ accountId: await service.addFeed(), caption: "Grüße" })).warnings).toEqual([]);
    await service.clock.advance(30 * DAY + MINUTE);
    expect((await schedule({ caption: "Grüße" })).warnings).toEqual([]);
  });

  it("schedules many, each for itself, or all or none", async () => {
    const posts = [
      { accountId, caption: "one", scheduledAt: inMinutes(1) },
      { accountId, caption: "", scheduledAt: inMinutes(2) },
      { accountId, caption: "three", scheduledAt: inMinutes(3) },
    ];
    const some = await service.call("schedule_posts", { posts });
    expect(
      some.results.map((result: any) => [result.index, result.post?.caption ?? null, result.error === null]),
    ).toEqual([
      [0, "one", true],
      [1, null, false],
      [2, "three", true],
    ]);
    const none = await service.call("schedule_posts", { posts, atomic: true });
    expect(none.results.every((result: any) => result.post === null && result.error !== null)).toBe(true);
    expect((await service.call("list_posts", {})).posts).toHaveLength(2);
  });

  it("does a call with an idempotency key once", async () => {
    const args = { idempotencyKey: "k1", scheduledAt: inMinutes(60) };
    const all = await Promise.allSettled(Array.from({ length: 50 }, () => schedule(args)));
    const ids = new Set(all.flatMap((end) => (end.status === "fulfilled" ? [end.value.post.id] : [])));
    const refused = all.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
    expect(ids.size).toBe(1);
    for (const reason of refused) expect(reason).toMatch(/still running/);
    expect((await schedule(args)).post.id).toBe([...ids][0]);
    await expect(schedule({ ...args, caption: "Other" })).rejects.toMatchObject({ kind: "conflict" });
    expect((await service.call("list_posts", {})).posts).toHaveLength(1);
  });
});

describe("changing and cancelling", () => {
  it("changes what is given, merges metadata and removes with null", async () => {
    const { post } = await schedule({ metadata: { title: "A", tags: ["x"] } });
    const changed = await service.call("update_post", {
      id: post.id,
      scheduledAt: inMinutes(90),
      metadata: { title: null, link: "https://a.example/" },
    });
    expect(changed.post).toMatchObject({
      caption: "Hello",
      scheduledAt: inMinutes(90),
      metadata: { tags: ["x"], link: "https://a.example/" },
    });
    const cleared = await service.call("update_post", { id: post.id, metadata: { tags: null, link: null } });
    expect(cleared.post.metadata).toBeNull();
  });

  it("keeps both of two changes that come at once", async () => {
    const { post } = await schedule();
    await Promise.all([
      service.call("update_post", { id: post.id, metadata: { title: "T" } }),
      service.call("update_post", { id: post.id, metadata: { link: "https://a.example/" } }),
      service.call("update_post", { id: post.id, metadata: { tags: ["x"] } }),
    ]);
    expect((await service.call("get_post", { id: post.id })).post.metadata).toEqual({
      title: "T",
      link: "https://a.example/",
      tags: ["x"],
    });
  });

  it("finds and orders a post by what it is now", async () => {
    const { post } = await schedule({ caption: "giraffe" });
    await schedule({ caption: "other", scheduledAt: inMinutes(70) });
    await service.call("update_post", { id: post.id, caption: "zebra", scheduledAt: inMinutes(80) });
    expect((await service.call("list_posts", { search: "giraffe" })).posts).toEqual([]);
    expect((await service.call("list_posts", { search: "zeb" })).posts[0].id).toBe(post.id);
    expect((await service.call("list_posts", {})).posts.map((one: any) => one.caption)).toEqual([
      "zebra",
      "other",
    ]);
  });

  it("refuses an empty change and one of a post that does not wait", async () => {
    const { post } = await schedule();
    await expect(service.call("update_post", { id: post.id })).rejects.toThrow(/Nothing to change/);
    await service.call("cancel_post", { id: post.id });
    await expect(service.call("update_post", { id: post.id, caption: "x" })).rejects.toThrow(
      /The post is cancelled/,
    );
    await expect(service.call("cancel_post", { id: post.id })).rejects.toMatchObject({ kind: "conflict" });
  });

  it("never publishes after a cancel was answered, whoever is first", async () => {
    for (let round = 0; round < 30; round++) {
      const { post } = await schedule({ scheduledAt: undefined });
      const [cancelled, claimed] = await Promise.allSettled([
        service.call("cancel_post", { id: post.id }),
        claimDue(service.ctx, { lateCauses: new LateCauses(), limit: 10 }),
      ]);
      const isClaimed = claimed.status === "fulfilled" && claimed.value.posts.length > 0;
      expect(cancelled.status === "fulfilled").toBe(!isClaimed);
      await queryOf(service.ctx.store)
        .updateTable("posts")
        .set({ status: "cancelled", next_at: null, lease_worker: null })
        .execute();
      await queryOf(service.ctx.store).updateTable("accounts").set({ in_flight_post: null }).execute();
    }
  });
});

describe("on the platform", () => {
  async function published(args: object = {}): Promise<any> {
    const { post } = await schedule({ scheduledAt: undefined, ...args });
    await drain(service.ctx);
    return (await service.call("get_post", { id: post.id })).post;
  }

  it("goes the whole way, with its history", async () => {
    const { post } = await schedule({ leadMinutes: 30 });
    await service.clock.advance(30 * MINUTE);
    await drain(service.ctx);
    expect((await service.call("get_post", { id: post.id })).post).toMatchObject({
      status: "uploaded",
      platformPostId: post.id,
      publishedAt: null,
    });
    await service.clock.advance(30 * MINUTE);
    await drain(service.ctx);
    const end = await service.call("get_post", { id: post.id, history: true, insights: true });
    expect(end.post).toMatchObject({ status: "published", attempts: 1, publishedAt: inMinutes(0) });
    expect(end.history).toMatchObject([
      {
        number: 1,
        outcome: "published",
        latenessMs: 0,
        steps: [
          { step: "prepare", state: "done" },
          { step: "show", state: "done" },
        ],
      },
    ]);
    expect(end.insights).toMatchObject({ available: true, state: "live" });
  });

  it("takes a live post down, once a platform can, and keeps where it was", async () => {
    const post = await published();
    await expect(service.call("cancel_post", { id: post.id })).rejects.toThrow(
      /cancel_post with fromPlatform/,
    );
    const { post: gone } = await service.call("cancel_post", { id: post.id, fromPlatform: true });
    const { publishedAt, platformUrl, platformPostId } = post;
    expect(gone).toMatchObject({
      status: "cancelled",
      error: null,
      publishedAt,
      platformUrl,
      platformPostId,
    });
    expect(publishedAt).not.toBeNull();
    expect(await service.ctx.feed.get(accountId, post.id)).toBeNull();
    await expect(service.call("cancel_post", { id: post.id, fromPlatform: true })).rejects.toThrow(
      /The post is cancelled/,
    );
  });

  it("takes an uploaded post back", async () => {
    const { post } = await schedule({ leadMinutes: 30 });
    await service.clock.advance(30 * MINUTE);
    await drain(service.ctx);
    await expect(service.call("cancel_post", { id: post.id })).rejects.toThrow(/fromPlatform/);
    expect((await service.call("cancel_post", { id: post.id, fromPlatform: true })).post.status).toBe(
      "cancelled",
    );
    expect(await service.ctx.feed.get(accountId, post.id)).toBeNull();
    await service.clock.advance(60 * MINUTE);
    await drain(service.ctx);
    expect((await readPost(service.ctx, post.id)).status).toBe("cancelled");
  });

  it("edits a live post, and lists what can be edited where it cannot", async () => {
    const post = await published({ metadata: { title: "Before" } });
    const edited = await service.call("edit_published_post", {
      id: post.id,
      caption: "After",
      metadata: { title: "New" },
    });
    expect(edited.post).toMatchObject({ caption: "After", metadata: { title: "New" }, status: "published" });
    expect(await service.ctx.feed.get(accountId, post.id)).toMatchObject({ title: "New", text: "After" });
    const fixed = service.call("edit_published_post", {
      id: post.id,
      metadata: { thumbnailUrl: "https://a.example/x.jpg" },
    });
    await expect(fixed).rejects.toThrow(
      /thumbnailUrl: cannot be changed on a live post of Feed\. What can be: caption, title/,
    );
    const { post: waiting } = await schedule();
    await expect(service.call("edit_published_post", { id: waiting.id, caption: "x" })).rejects.toMatchObject(
      { kind: "conflict" },
    );
  });

  it("says that nothing changed where an edit holds what is there", async () => {
    const warnings = ["Nothing changed: the post is so already."];
    const post = await published({ caption: "Same", metadata: { title: "Same" } });
    const edit = { id: post.id, caption: "Same", metadata: { title: "Same" } };
    expect(await service.call("edit_published_post", edit)).toMatchObject({ warnings });
    const { post: waiting } = await schedule({ caption: "Waits" });
    expect((await service.call("update_post", { id: waiting.id, caption: "Waits" })).warnings).toEqual(
      warnings,
    );
    expect((await service.call("update_post", { id: waiting.id, caption: "Other" })).warnings).toEqual([]);
  });

  it("sets a thumbnail on what is there, and refuses one on what is not", async () => {
    const file = await upload();
    const post = await published();
    const { post: after } = await service.call("set_thumbnail", { id: post.id, thumbnailUrl: file.id });
    expect(after.metadata).toEqual({ thumbnailUrl: file.url });
    expect((await service.ctx.feed.get(accountId, post.id))?.thumbnail).toMatchObject({
      mimeType: "image/png",
    });
    const { post: waiting } = await schedule();
    await expect(
      service.call("set_thumbnail", { id: waiting.id, thumbnailUrl: file.id }),
    ).rejects.toMatchObject({ kind: "conflict" });
  });
});

describe("failures", () => {
  async function failed(set: { in_doubt?: number; error?: string } = {}): Promise<string> {
    const { post } = await schedule();
    const error = set.error ?? "The platform refused it.";
    await queryOf(service.ctx.store)
      .updateTable("posts")
      .set({ status: "failed", next_at: null, error, in_doubt: set.in_doubt ?? 0 })
      .where("id", "=", post.id)
      .execute();
    return post.id;
  }

  it("sends a failed post again at once, under a new run", async () => {
    const id = await failed();
    const { post } = await service.call("retry_post", { id });
    expect(post).toMatchObject({ status: "scheduled", error: null, scheduledAt: inMinutes(0) });
    await drain(service.ctx);
    expect(await readPost(service.ctx, id)).toMatchObject({ status: "published", run: 2 });
    await expect(service.call("retry_post", { id })).rejects.toMatchObject({ kind: "conflict" });
  });

  it("asks the platform first where the outcome is unknown, and adopts the post that is there", async () => {
    const id = await failed({ in_doubt: 1, error: "outcome unknown: …" });
    const now = service.clock.now();
    const effect = {
      post_id: id,
      run: 1,
      fence: 1,
      effect_key: "k",
      request_hash: "h",
      asked: 0,
      started_at: now,
    };
    const row = { ...effect, handle_enc: null, finished_at: null, http_status: null };
    await queryOf(service.ctx.store)
      .insertInto("effects")
      .values({ ...row, step: "prepare", state: "done", result: "true" })
      .execute();
    await queryOf(service.ctx.store)
      .insertInto("effects")
      .values({ ...row, step: "show", state: "unknown", result: null })
      .execute();
    await service.ctx.feed.put({
      accountId,
      id,
      title: null,
      text: "Hello",
      link: null,
      tags: [],
      language: null,
      media: [],
      thumbnail: null,
      publishedAt: now,
      isPublic: true,
    });
    await service.clock.advance(61 * MINUTE);
    const { post } = await service.call("retry_post", { id });
    expect(post).toMatchObject({ status: "published", platformPostId: id, error: null });
  });

  it("lets a person settle an unknown outcome, either way, once", async () => {
    const published = await failed({ in_doubt: 1 });
    const told = await service.call("resolve_post", {
      id: published,
      outcome: "published",
      platformUrl: "https://platform.example/1",
    });
    expect(told.post).toMatchObject({
      status: "published",
      platformUrl: "https://platform.example/1",
      error: null,
    });
    await expect(service.call("resolve_post", { id: published, outcome: "published" })).rejects.toMatchObject(
      { kind: "conflict" },
    );
    const absent = await failed({ in_doubt: 1 });
    const denied = await service.call("resolve_post", { id: absent, outcome: "not_published" });
    expect(denied.post).toMatchObject({ status: "failed", error: expect.stringMatching(/Send it again/) });
    expect((await service.call("retry_post", { id: absent })).post.status).toBe("scheduled");
  });

  it("sends a failed post again as it was changed, checked like a new one", async () => {
    const id = await failed();
    await expect(service.call("retry_post", { id, metadata: { titel: "x" } })).rejects.toThrow(/titel/);
    await expect(service.call("retry_post", { id, caption: "" })).rejects.toThrow(/caption: is empty/);
    const { post, warnings } = await service.call("retry_post", {
      id,
      caption: "Corrected",
      metadata: { title: "T" },
    });
    expect(warnings).toEqual([]);
    expect(post).toMatchObject({
      status: "scheduled",
      error: null,
      scheduledAt: inMinutes(0),
      caption: "Corrected",
    });
    await drain(service.ctx);
    expect((await service.call("get_post", { id })).post).toMatchObject({ status: "published", attempts: 1 });
    expect(await service.ctx.feed.get(accountId, id)).toMatchObject({ title: "T", text: "Corrected" });
    expect((await service.call("list_posts", { search: "corrected" })).posts).toHaveLength(1);
  });

  it("sends a failed post again later", async () => {
    const id = await failed();
    const { post } = await service.call("retry_post", { id, scheduledAt: inMinutes(90) });
    expect(post).toMatchObject({ status: "scheduled", error: null, scheduledAt: inMinutes(90) });
    await service.clock.advance(89 * MINUTE);
    await drain(service.ctx);
    expect((await readPost(service.ctx, id)).status).toBe("scheduled");
    await service.clock.advance(MINUTE);
    await drain(service.ctx);
    expect((await readPost(service.ctx, id)).status).toBe("published");
  });

  it("takes changes over HTTP as the tool does", async () => {
    const id = await failed();
    const answer = await service.ask(`POST /api/v1/posts/${id}`, { json: { caption: "Corrected" } });
    expect([answer.status, answer.json.post?.caption]).toEqual([200, "Corrected"]);
    const again = await service.ask(`POST /api/v1/posts/${await failed()}`, { json: {} });
    expect(Object.keys(again.json)).toEqual(["post"]);
  });

  it("puts a failed post away, a doubtful one too, and counts it no more", async () => {
    for (const doubt of [0, 1]) {
      const id = await failed({ in_doubt: doubt, error: "The platform refused it." });
      expect((await service.call("get_status", {})).counts.failed).toBe(1);
      const { post } = await service.call("resolve_post", { id, outcome: "dismissed" });
      expect(post).toMatchObject({ status: "cancelled", error: "The platform refused it." });
      expect(await service.call("get_status", {})).toMatchObject({
        counts: { failed: 0, unknownOutcome: 0 },
        lastFailures: [],
      });
      await expect(service.call("retry_post", { id })).rejects.toMatchObject({ kind: "conflict" });
      await expect(service.call("resolve_post", { id, outcome: "dismissed" })).rejects.toThrow(
        doubt === 1 ? /^It was dismissed, and it is not known whether it is out/ : /cancelled already/,
      );
    }
  });

  it.each([
    ["update_post", { caption: "x" }],
    ["cancel_post", {}],
    ["cancel_post", { fromPlatform: true }],
    ["edit_published_post", { caption: "x" }],
  ])("names the ways that a failed post has: %s %j", async (tool, args) => {
    const call = service.call(tool, { id: await failed(), ...args });
    await expect(call).rejects.toThrow(
      /retry_post with what is to be changed.*resolve_post with outcome dismissed/,
    );
  });

  it("plans on a channel that must be reconnected, with a warning, and sends nothing again there", async () => {
    const id = await failed();
    const { post: waiting } = await schedule({ caption: "Waits" });
    await queryOf(service.ctx.store)
      .updateTable("accounts")
      .set({ status: "reconnect_required", status_reason: "The password was refused." })
      .execute();
    const warning = expect.stringMatching(
      /reconnected first\. The password was refused\..*connect_channel.*Until then the post waits/,
    );
    expect((await schedule({ caption: "Another", scheduledAt: inMinutes(70) })).warnings).toEqual([warning]);
    expect((await schedule({ dryRun: true, caption: "Other", scheduledAt: inMinutes(80) })).warnings).toEqual(
      [warning],
    );
    const moved = await service.call("update_post", { id: waiting.id, scheduledAt: inMinutes(90) });
    expect(moved.warnings).toEqual([warning]);
    await expect(service.call("retry_post", { id, caption: "x" })).rejects.toThrow(/reconnected first/);
    await service.call("disconnect_channel", { accountId });
    await expect(schedule()).rejects.toMatchObject({ kind: "conflict" });
  });

  it("keeps a post of a disconnected channel waiting, and fails it clearly when its time is over", async () => {
    const { post } = await schedule();
    await service.call("disconnect_channel", { accountId });
    await service.clock.advance(60 * MINUTE + SECOND);
    await drain(service.ctx);
    expect(await readPost(service.ctx, post.id)).toMatchObject({
      status: "scheduled",
      error: expect.stringMatching(/must be reconnected first/),
    });
    await service.clock.advance(61 * MINUTE);
    await drain(service.ctx);
    expect(await readPost(service.ctx, post.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/missed its time.*must be reconnected first/i),
    });
  });
});
