import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import type { AppContext } from "../../src/context.ts";
import { Preview } from "../../src/domain/posts/preview.ts";
import type { Metadata } from "../../src/domain/posts/post.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { previewPost } from "../../src/posts/preview.ts";
import { endOf } from "../support/contract/ends.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { CLIP_URL, PHOTO_URL } from "../support/contract/stage-media.ts";
import { contentOf, type PreviewedPost, type Stage, type StagePost } from "../support/contract/stage.ts";
import { addPost } from "../support/publishing.ts";

const { platforms } = await loadCatalog();

/** What platforms take for markup, with spaces and line ends that some of them drop. */
const TRICKY = "1. It is *blown* _here_, <b>loud</b> &amp; [far](https://a.example) 👩‍👩‍👧\n\n# and ~more~ ";

/** Nothing outside is asked for a preview. */
function preview(
  { ctx, account }: Stage,
  { caption, mediaUrl = "", metadata = {} }: PreviewedPost,
): Promise<Preview> {
  const silent = (): never => {
    throw new Error("A preview asked somebody outside.");
  };
  const alone: AppContext = {
    ...ctx,
    outbound: { ...ctx.outbound, request: silent },
    sockets: { converse: silent },
    media: { ...ctx.media, forPost: silent },
  };
  const scheduledAt = ctx.clock.now();
  const content = { caption: caption ?? null, mediaUrl, metadata, scheduledAt, leadMinutes: null };
  return previewPost(alone, account, content);
}

/** A text as a preview may show it: with the title in front, which is the first line where none is given. */
function withTitle(text: string, { caption, metadata }: StagePost): string[] {
  const titles = [metadata["title"], caption.split("\n")[0]].filter((one) => typeof one === "string");
  return [text, ...titles.map((title) => [title, text].filter((one) => one !== "").join("\n\n"))];
}

/** Servers and readers' apps end lines and texts without spaces. */
const trimmed = (text: string): string => text.replace(/[^\S\n]+$/gm, "").trim();

describe.each(platforms.map((platform) => [platform.name, platform] as const))("%s", (name, platform) => {
  it("shows ahead what readers then see", async () => {
    const fixture = await readStage(name);
    const caption = [...TRICKY].filter((sign) => !(fixture.refusedText ?? "").includes(sign)).join("");
    const posts = { ...fixture.otherPosts, "a whole post": { ...fixture.post, caption } };
    for (const [kind, post] of Object.entries<StagePost>(posts)) {
      await using stage = await fixture.openStage(platform);
      const { caption: text, media_url: mediaUrl, metadata } = post;
      const shown = Preview.parse(
        await preview(stage, { caption: text, mediaUrl, metadata: { ...metadata } }),
      );
      const { id } = await addPost(stage.ctx, stage.account, contentOf(post));
      expect([kind, await endOf(stage, id)]).toMatchObject([kind, { status: "published" }]);
      // A stage tells a text that is not there so.
      const seen = (await stage.captions()).map((one) =>
        one === "undefined" ? "" : withoutFiles(trimmed(one)),
      );
      expect([kind, trimmed(shown.text ?? ""), seen]).toEqual([
        kind,
        expect.toSatisfy((one: string) => seen.flatMap((each) => withTitle(each, post)).includes(one)),
        seen,
      ]);
      expect(shown.media[0]?.url ?? "").toBe(mediaUrl);
    }
  });

  it("shows what there is of a post that is not finished", async () => {
    await using stage = await (await readStage(name)).openStage(platform);
    const drafts: PreviewedPost[] = [
      {},
      { caption: "A horn" },
      { mediaUrl: PHOTO_URL },
      { mediaUrl: "file_gone", metadata: { moreMedia: [{ url: CLIP_URL }] } },
      { caption: "A horn", metadata: wrongIn(platform) },
    ];
    const shown: Preview[] = [];
    for (const draft of drafts) shown.push(Preview.parse(await preview(stage, draft)));
    const [nothing, words, picture, gone, wrong] = shown;
    expect(nothing).toMatchObject({ parts: [], count: { length: 0 }, media: [], link: null });
    expect(words?.text).toContain("A horn");
    expect(words?.count.length).toBe(6);
    expect(picture).toMatchObject({ media: [{ url: PHOTO_URL, type: "image", change: null }] });
    expect(gone?.media[0]).toEqual({ url: "file_gone", type: null, change: null });
    expect(wrong).toEqual(words);
    // A field at a time, as a person fills them in.
    const { post, otherPosts = {} } = await readStage(name);
    for (const { metadata } of [post, ...Object.values<StagePost>(otherPosts)])
      for (const [key, value] of Object.entries(metadata))
        Preview.parse(await preview(stage, { metadata: { [key]: value } }));
  });
});

/** Every field of a platform with a value that it cannot have. */
function wrongIn({ metadata: { shape } }: AnyPlatform): Metadata {
  return { ...Object.fromEntries(Object.keys(shape).map((key) => [key, { wrong: [] }])), unknown: "field" };
}

/** Nostr's apps show files where their addresses stand below the text. */
function withoutFiles(text: string): string {
  return text.replace(/(\s+https:\/\/files\.\S+)+$/, "");
}

it("has the title in front of the text, but where it belongs to something else", async () => {
  for (const platform of platforms) {
    const isTitled = Object.hasOwn(platform.metadata.shape, "title");
    if (!isTitled) continue;
    const { openStage, isTitleApart = false } = await readStage(platform.name);
    await using stage = await openStage(platform);
    const { text } = await preview(stage, { caption: "It sounds", metadata: { title: "The horn" } });
    expect([platform.name, text]).toEqual([
      platform.name,
      isTitleApart ? "It sounds" : "The horn\n\nIt sounds",
    ]);
  }
});

describe("what a platform does in a way of its own", async () => {
  for (const platform of platforms) {
    const { openStage, previews = {} } = await readStage(platform.name);
    for (const [rule, { post, shown }] of Object.entries(previews))
      it(`${platform.name} ${rule}`, async () => {
        await using stage = await openStage(platform);
        expect(await preview(stage, post)).toMatchObject(shown);
      });
  }
});
