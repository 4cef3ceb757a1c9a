import { expect, it } from "vitest";
import misskey from "../../../src/platforms/misskey/index.ts";
import { OutboundFailure, type OutboundRequest, type OutboundResponse } from "../../../src/ports/outbound.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { failure } from "./failure.ts";
import { openMisskey, type MisskeyStage } from "./stage.ts";

async function publish(stage: MisskeyStage, metadata: object = {}, media = ""): Promise<string> {
  const post = { caption: "First", media_url: media, metadata: JSON.stringify(metadata) };
  const { id } = await addPost(stage.ctx, stage.account, post);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
  return id;
}

it("sends pictures with their texts, and never takes a file of the same bytes for them", async () => {
  await using stage = await openMisskey(misskey);
  const id = await publish(stage, { ...PICTURES, sensitive: true, visibility: "unlisted" }, PHOTO_URL);
  const files = [...stage.fake.files.values()];
  expect(files.map(({ comment }) => comment)).toEqual(["A horn", "The same horn"]);
  expect(files.every(({ isSensitive }) => isSensitive)).toBe(true);
  const [note] = stage.fake.heads();
  expect(note).toMatchObject({ visibility: "home", fileIds: files.map((file) => file.id) });
  const { platform_post_id, platform_url } = await readPost(stage.ctx, id);
  expect([platform_post_id, platform_url]).toEqual([note?.id, `https://misskey.example/notes/${note?.id}`]);
  await expect(editPublishedPost(callOf(stage.ctx), { id, caption: "Second" })).rejects.toMatchObject({
    kind: "conflict",
  });
  expect(stage.fake.wrong).toEqual([]);
});

it("changes what a note's files are, and nothing else of it", async () => {
  await using stage = await openMisskey(misskey);
  const call = callOf(stage.ctx);
  const id = await publish(
    stage,
    { ...PICTURES, thread: [{ caption: "Two", mediaUrl: PHOTO_URL }] },
    PHOTO_URL,
  );
  await editPublishedPost(call, { id, metadata: { altText: "A golden horn", sensitive: true } });
  const files = [...stage.fake.files.values()];
  expect(files.map(({ comment, isSensitive }) => [comment, isSensitive])).toEqual([
    ["A golden horn", true],
    ["The same horn", true],
    [null, true],
  ]);
  for (const change of [{ caption: "Other" }, { metadata: { spoilerText: "Loud" } }])
    await expect(editPublishedPost(call, { id, ...change })).rejects.toMatchObject({ kind: "conflict" });
  expect(stage.fake.wrong).toEqual([]);
});

it("sends a thread in order, and removes all of it, a second between two", async () => {
  await using stage = await openMisskey(misskey);
  const { ctx, account, fake: server } = stage;
  const thread = [{ caption: "Two", mediaUrl: PHOTO_URL }, { caption: "Three" }];
  const id = await publish(stage, { thread, spoilerText: "*Long*", visibility: "private" });
  const [one, two, three] = server.notes.values();
  expect([two?.replyId, three?.replyId]).toEqual([one?.id, two?.id]);
  expect([one?.cw, two?.visibility, two?.fileIds.length]).toEqual(["<plain>*</plain>Long*", "followers", 1]);
  const row = await readPost(ctx, id);
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  let isDone = false;
  const post = toPlatformPost(misskey, row);
  const removing = misskey.remove?.(post, { ...io, ...(await readStepResults(ctx, row)) });
  void removing?.finally(() => (isDone = true));
  while (!isDone) await ctx.clock.advance(200);
  await removing;
  expect(server.notes.size).toBe(0);
  expect(server.wrong).toEqual([]);
});

it("tells what others did with a note, and with those of a range", async () => {
  await using stage = await openMisskey(misskey);
  const id = await publish(stage);
  expect(await readInsights(stage.ctx, await readPost(stage.ctx, id))).toMatchObject({
    state: "live",
    visibility: "public",
    metrics: { likes: 3, comments: 0, shares: 3, views: null },
  });
  const range = { accountId: stage.account.id, from: "2026-11-20", to: "2026-11-22" };
  const { totals, series } = await getAccountAnalytics(callOf(stage.ctx), range as never);
  expect(totals).toMatchObject({ followers: 42, posts: 1, likes: 3, comments: 0, shares: 3 });
  expect(series).toContainEqual(expect.objectContaining({ date: "2026-11-21", posts: 1, likes: 3 }));
});

