import { describe, expect, it } from "vitest";
import lemmy from "../../../src/platforms/lemmy/index.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { openLemmy, type LemmyStage } from "./stage.ts";

const GIVEN = { community: "!horns@other.example", title: "A horn" };

async function publish(stage: LemmyStage, metadata: object = {}, media = ""): Promise<string> {
  const post = { caption: "*First*", media_url: media, metadata: JSON.stringify({ ...GIVEN, ...metadata }) };
  const { id } = await addPost(stage.ctx, stage.account, post);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
  return id;
}

describe.each(["v3", "v4"] as const)("on %s", (version) => {
  it("posts pictures into a community, the first as what it leads to", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const { fake: server } = stage;
    const id = await publish(stage, { ...PICTURES, sensitive: true }, PHOTO_URL);
    const [post] = server.posts.shown();
    const [first, second] = server.images.keys();
    expect(post).toMatchObject({
      communityId: 4,
      name: "A horn",
      url: first,
      altText: "A horn",
      nsfw: true,
      body: `\\*First\\*\n\n![The same horn](${second})`,
    });
    const { platform_post_id, platform_url } = await readPost(stage.ctx, id);
    expect([platform_post_id, platform_url]).toEqual(["100", "https://lemmy.example/post/100"]);
    expect(server.wrong).toEqual([]);
  });

  it("changes what is changed, and keeps the pictures", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const call = callOf(stage.ctx);
    const id = await publish(stage, PICTURES, PHOTO_URL);
    const before = { ...stage.fake.posts.shown()[0] };
    const metadata = { title: "Two horns", altText: "A golden horn" };
    await editPublishedPost(call, { id, caption: "Second", metadata });
    const [post] = stage.fake.posts.shown();
    expect(post).toMatchObject({ name: "Two horns", altText: "A golden horn", url: before.url });
    expect(post?.body).toBe(before.body?.replace("\\*First\\*", "Second"));
    const moved = editPublishedPost(call, { id, metadata: { community: "news" } });
    await expect(moved).rejects.toMatchObject({ kind: "conflict" });
    expect(stage.fake.wrong).toEqual([]);
  });

  it("takes a link away, and puts another picture beside it", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const id = await publish(stage, { link: "https://a.example/1", thumbnailUrl: PHOTO_URL });
    const [post] = stage.fake.posts.shown();
    expect(post?.url).toBe("https://a.example/1");
    const row = await readPost(stage.ctx, id);
    const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
    const media = stage.ctx.media.forPost({ ownerId: row.owner_id, postId: row.id }, io.signal);
    await lemmy.setThumbnail?.(toPlatformPost(lemmy, row), PHOTO_URL, { ...io, media } as never);
    expect([...stage.fake.images.keys()]).toEqual([expect.any(String), post?.thumbnail]);
    await editPublishedPost(callOf(stage.ctx), { id, metadata: { link: null } as never });
    expect(stage.fake.posts.shown()[0]?.url).toBeNull();
  });

  it("tells what others did with a post, and that it is gone, and removes it once", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const { ctx, account } = stage;
    const row = await readPost(ctx, await publish(stage));
    expect(await readInsights(ctx, row)).toMatchObject({ state: "live", metrics: { likes: 4, comments: 2 } });
    const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
    for (let time = 0; time < 2; time += 1) await lemmy.remove?.(toPlatformPost(lemmy, row), io);
    expect(await readInsights(ctx, row)).toMatchObject({ state: "removed" });
    stage.fake.posts.posts.clear();
    await lemmy.remove?.(toPlatformPost(lemmy, row), io);
    expect(stage.fake.wrong).toEqual([]);
  });

  it("names communities: those that the account joined, and those that are searched for", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const find = (search: string) =>
      listChoices(callOf(stage.ctx), { accountId: stage.account.id, field: "community", search });
    expect((await find("")).choices).toEqual([
      { value: "horns@other.example", label: "horns@other.example" },
    ]);
    expect((await find("new")).choices).toEqual([
      { value: "news@lemmy.example", label: "News (news@lemmy.example)" },
    ]);
    expect(stage.fake.wrong).toEqual([]);
  });
});

it("holds a post to Lemmy's rules", async () => {
  await using stage = await openLemmy(lemmy);
  const dryRun = (metadata: object, mediaUrl = "", caption = "x") =>
    schedulePost(callOf(stage.ctx), {
      accountId: stage.account.id,
      caption,
      mediaUrl,
      metadata: metadata as never,
      dryRun: true,
    });
  for (const community of ["news", "!news@lemmy.ml", "https://lemmy.ml/c/news", "/c/news@lemmy.ml"])
    await dryRun({ ...GIVEN, community });
  for (const wrong of [
    { title: "A horn" },
    { community: "news" },
    { ...GIVEN, community: "two words" },
    { ...GIVEN, title: "ab" },
    { ...GIVEN, title: "a\nb c" },
    { ...GIVEN, title: "x".repeat(201) },
    { ...GIVEN, visibility: "private" },
  ])
    await expect(dryRun(wrong)).rejects.toMatchObject({ kind: "invalid" });
  await expect(dryRun({ ...GIVEN, link: "https://a.example" }, PHOTO_URL)).rejects.toThrow(
    /^metadata\.link: /,
  );
  await expect(dryRun({ ...GIVEN, altText: "x".repeat(1_501) }, PHOTO_URL)).rejects.toThrow(
    /^metadata\.altText: has 1501/,
  );
  await expect(dryRun(GIVEN, "", "*".repeat(25_001))).rejects.toThrow(/^caption: /);
});

it("looks up a community by its name, and refuses films", async () => {
  await using stage = await openLemmy(lemmy);
  const { ctx, account } = stage;
  const metadata = JSON.stringify({ ...GIVEN, community: "https://other.example/c/horns" });
  await endOf(stage, (await addPost(ctx, account, { caption: "x", metadata })).id);
  expect(stage.fake.posts.shown()[0]?.communityId).toBe(4);
  const unknown = JSON.stringify({ ...GIVEN, community: "nobody" });
  const row = await endOf(stage, (await addPost(ctx, account, { caption: "x", metadata: unknown })).id);
  expect(row).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^metadata\.community: .*no such/),
  });
  const film = await endOf(
    stage,
    (await addPost(ctx, account, { media_url: CLIP_URL, metadata: JSON.stringify(GIVEN) })).id,
  );
  expect(film.status).toBe("failed");
});
