import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import nostr from "../../../src/platforms/nostr/index.ts";
import type { Json } from "../../../src/ports/platform-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { decodeName, keyIn } from "../../../src/platforms/nostr/event.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { contentOf, type StagePost } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { FILES, NPUB, PUBKEY } from "./fake.ts";
import fixture, { openNostr, PLATFORM_SETTINGS } from "./stage.ts";

type Opened = Awaited<ReturnType<typeof openNostr>>;

async function publish(stage: Opened, post: StagePost): Promise<PostRow> {
  return finish(stage.ctx, (await addPost(stage.ctx, stage.account, contentOf(post))).id);
}

const eventsOf = (stage: Opened, at = 0) => [...stage.nostr.relay(at).events.values()];
const SHA256 = createHash("sha256").update(PHOTO.bytes).digest("hex");
const { "an article": ARTICLE, "a film for apps of films": FILM } = fixture.otherPosts;

async function remove(stage: Opened, id: string): Promise<void> {
  const row = await readPost(stage.ctx, id);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  await nostr.remove?.(toPlatformPost(nostr, row), { ...io, ...(await readStepResults(stage.ctx, row)) });
}

describe("what is written", () => {
  it("is a note with its files, topics, people and warning, and the replies of its thread", async () => {
    await using stage = await openNostr(nostr);
    const caption = `To nostr:${NPUB} #Brass and https://a.example/#not, a#b`;
    const row = await publish(stage, { ...fixture.post, caption });
    const [first, second, third] = eventsOf(stage).filter(({ kind }) => kind === 1);
    const url = `${FILES}/${SHA256}.jpeg`;
    expect(first?.content).toBe(`${caption}\n\n${url}\n${url}`);
    const imeta = [
      "imeta",
      `url ${url}`,
      "m image/jpeg",
      `x ${SHA256}`,
      `size ${PHOTO.bytes.length}`,
      "dim 64x48",
    ];
    expect(first?.tags).toEqual([
      [...imeta, "alt A horn"],
      [...imeta, "alt The same horn"],
      ["content-warning", "Loud"],
      ["t", "music"],
      ["t", "brass"],
      ["p", PUBKEY],
    ]);
    const [root, relay] = [first?.id, "wss://one.example/"];
    expect(second?.tags.slice(0, 2)).toEqual([
      ["e", root, relay, "root", PUBKEY],
      ["p", PUBKEY],
    ]);
    expect(third?.tags.slice(0, 3)).toEqual([
      ["e", root, relay, "root", PUBKEY],
      ["e", second?.id, relay, "reply", PUBKEY],
      ["p", PUBKEY],
    ]);
    expect(row.platform_post_id).toBe(root);
    expect(keyIn(row.platform_url?.split("/").at(-1) ?? "")).toEqual({ prefix: "nevent", hex: root });
  });

  it("is a video with its cover, and an article with its address", async () => {
    await using stage = await openNostr(nostr);
    await publish(stage, FILM);
    const film = eventsOf(stage).find(({ kind }) => kind === 21);
    expect(film?.tags.find(([name]) => name === "imeta")).toContain(`image ${FILES}/${SHA256}.jpeg`);
    expect(film?.tags).toContainEqual(["alt", "A horn"]);
    const row = await publish(stage, ARTICLE);
    const article = eventsOf(stage).find(({ kind }) => kind === 30_023);
    expect(article?.tags).toEqual(
      expect.arrayContaining([
        ["d", row.id],
        ["title", "Horn"],
        ["summary", "On horns"],
        ["t", "brass"],
      ]),
    );
    const name = decodeName(row.platform_url?.split("/").at(-1) ?? "");
    expect([name?.prefix, name?.bytes.subarray(2, 2 + row.id.length).toString()]).toEqual(["naddr", row.id]);
  });
});

