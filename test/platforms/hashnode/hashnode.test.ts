import { expect, it } from "vitest";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import hashnode from "../../../src/platforms/hashnode/index.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { drain, readPost } from "../../support/publishing.ts";
import { PUBLICATION, TOKEN } from "./fake.ts";
import { openHashnode } from "./stage.ts";

it("connects a publication, lets a person choose among several, and says that a token is wrong", async () => {
  await using stage = await openHashnode();
  const { ctx, fake, account } = stage;
  expect(account).toMatchObject({
    platform_account_id: PUBLICATION,
    name: "Horns",
    handle: "alice.hashnode.dev",
    profile_url: "https://alice.hashnode.dev",
  });
  fake.state.publications = 2;
  const connect = (accessToken: string) =>
    connectWithSecrets(callOf(ctx), {
      provider: "hashnode",
      secrets: { accessToken },
      choose: async (channels) => channels.filter(({ name }) => name === "Horns 2").map(({ key }) => key),
    });
  await expect(connect("wrong")).rejects.toThrow(/^accessToken: /);
  const second = await connect(TOKEN);
  expect(second.account).toMatchObject({ name: "Horns 2" });
});

it.each([
  ["EDITOR", true, null],
  ["CONTRIBUTOR", true, /contributor/],
  ["EDITOR", false, /Pro plan/],
] as const)("tells while connecting whether %s may publish (on Pro: %s)", async (role, isPro, problem) => {
  await using stage = await openHashnode();
  Object.assign(stage.fake.state, { role, isPro, publications: 2 });
  let told: (string | null)[] = [];
  const connecting = connectWithSecrets(callOf(stage.ctx), {
    provider: "hashnode",
    secrets: { accessToken: TOKEN },
    choose: async (channels) => {
      told = channels.map((one) => one.problem);
      return channels.map(({ key }) => key);
    },
  });
  await connecting.catch((error: Error) => (told = [error.message]));
  for (const one of told) expect(one ?? "").toMatch(problem ?? /^$/);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  const daily = (await hashnode.inspect?.(io))?.problem ?? "";
  expect(daily).toMatch(problem ?? /^$/);
  expect(stage.fake.wrong).toEqual([]);
});

it("says that the publication is not on the plan that the API needs, and waits", async () => {
  await using stage = await openHashnode();
  stage.fake.state.isPro = false;
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  expect(await hashnode.inspect?.(io)).toMatchObject({ problem: expect.stringMatching(/Pro plan/) });
  const { id } = await stage.add("A horn");
  await drain(stage.ctx);
  expect(await readPost(stage.ctx, id)).toMatchObject({
    status: "scheduled",
    error: expect.stringMatching(/Pro plan/),
  });
  stage.fake.state.isPro = true;
  expect(await endOf(stage, id)).toMatchObject({ status: "published" });
});

it("publishes all that is said of an article, with pictures that lie at Hashnode", async () => {
  await using stage = await openHashnode();
  const { fake } = stage;
  const series = "a".repeat(24);
  const metadata = {
    ...PICTURES,
    subtitle: "Of brass",
    tags: ["Brass", "music"],
    thumbnailUrl: PHOTO_URL,
    canonicalUrl: "https://a.example/",
    series,
  };
  const row = await endOf(stage, (await stage.add("One\ntwo *x*", metadata, { media_url: PHOTO_URL })).id);
  expect(row.error).toBeNull();
  const [first, second, cover] = [...fake.pictures];
  expect(fake.shown()).toMatchObject([
    {
      title: "Horn",
      subtitle: "Of brass",
      tags: [{ slug: "brass" }, { slug: "music" }],
      originalArticleURL: "https://a.example/",
      seriesId: series,
      coverImage: cover,
      isMailed: false,
      contentMarkdown: `![A horn](${first})\n\n![The same horn](${second})\n\nOne  \ntwo \\*x\\*`,
    },
  ]);
  expect(row).toMatchObject({ status: "published", platform_url: "https://alice.hashnode.dev/horn" });
  expect(fake.drafts.size).toBe(0);
});

it("takes Markdown as it is, and mails it only when asked to", async () => {
  await using stage = await openHashnode();
  const metadata = { format: "markdown", newsletter: true };
  await endOf(stage, (await stage.add("# Head %[https://a.example]", metadata)).id);
  expect(stage.fake.shown()).toMatchObject([
    { contentMarkdown: "# Head %[https://a.example]", isMailed: true },
  ]);
});

it("publishes another article of the same words", async () => {
  await using stage = await openHashnode();
  await endOf(stage, (await stage.add("Twin")).id);
  await endOf(stage, (await stage.add("Twin")).id);
  expect(await stage.published()).toBe(2);
});

it("changes a live article, its cover, and tells what others did with it", async () => {
  await using stage = await openHashnode();
  const { ctx, fake } = stage;
  const { id } = await stage.add("First", { subtitle: "Old", ...PICTURES }, { media_url: PHOTO_URL });
  await endOf(stage, id);
  await editPublishedPost(callOf(ctx), {
    id,
    caption: "Second",
    metadata: { tags: ["silver"], subtitle: null },
  });
  expect(fake.shown()).toMatchObject([{ title: "Horn", subtitle: null, tags: [{ slug: "silver" }] }]);
  expect(await stage.captions()).toEqual(["Second"]);
  expect(fake.shown()[0]?.["contentMarkdown"]).toContain("![A horn](https://cdn.hashnode.com/");
  await setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL });
  expect(fake.shown()).toMatchObject([{ coverImage: [...fake.pictures].at(-1) }]);
  expect(await readInsights(ctx, await readPost(ctx, id))).toMatchObject({
    state: "live",
    metrics: { views: 55, likes: 3, comments: 1 },
  });
  fake.articles.clear();
  expect(await readInsights(ctx, await readPost(ctx, id))).toMatchObject({ state: "removed" });
});

it("lists series", async () => {
  await using stage = await openHashnode();
  const asked = { accountId: stage.account.id, field: "series" };
  const choices = async (search: string) =>
    (await listChoices(callOf(stage.ctx), { ...asked, search })).choices;
  expect(await choices("bra")).toMatchObject([{ value: "a".repeat(24), label: "Brass" }]);
  expect(await choices("tin")).toEqual([]);
});
