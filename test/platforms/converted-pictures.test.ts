import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { checkMedia, EVERY_SKILL, type MediaFigures } from "../../src/domain/files/media-limits.ts";
import type { AcceptedMedia } from "../../src/domain/accounts/capabilities.ts";
import { capabilitiesFor } from "../../src/channels/platform-io/connect-io.ts";
import { toPlatformPost } from "../../src/publishing/publish-io.ts";
import type { ImageLimits, MediaSource } from "../../src/ports/media.ts";
import { contentOf, type StagePost } from "../support/contract/stage.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { PHOTO, PHOTO_URL } from "../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";

/*
 * Who plans a post is told what its picture is made into. At its time the platform's file must ask for just that: a
 * check of its own would refuse what was promised.
 */

const { platforms } = await loadCatalog();
/** All pictures that are taken as files. */
const TYPES = ["jpeg", "png", "gif", "webp", "avif", "heic", "tiff"].map((type) => `image/${type}`);

const showing = platforms.filter(
  ({ capabilities: { media, showsOriginals } }) =>
    showsOriginals !== true && media.accepts.some(({ kind }) => kind === "image"),
);

/** Of own files it is known what they are. */
const OWN_URL = "r2://photo.jpg";

/** The photo says that it is of this type until it is fitted. What it was fitted to is noted. */
function disguise(media: MediaSource, mimeType: string, asked: ImageLimits[]): void {
  const forPost = media.forPost.bind(media);
  media.forPost = (owner, signal) => {
    const inner = forPost(owner, signal);
    return {
      ...inner,
      async item(url, altText) {
        if (url !== OWN_URL) return inner.item(url, altText);
        const item = await inner.item(PHOTO_URL, altText);
        return { ...item, facts: { ...item.facts, mimeType } };
      },
      async fitImage(item, limits) {
        asked.push(limits);
        return { ...(await inner.fitImage(item, limits)), isChanged: true };
      },
      publicUrl: (...how) => inner.publicUrl(...how).catch(() => "https://posthorn.example/copy.jpg"),
    };
  };
}

/** What the picture of this type is made for a post, as planning tells it. Undefined: it stays of its type. */
function promisedType(accepts: readonly AcceptedMedia[], mimeType: string): string | undefined {
  const figures: MediaFigures = {
    ...{ mimeType, type: "image", isAnimated: false, width: PHOTO.width, height: PHOTO.height },
    ...{ sizeBytes: 1, durationSeconds: null, pages: null, videoCodec: null, audioCodec: null },
  };
  const { changes } = checkMedia(figures, accepts, EVERY_SKILL);
  return /re-encoded from \S+ as (\S+)$/.exec(changes.join("\n"))?.[1];
}

describe.each(showing.map((platform) => [platform.name, platform] as const))("%s", (name, platform) => {
  it.each(TYPES)("is given of %s what was promised", async (mimeType) => {
    const fixture = await readStage(name);
    const all: StagePost[] = [fixture.post, ...Object.values(fixture.otherPosts ?? {})];
    for (const post of all.filter((one) => one.media_url === PHOTO_URL)) {
      await using stage = await fixture.openStage(platform);
      const own = JSON.stringify(post).replaceAll(PHOTO_URL, OWN_URL);
      const row = await addPost(stage.ctx, stage.account, contentOf(JSON.parse(own)));
      const { media } = capabilitiesFor(stage.ctx, stage.account, toPlatformPost(platform, row));
      const promised = promisedType(media.accepts, mimeType);
      if (promised === undefined) continue;
      const asked: ImageLimits[] = [];
      disguise(stage.ctx.media, mimeType, asked);
      await drain(stage.ctx);
      const { error } = await readPost(stage.ctx, row.id);
      expect({ error, asked: asked.length > 0 }).toEqual({ error: null, asked: true });
      for (const { mimeTypes } of asked) {
        expect(mimeTypes).toContain(promised);
        expect(mimeTypes).not.toContain(mimeType);
      }
    }
  });
});