it("holds texts to the server's lengths, markup and all", async () => {
  await using stage = await openMisskey(misskey);
  const dryRun = (caption: string, metadata: object = {}) =>
    schedulePost(callOf(stage.ctx), {
      accountId: stage.account.id,
      caption,
      metadata: metadata as never,
      dryRun: true,
    });
  await dryRun("🐎".repeat(3_000));
  await expect(dryRun(`${"x".repeat(2_990)} **b**`)).rejects.toThrow(/^caption: /);
  await expect(dryRun("x", { spoilerText: "y".repeat(101) })).rejects.toThrow(
    /^metadata\.spoilerText: has 101/,
  );
  await expect(dryRun("x", { thread: [{ caption: "y".repeat(3_001) }] })).rejects.toThrow(
    /^metadata\.thread\[0\]\.caption: has 3001/,
  );
  await expect(dryRun("x", { altText: "y".repeat(513) })).rejects.toThrow(/^metadata\.altText: has 513/);
  await expect(dryRun("x", { language: "en" })).rejects.toMatchObject({ kind: "invalid" });
});

/** A worker whose request to this method is answered so, from the nth on. */
function answering({ ctx }: MisskeyStage, method: string, response: () => OutboundResponse, from = 0) {
  let count = 0;
  const request = async (one: OutboundRequest) =>
    one.url.endsWith(`/api/${method}`) && count++ >= from ? response() : ctx.outbound.request(one);
  return { ...ctx, outbound: { ...ctx.outbound, request } };
}

it("leaves a warning where a later part is refused, and never sends the first again", async () => {
  await using stage = await openMisskey(misskey);
  const metadata = JSON.stringify({ thread: [{ caption: "Two" }] });
  const { id } = await addPost(stage.ctx, stage.account, { caption: "One", metadata });
  const worker = answering(stage, "notes/create", () => failure(400, "NO_SUCH_REPLY_TARGET"), 1);
  const row = await finish(stage.ctx, id, worker);
  expect(row).toMatchObject({ status: "published", error: null });
  expect(row.warnings).toContain("The rest of the thread did not go through");
  expect([...stage.fake.notes.values()].map(({ text }) => text)).toEqual(["One"]);
});

it("finds a note whose answer was lost among many, by its files or its text", async () => {
  await using stage = await openMisskey(misskey);
  const { ctx, fake: server } = stage;
  for (const media_url of ["", PHOTO_URL]) {
    let isLost = false;
    const request = async (one: OutboundRequest) => {
      if (isLost || !one.url.endsWith("/notes/create")) return ctx.outbound.request(one);
      isLost = true;
      await ctx.outbound.request(one);
      const before = server.notes.size;
      // What the account posts elsewhere meanwhile.
      for (let at = 0; at < 150; at += 1)
        server.notes.set(`zz${before}${at}`, other(ctx.clock.now(), `zz${before}${at}`));
      throw new OutboundFailure("It broke off.", true);
    };
    const { id } = await addPost(ctx, stage.account, { caption: "Lost *and* found", media_url });
    const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
    expect(await finish(ctx, id, worker)).toMatchObject({ status: "published", error: null });
  }
  expect(server.count("notes/create")).toBe(2);
});

function other(createdAt: number, id: string) {
  return {
    id,
    createdAt,
    text: "Other",
    cw: null,
    replyId: null,
    fileIds: [],
    visibility: "public",
    poll: null,
  };
}

it("asks in the first note of a thread, and finds people by their names", async () => {
  await using stage = await openMisskey(misskey);
  const { ctx, account, fake: server } = stage;
  const poll = { options: ["Yes", "No"], hours: 0.5 };
  const metadata = JSON.stringify({ poll, thread: [{ caption: "More" }] });
  const { id } = await addPost(ctx, account, { caption: "Which?", media_url: "", metadata });
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
  const polls = [...server.notes.values()].map((note) => note.poll);
  expect(polls).toEqual([{ choices: ["Yes", "No"], multiple: false, expiredAfter: 1_800_000 }, null]);
  const find = (search: string) =>
    listChoices(callOf(ctx), { accountId: account.id, field: "mention", search });
  expect(await find("@bo")).toEqual({
    choices: [
      { value: "@[Bob B](@bob@b.example)", label: "Bob [B] (@bob@b.example)" },
      { value: "@[bo](@bo)", label: "@bo" },
    ],
  });
  expect(await find("")).toEqual({ choices: [] });
});

it("refuses a caption that becomes too long as Misskey's markup", async () => {
  await using stage = await openMisskey(misskey, { maxNoteTextLength: 20 });
  const post = {
    accountId: stage.account.id,
    caption: "*a* *b* *c* *d*",
    metadata: { format: "markdown" as const },
  };
  await expect(schedulePost(callOf(stage.ctx), { ...post, dryRun: true })).rejects.toThrow(
    /^caption: has 35/,
  );
});
