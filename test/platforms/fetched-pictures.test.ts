import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import type { MediaItem, MediaSource } from "../../src/ports/media.ts";
import { contentOf, type StagePost } from "../support/contract/stage.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { PHOTO_URL } from "../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";

/*
 * Platforms that are given an address fetch what lies there. A picture must be made clean before, or be refused: it may
 * tell where it was taken.
 */

const { platforms } = await loadCatalog();
const fetching = platforms.filter(({ capabilities }) => capabilities.fetchesMedia.includes("image"));

/** Every picture needs a change. Pictures whose own address was asked for are noted. */
function watch(media: MediaSource, given: string[]): void {
  const forPost = media.forPost.bind(media);
  media.forPost = (owner, signal) => {
    const inner = forPost(owner, signal);
    return {
      ...inner,
      fitImage: async (item, limits) => ({ ...(await inner.fitImage(item, limits)), isChanged: true }),
      async publicUrl(one, minutes, options) {
        if (!("bytes" in one) && (one satisfies MediaItem).facts.type === "image") given.push(one.url);
        return inner.publicUrl(one, minutes, options);
      },
    };
  };
}

describe.each(fetching.map((platform) => [platform.name, platform] as const))("%s", (name, platform) => {
  it("is given no address of a picture that would have to be changed", async () => {
    const fixture = await readStage(name);
    const all: StagePost[] = [fixture.post, ...Object.values(fixture.otherPosts ?? {})];
    const posts = all.filter((post) => JSON.stringify(post).includes(PHOTO_URL));
    expect(posts).not.toEqual([]);
    for (const post of posts) {
      await using stage = await fixture.openStage(platform);
      const given: string[] = [];
      watch(stage.ctx.media, given);
      const row = await addPost(stage.ctx, stage.account, contentOf(post));
      await drain(stage.ctx);
      const { status, error } = await readPost(stage.ctx, row.id);
      expect(given).toEqual([]);
      if (platform.capabilities.showsOriginals === true)
        expect({ status, error }).toMatchObject({
          status: "failed",
          error: expect.stringContaining("unchanged"),
        });
    }
  });
});
