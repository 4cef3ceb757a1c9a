import { expect, it } from "vitest";
import wordpress from "../../../src/platforms/wordpress/index.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { openWordpress, type WordpressStage } from "./stage.ts";

async function publish(stage: WordpressStage, metadata: object = {}, media = ""): Promise<string> {
  const post = {
    caption: "First",
    media_url: media,
    metadata: JSON.stringify({ title: "A horn", ...metadata }),
  };
  const { id } = await addPost(stage.ctx, stage.account, post);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  return id;
}

it("changes the text around its media, and leaves what it is not told", async () => {
  await using stage = await openWordpress(wordpress);
  const id = await publish(stage, { ...PICTURES, excerpt: "Short", tags: ["Horns"] }, PHOTO_URL);
  const [post] = stage.fake.site.posts;
  Object.assign(post!, { title: "Changed on the site" });
  const before = { ...post! };
  await editPublishedPost(callOf(stage.ctx), { id, caption: "Second", metadata: { altText: "Golden" } });
  expect(post).toMatchObject({ ...before, content: expect.any(String), modifiedMs: expect.any(Number) });
  expect(post?.content).toContain("<p>Second</p>");
  expect([...(post?.content ?? "").matchAll(/alt="([^"]*)"/g)].map(([, alt]) => alt)).toEqual([
    "Golden",
    "The same horn",
  ]);
  expect(stage.fake.wrong).toEqual([]);
});

it("changes and takes off what else it may", async () => {
  await using stage = await openWordpress(wordpress);
  const id = await publish(stage, { excerpt: "Short", tags: ["Horns"], categories: ["4"], comments: false });
  const metadata = { title: "Louder", excerpt: null, tags: null, categories: null, comments: null };
  const { post } = await editPublishedPost(callOf(stage.ctx), { id, metadata });
  expect(post.metadata).toEqual({ title: "Louder" });
  expect(stage.fake.site.posts[0]).toMatchObject({
    ...{ title: "Louder", excerpt: "", tags: [], categories: [1], comment_status: "open" },
  });
  const slug = editPublishedPost(callOf(stage.ctx), { id, metadata: { slug: "other" } });
  await expect(slug).rejects.toMatchObject({ kind: "conflict" });
});

it("does not replace a text whose media it does not know, nor change what is gone", async () => {
  await using stage = await openWordpress(wordpress);
  const id = await publish(stage, {}, PHOTO_URL);
  await queryOf(stage.ctx.store).deleteFrom("effects").execute();
  const change = () => editPublishedPost(callOf(stage.ctx), { id, caption: "Second" });
  await expect(change()).rejects.toMatchObject({ kind: "conflict", message: /does not know where/ });
  stage.fake.site.trash(stage.fake.site.posts[0]!);
  await expect(change()).rejects.toMatchObject({ kind: "conflict", message: /no longer on the site/ });
});

it("replaces the featured image", async () => {
  await using stage = await openWordpress(wordpress);
  const id = await publish(stage, { thumbnailUrl: PHOTO_URL });
  const [first] = stage.fake.site.files;
  await setThumbnail(callOf(stage.ctx), { id, thumbnailUrl: PHOTO_URL });
  const [post] = stage.fake.site.posts;
  expect(post?.featured_media).not.toBe(first?.id);
  expect(stage.fake.site.files.map((file) => file.post)).toEqual([post?.id, post?.id]);
});

it("counts comments, and tells a post that was taken back", async () => {
  await using stage = await openWordpress(wordpress);
  const id = await publish(stage);
  stage.fake.state.comments = 12;
  const read = async () => readInsights(stage.ctx, await readPost(stage.ctx, id));
  expect(await read()).toMatchObject({ state: "live", metrics: { comments: 12, likes: null } });
  Object.assign(stage.fake.site.posts[0]!, { status: "private" });
  expect(await read()).toMatchObject({ state: "private", visibility: "private" });
});

it("removes for good where the site has no trash", async () => {
  await using stage = await openWordpress(wordpress, { hasTrash: false });
  const id = await publish(stage);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  const post = toPlatformPost(wordpress, await readPost(stage.ctx, id));
  for (let time = 0; time < 2; time += 1) await wordpress.remove?.(post, io);
  expect(stage.fake.site.posts).toEqual([]);
});

it("lists categories and tags", async () => {
  await using stage = await openWordpress(wordpress);
  const list = async (field: string, search = "") =>
    (await listChoices(callOf(stage.ctx), { accountId: stage.account.id, field, search })).choices;
  expect(await list("categories")).toEqual([
    { value: "1", label: "Uncategorized" },
    { value: "4", label: "News & views" },
  ]);
  expect(await list("tags", "gold")).toEqual([{ value: "Old & gold", label: "Old & gold" }]);
  expect(stage.fake.wrong).toEqual([]);
});
