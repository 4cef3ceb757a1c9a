import { describe, expect, it } from "vitest";
import { inspectDocument } from "../../../src/media/probe/document.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { PDF_URL, PHOTO, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { connected, connectedPage, createLinkedInWorld, FILM_URL } from "./world.ts";

const BOUND = { ...PICTURES, asDocument: true, title: "Horns (½)" };

describe("a document", () => {
  it.each([
    ["a member's", connected, []],
    ["a Page's", connectedPage, []],
    ["a Page's, where it may not be asked about", connectedPage, ["documents"]],
  ] as const)(
    "is waited for, and has its file's name where it has no title: %s",
    async (_whose, connect, hidden) => {
      await using world = await createLinkedInWorld();
      world.fake.unreadable = [...hidden];
      const account = await connect(world);
      for (const title of [undefined, "A title"]) {
        const metadata = JSON.stringify({ title });
        const { id } = await addPost(world.ctx, account, {
          caption: `${title}`,
          media_url: PDF_URL,
          metadata,
        });
        expect(await finish(world.ctx, id)).toMatchObject({ status: "published", warnings: null });
      }
      const { posts, tooSoon, wrong } = world.fake;
      expect(posts.map(({ json }) => json.content.media.title)).toEqual(["A score", "A title"]);
      expect([inspectDocument(world.fake.documentOf(posts[0]!)), tooSoon, wrong]).toEqual([3, 0, []]);
    },
  );

  it("is made of pictures, a page each, with what they show", async () => {
    await using world = await createLinkedInWorld();
    const metadata = JSON.stringify(BOUND);
    const account = await connected(world);
    const { id } = await addPost(world.ctx, account, { media_url: PHOTO_URL, metadata });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published" });
    const [post] = world.fake.posts;
    expect(post?.json.content.media).toEqual({
      id: expect.stringMatching(/^urn:li:document:/),
      title: BOUND.title,
    });
    const pdf = world.fake.documentOf(post!);
    expect(inspectDocument(pdf)).toBe(2);
    expect(pdf.indexOf(PHOTO.bytes)).toBeGreaterThan(0);
    const text = pdf.toString("latin1");
    for (const told of ["A horn", "The same horn", BOUND.title])
      expect(text).toContain(`<FEFF${Buffer.from(told, "utf16le").swap16().toString("hex")}>`);
  });

  it("is shown before it is sent", async () => {
    await using world = await createLinkedInWorld();
    const accountId = (await connected(world)).id;
    const plan = (post: object) =>
      schedulePost(callOf(world.ctx), { accountId, caption: "A", dryRun: true, ...post });
    expect(await plan({ mediaUrl: PHOTO_URL, metadata: BOUND })).toMatchObject({
      preview: { note: expect.stringContaining(`a PDF of 2 pages with the title "${BOUND.title}".`) },
    });
    expect(await plan({ mediaUrl: PDF_URL })).toMatchObject({ preview: { media: [{ type: "document" }] } });
    const more = (count: number) => Array.from({ length: count }, () => ({ url: PHOTO_URL }));
    await plan({ mediaUrl: PHOTO_URL, metadata: { ...BOUND, moreMedia: more(299) } });
  });

  it.each([
    [{ media_url: PDF_URL, metadata: { moreMedia: [{ url: PHOTO_URL }] } }, "one document, or pictures"],
    [{ media_url: PDF_URL, metadata: { asDocument: true, title: "A" } }, "and must be image"],
    [{ media_url: FILM_URL, metadata: { asDocument: true, title: "A" } }, "and must be image"],
  ])("stands alone: %o", async ({ metadata, ...post }, words) => {
    await using world = await createLinkedInWorld();
    const row = { ...post, metadata: JSON.stringify(metadata) };
    const { id } = await addPost(world.ctx, await connected(world), row);
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining(words),
    });
    expect(world.fake.posts).toEqual([]);
  });
});
