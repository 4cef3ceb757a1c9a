import { expect, it } from "vitest";
import devto from "../../../src/platforms/devto/index.ts";
import { escapeMarkdown } from "../../../src/platforms/devto/metadata.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { PNG_URL } from "../instagram/stage-kit.ts";
import { openDevto } from "./stage.ts";

it("says that a key is wrong, and takes a good one for the same account", async () => {
  await using stage = await openDevto();
  const connect = (apiKey: string) =>
    connectWithSecrets(callOf(stage.ctx), { provider: "devto", secrets: { apiKey } });
  await expect(connect("wrong")).rejects.toThrow(/^apiKey: /);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  expect(await devto.inspect?.(io)).toMatchObject({ name: "Alice", handle: "alice", problem: null });
  expect(stage.account).toMatchObject({ platform_account_id: "42", profile_url: "https://dev.to/alice" });
});

it("keeps a draft until its time, with all that was said of it", async () => {
  await using stage = await openDevto();
  const { ctx, fake } = stage;
  const now = ctx.clock.now();
  const metadata = {
    ...PICTURES,
    tags: ["brass"],
    canonicalUrl: "https://a.example/",
    description: "Short",
    series: "S",
  };
  const times = { scheduled_at: now + 600_000, due_at: now, lead_minutes: 10 };
  const { id } = await stage.add("See https://a.example/_x_.", metadata, { media_url: PHOTO_URL, ...times });
  await drain(ctx);
  expect(await readPost(ctx, id)).toMatchObject({ status: "uploaded" });
  expect([...fake.articles.values()]).toMatchObject([
    {
      published: false,
      title: "Horn",
      tags: ["brass"],
      canonical_url: "https://a.example/",
      description: "Short",
      series: "S",
      body_markdown: `![A horn](${PHOTO_URL})\n\n![The same horn](${PHOTO_URL})\n\nSee https://a.example/_x_.`,
    },
  ]);
  await ctx.clock.advance(600_000);
  expect(await endOf(stage, id)).toMatchObject({
    status: "published",
    platform_url: expect.stringMatching(/horn-1001$/),
  });
  expect(fake.calls.filter((name) => name.startsWith("POST"))).toHaveLength(1);
});

it("takes Markdown as it is, and no front matter, which would publish the draft at once", async () => {
  await using stage = await openDevto();
  await endOf(stage, (await stage.add("# Head {% embed x %}", { format: "markdown" })).id);
  expect(stage.fake.shown()).toMatchObject([{ body_markdown: "# Head {% embed x %}" }]);
  const matter = "\n---\npublished: true\n---\nText";
  await endOf(stage, (await stage.add(matter)).id);
  expect(await stage.captions()).toContain(matter);
  const { id } = await stage.add(matter, { format: "markdown" });
  expect(await endOf(stage, id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^caption: /),
  });
  const post = { accountId: stage.account.id, caption: matter, metadata: { title: "T", format: "markdown" } };
  await expect(schedulePost(callOf(stage.ctx), { ...post, dryRun: true })).rejects.toThrow(/front matter/);
});

it.each([
  ["{{ x }} {% y %}", "{% raw %}{{{% endraw %} x }} {% raw %}{%{% endraw %} y %}"],
  ["(https://a.example/_x_). *x*", "\\(https://a.example/_x_). \\*x\\*"],
  ["    code", "&#32;   code"],
  ["1. one\n- two\n# three", "1\\. one\n\\- two\n\\# three"],
  ["a < b & c", "a &#60; b &#38; c"],
])("escapes %j", (text, expected) => {
  expect(escapeMarkdown(text)).toBe(expected);
});

it("publishes once what it finds again as its own, and refuses a twin of another's", async () => {
  await using stage = await openDevto();
  await endOf(stage, (await stage.add("Twin")).id);
  expect(await endOf(stage, (await stage.add("Twin")).id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/same title and text/),
  });
  expect(await stage.published()).toBe(1);
});

it("refuses pictures that would have to be changed", async () => {
  await using stage = await openDevto();
  const metadata = JSON.stringify({ title: "Horn" });
  const { id } = await addPost(stage.ctx, stage.account, { media_url: PHOTO_URL, metadata });
  const media = {
    ...stage.ctx.media,
    forPost: (...args: Parameters<typeof stage.ctx.media.forPost>) => {
      const source = stage.ctx.media.forPost(...args);
      return {
        ...source,
        fitImage: async (item: any, limits: any) => ({
          ...(await source.fitImage(item, limits)),
          isChanged: true,
        }),
      };
    },
  };
  expect(await finish(stage.ctx, id, { ...stage.ctx, media })).toMatchObject({
    error: expect.stringMatching(/^mediaUrl: DEV shows pictures unchanged/),
  });
});

it("changes a live article, its cover, and tells what others did with it", async () => {
  await using stage = await openDevto();
  const { ctx, fake } = stage;
  const metadata = { description: "Old", canonicalUrl: "https://a.example/" };
  const { id } = await stage.add("First", metadata, { media_url: PHOTO_URL });
  const row = await endOf(stage, id);
  const change = { caption: "Second", metadata: { tags: ["silver"], canonicalUrl: null } };
  await editPublishedPost(callOf(ctx), { id, ...change });
  expect(fake.shown()).toMatchObject([
    { tags: ["silver"], canonical_url: null, description: "Old", title: "Horn" },
  ]);
  expect(await stage.captions()).toEqual(["Second"]);
  const io = await createPlatformIo(ctx, stage.account, AbortSignal.timeout(5_000));
  const media = ctx.media.forPost({ ownerId: row.owner_id, postId: row.id }, io.signal);
  await devto.setThumbnail?.(toPlatformPost(devto, row), PNG_URL, { ...io, media } as never);
  expect(fake.shown()).toMatchObject([{ main_image: new URL(PNG_URL).href }]);
  for (let n = 0; n < 15; n += 1) await endOf(stage, (await stage.add(`Later ${n}`)).id);
  expect(await readInsights(ctx, await readPost(ctx, id))).toMatchObject({
    state: "live",
    metrics: { likes: 3, comments: 1, views: 55 },
  });
});