describe("files", () => {
  it.each([
    [413, /mediaUrl: is larger than the file server takes/],
    [415, /mediaUrl: is of a type that the file server does not take/],
    [402, /asks for payment/],
    [401, /takes no files of this key/],
  ])("refused with %s fail the post and leave the channel connected", async (status, error) => {
    await using stage = await openNostr(nostr);
    stage.nostr.state.meets = () => ({ status, headers: { "x-reason": "call your user's bank" } });
    const row = await publish(stage, { caption: "A horn", media_url: PHOTO_URL, metadata: {} });
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
    expect(row.error).not.toContain("bank");
    expect(await stage.published()).toBe(0);
  });

  it("go to the usual server where the account's own does not take them", async () => {
    await using stage = await openNostr(nostr);
    const platformSettings = { ...PLATFORM_SETTINGS, POSTHORN_NOSTR_BLOSSOM_URL: "https://spare.example" };
    const settings = { ...stage.ctx.settings, platformSettings };
    const seen: string[] = [];
    const request: typeof stage.ctx.outbound.request = (one) => {
      seen.push(`${one.method} ${new URL(one.url).host}`);
      const isSpare = one.url.startsWith("https://spare.example");
      stage.nostr.state.meets = () => (isSpare ? null : { status: 403 });
      return stage.nostr.outbound.request({ ...one, url: one.url.replace("https://spare.example", FILES) });
    };
    const worker = { ...stage.ctx, settings, outbound: { ...stage.ctx.outbound, request } };
    const { id } = await addPost(stage.ctx, stage.account, { caption: "A horn", media_url: PHOTO_URL });
    expect(await finish(stage.ctx, id, worker)).toMatchObject({ status: "published" });
    expect(seen).toEqual(["PUT files.example", "PUT spare.example"]);
  });

  it("that the server forgot before the post was due are sent again", async () => {
    await using stage = await openNostr(nostr);
    const { ctx, nostr: fake } = stage;
    const scheduledAt = ctx.clock.now() + 30 * 60_000;
    const { id } = await addPost(ctx, stage.account, {
      caption: "A horn",
      media_url: PHOTO_URL,
      lead_minutes: 30,
      scheduled_at: scheduledAt,
      due_at: ctx.clock.now(),
    });
    await drain(ctx);
    expect([fake.state.files.size, await stage.published()]).toEqual([1, 0]);
    fake.state.files.clear();
    await ctx.clock.advance(30 * 60_000);
    expect(await finish(ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect(fake.state.files.size).toBe(1);
  });
});

describe("a live post", () => {
  it("is counted on all relays, each reaction once", async () => {
    await using stage = await openNostr(nostr);
    const row = await publish(stage, { caption: "A horn", media_url: "", metadata: {} });
    const tags = [["e", row.platform_post_id ?? "", "", "root"]];
    const by = (secret: string, kind: number, content: string) =>
      stage.nostr.publishAs(secret.repeat(32), { kind, content, tags });
    by("31", 7, "+");
    by("32", 7, "🤙");
    by("33", 7, "-");
    by("31", 6, "");
    by("32", 1, "nice");
    const { metrics, state, visibility } = await readInsights(stage.ctx, row);
    expect({ metrics, state, visibility }).toMatchObject({
      state: "live",
      visibility: "public",
      metrics: { likes: 2, shares: 1, comments: 1, views: null },
    });
  });

  it("is changed only as an article, which stays the same one", async () => {
    await using stage = await openNostr(nostr);
    const note = await publish(stage, { caption: "A horn", media_url: "", metadata: {} });
    await expect(editPublishedPost(callOf(stage.ctx), { id: note.id, caption: "x" })).rejects.toMatchObject({
      kind: "conflict",
    });
    const row = await publish(stage, ARTICLE);
    const change = { id: row.id, caption: "# Another #tune", metadata: { title: "Tune", tags: ["song"] } };
    const { post } = await editPublishedPost(callOf(stage.ctx), change);
    expect(post).toMatchObject({ caption: "# Another #tune", platformUrl: row.platform_url });
    for (const at of [0, 1]) {
      const articles = eventsOf(stage, at).filter(({ kind }) => kind === 30_023);
      expect(articles).toMatchObject([{ id: post.platformPostId, content: "# Another #tune" }]);
      const valuesOf = (name: string) =>
        articles[0]?.tags.filter(([tag]) => tag === name).map(([, value]) => value);
      expect([valuesOf("title"), valuesOf("t"), valuesOf("d")]).toEqual([
        ["Tune"],
        ["song", "tune"],
        [row.id],
      ]);
      expect([valuesOf("published_at")?.length, valuesOf("image")?.length]).toEqual([1, 1]);
    }
    await remove(stage, row.id);
    expect((await stage.captions()).join()).toBe("A horn");
  });

  it("goes with its whole thread", async () => {
    await using stage = await openNostr(nostr);
    const row = await publish(stage, fixture.post);
    await remove(stage, row.id);
    for (const at of [0, 1]) expect(eventsOf(stage, at).filter(({ kind }) => kind === 1)).toEqual([]);
  });

  it("is gone although relays remember what they were asked", async () => {
    await using stage = await openNostr(nostr);
    for (const at of [0, 1]) stage.nostr.relay(at).remembers = true;
    const row = await publish(stage, { caption: "A horn", media_url: "", metadata: {} });
    await remove(stage, row.id);
    expect(await stage.published()).toBe(0);
  });

  it("is not told to be gone where a relay still shows it", async () => {
    await using stage = await openNostr(nostr);
    const row = await publish(stage, { caption: "A horn", media_url: "", metadata: {} });
    stage.nostr.relay(0).deletes = false;
    await expect(remove(stage, row.id)).rejects.toThrow(
      /still on some relays: wss:\/\/one.example\/ still shows it/,
    );
    stage.nostr.relay(1).isDown = true;
    await expect(remove(stage, row.id)).rejects.toThrow(/two.example\/ cannot be reached/);
  });
});

it.each<[string, Partial<StagePost>, Record<string, Json>, RegExp]>([
  ["no text and no media", { caption: " " }, {}, /^caption: is empty, and there are no media/],
  ["a title of a note", {}, { title: "x" }, /^metadata.title: is shown only with format/],
  [
    "a thread of an article",
    {},
    { format: "article", title: "x", thread: [{ caption: "y" }] },
    /^metadata.thread: /,
  ],
  ["an article without title", {}, { format: "article" }, /^metadata.title: is missing/],
  [
    "an article with a picture",
    { media_url: PHOTO_URL },
    { format: "article", title: "x" },
    /^mediaUrl: an article/,
  ],
  ["a picture without one", {}, { format: "picture" }, /^mediaUrl: a post of format picture/],
  [
    "a video without one",
    {},
    { format: "video", title: "x" },
    /^mediaUrl: a post of format video has exactly one/,
  ],
  ["a cover of nothing", {}, { thumbnailUrl: CLIP_URL }, /^metadata.thumbnailUrl: is shown before a video/],
  ["more media without media", {}, { moreMedia: [{ url: PHOTO_URL }] }, /^metadata.moreMedia: the first/],
  ["what it does not know", {}, { visibility: "private" }, /^metadata.visibility|visibility/],
])("refuses %s", async (_what, content, metadata, message) => {
  await using stage = await openNostr(nostr);
  const post = { caption: content.caption ?? "A horn", mediaUrl: content.media_url ?? "", metadata };
  await expect(
    schedulePost(callOf(stage.ctx), { accountId: stage.account.id, ...post, dryRun: true }),
  ).rejects.toMatchObject({ kind: "invalid", message: expect.stringMatching(message) });
});
