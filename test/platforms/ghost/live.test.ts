import { expect, it } from "vitest";
import ghost from "../../../src/platforms/ghost/index.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { openGhost } from "./stage.ts";

it("changes what was changed alone, and keeps the media", async () => {
  await using stage = await openGhost();
  const { ctx, fake } = stage;
  const { id } = await stage.add("First", { ...PICTURES, tags: ["Brass"] }, { media_url: PHOTO_URL });
  await endOf(stage, id);
  const [post] = fake.posts.shown();
  // As somebody does it in the editor meanwhile.
  Object.assign(post ?? {}, { tags: [{ name: "Silver" }], updated_at: "2026-11-21T10:00:00.000Z" });
  const metadata = { title: "Trumpet", altText: "A golden horn" };
  await editPublishedPost(callOf(ctx), { id, caption: "Second", metadata });
  expect(fake.posts.shown()).toMatchObject([{ title: "Trumpet", slug: "horn", tags: [{ name: "Silver" }] }]);
  expect(await stage.captions()).toEqual([expect.stringContaining("Second")]);
  expect(post?.lexical).toContain("A golden horn");
  expect(post?.lexical).toContain("The same horn");
  const moved = await editPublishedPost(callOf(ctx), {
    id,
    metadata: { slug: "trumpet", description: null },
  });
  expect(moved.post.platformUrl).toBe("https://blog.example/horns/trumpet/");
  const change = { id, metadata: { newsletter: "weekly" } };
  await expect(editPublishedPost(callOf(ctx), change)).rejects.toMatchObject({ kind: "conflict" });
});

it("sets another feature image", async () => {
  await using stage = await openGhost();
  const row = await endOf(stage, (await stage.add("First")).id);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  const media = stage.ctx.media.forPost({ ownerId: row.owner_id, postId: row.id }, io.signal);
  await ghost.setThumbnail?.(toPlatformPost(ghost, row), PHOTO_URL, { ...io, media } as never);
  expect(stage.fake.posts.shown()).toMatchObject([{ feature_image: stage.fake.files[0] }]);
});

it("counts members, and lists newsletters and authors", async () => {
  await using stage = await openGhost();
  const { ctx, account } = stage;
  const range = { accountId: account.id, from: "2026-11-20", to: "2026-11-22" };
  const { totals } = await getAccountAnalytics(callOf(ctx), range as never);
  expect(totals).toMatchObject({ followers: 42 });
  const choices = (field: string, search: string) =>
    listChoices(callOf(ctx), { accountId: account.id, field, search });
  expect(await choices("newsletter", "WEEK")).toMatchObject({
    choices: [{ value: "weekly", label: "Weekly" }],
  });
  expect(await choices("authors", "")).toMatchObject({ choices: [{ value: "alice@blog.example" }] });
});
