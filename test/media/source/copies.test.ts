import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createPublicMedia, sharedCopies } from "../../../src/media/source/copies.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { definePlatform, type AnyPlatform } from "../../../src/ports/platform.ts";
import { callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { fixture } from "../../support/media.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const never = new AbortController().signal;
const owner = { ownerId: "default", postId: "post_1" };
const JPEG = { maxBytes: 1_000_000, mimeTypes: ["image/jpeg"] };

async function upload(ctx: FileContext): Promise<{ id: string; url: string }> {
  const body = Readable.from([fixture("photo.png")]);
  return (await storeUpload(callOf(ctx), { name: "photo.png", altText: null, body, sizeBytes: null })).file;
}

/** `post_1.….jpg` of an address. */
const nameIn = (url: string): string => new URL(url).pathname.split("/").at(-2) ?? "";

describe("what platforms fetch", () => {
  it("is a copy of what was made of a picture, until its post is finished", async () => {
    await using ctx = await createFileContext({ publicUrl: async () => "https://posts.example" });
    const media = ctx.media.forPost(owner, never);
    const fitted = await media.fitImage(await media.item((await upload(ctx)).url), JPEG);
    const url = await media.publicUrl(fitted, 30);
    expect(url).toMatch(/^https:\/\/posts\.example\/files\/post_1\.[0-9a-f]{32}\.jpg\/copy\?expires=\d+&sig/);
    expect(await media.publicUrl(fitted, 30)).toBe(url);
    const copy = await ctx.publicMedia.openCopy(nameIn(url));
    expect(copy).toMatchObject({ mimeType: "image/jpeg", sizeBytes: fitted.bytes.length });
    expect(await buffer(copy!.open())).toEqual(fitted.bytes);
    await ctx.media.release(owner.postId);
    expect(await ctx.publicMedia.openCopy(nameIn(url))).toBeNull();
  });

  it("is found on another host than the one that made it, where copies are shared", async () => {
    await using ctx = await createFileContext({
      publicUrl: async () => "https://posts.example",
      sharesCopies: true,
    });
    const media = ctx.media.forPost(owner, never);
    const fitted = await media.fitImage(await media.item((await upload(ctx)).url), JPEG);
    const name = nameIn(await media.publicUrl(fitted, 30));
    const elsewhere = createPublicMedia({
      folder: join(ctx.folder, "spool-of-another-host"),
      copies: sharedCopies(ctx.files),
      files: ctx.files,
      publicUrl: () => ctx.publicUrl(),
    });
    expect(await buffer((await elsewhere.openCopy(name))!.open())).toEqual(fitted.bytes);
    await ctx.media.release(owner.postId);
    expect(await elsewhere.openCopy(name)).toBeNull();
  });

  it("is nothing that was never a copy", async () => {
    await using ctx = await createFileContext();
    for (const name of ["", "..", "post_1", "../post_1.x", `post_1/../x.${"0".repeat(32)}.jpg`, "a.json"])
      expect(await ctx.publicMedia.openCopy(name)).toBeNull();
  });

  it("is refused, and no copy made, where nobody reaches us", async () => {
    await using ctx = await createFileContext({ publicUrl: async () => "http://localhost:4747" });
    const media = ctx.media.forPost(owner, never);
    const fitted = await media.fitImage(await media.item((await upload(ctx)).url), JPEG);
    await expect(media.publicUrl(fitted, 30)).rejects.toThrow("POSTHORN_PUBLIC_URL");
    const near = await media.publicUrl(fitted, 30, { mayBeNear: true });
    expect(near).toMatch(/^http:\/\/localhost:4747\/files\/post_1/);
  });

  it("is in the bucket where nobody reaches us and there is one", async () => {
    await using ctx = await createFileContext({
      publicUrl: async () => "http://localhost:4747",
      sharesCopies: true,
    });
    ctx.files.temporaryUrl = async (key, { mimeType }) => `https://bucket.example/${key}?type=${mimeType}`;
    const media = ctx.media.forPost(owner, never);
    const fitted = await media.fitImage(await media.item((await upload(ctx)).url), JPEG);
    const url = new URL(await media.publicUrl(fitted, 30));
    expect(url.href).toMatch(
      /^https:\/\/bucket\.example\/copies\/post_1\/copy_[0-9a-f]{32}\.jpg\?type=image\/jpeg$/,
    );
    expect(await buffer(ctx.files.read(url.pathname.slice(1)))).toEqual(fitted.bytes);
    await expect(media.publicUrl(fitted, 30, { ours: true })).rejects.toThrow("POSTHORN_PUBLIC_URL");
  });

  it("has our address, and no bucket's, where the platform wants ours", async () => {
    await using ctx = await createFileContext({ publicUrl: async () => "http://localhost:4747" });
    ctx.files.temporaryUrl = async () => "https://bucket.example/file";
    const media = ctx.media.forPost(owner, never);
    const item = await media.item((await upload(ctx)).url);
    expect(await media.publicUrl(item, 30)).toBe("https://bucket.example/file");
    await expect(media.publicUrl(item, 30, { ours: true })).rejects.toThrow("POSTHORN_PUBLIC_URL");
    expect(await ctx.publicMedia.canBeFetched({ ours: false })).toBe(true);
    expect(await ctx.publicMedia.canBeFetched({ ours: true })).toBe(false);
  });
});

describe("scheduling for a platform that fetches", () => {
  const fetching = (fetchesFrom: "public" | "ours" | "near", mimeType = "image/png"): AnyPlatform =>
    definePlatform({
      ...scriptedPlatform({
        publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
      }),
      capabilities: {
        ...TEXT_CAPABILITIES,
        media: {
          required: false,
          maxItems: 1,
          accepts: [{ kind: "image", mimeTypes: [mimeType], maxItems: 1 }],
        },
        fetchesMedia: ["image"],
        fetchesFrom,
      },
    });

  async function plan(
    platform: AnyPlatform,
    at: { publicUrl: string; hasBucket?: boolean },
  ): Promise<string> {
    await using ctx = await createFileContext({
      platformList: [platform],
      publicUrl: async () => at.publicUrl,
    });
    if (at.hasBucket) ctx.files.temporaryUrl = async () => "https://bucket.example/file";
    const { id: accountId } = await addAccount(ctx);
    const mediaUrl = (await upload(ctx)).id;
    return await schedulePost(callOf(ctx), { accountId, mediaUrl }).then(
      () => "scheduled",
      (error: Error) => error.message,
    );
  }

  const LOCAL = "http://localhost:4747";
  const REFUSED = expect.stringMatching(/^mediaUrl: Scripted fetches it by itself .* POSTHORN_PUBLIC_URL/);

  it("names the setting without which the post would fail at its time", async () => {
    expect(await plan(fetching("public"), { publicUrl: LOCAL })).toEqual(REFUSED);
    expect(await plan(fetching("public"), { publicUrl: "http://posts.example" })).toEqual(REFUSED);
    expect(await plan(fetching("public"), { publicUrl: "https://posts.example" })).toBe("scheduled");
    expect(await plan(fetching("near"), { publicUrl: LOCAL })).toBe("scheduled");
  });

  it("takes a bucket for public, also for copies, but where the address must be ours", async () => {
    const bucket = { publicUrl: LOCAL, hasBucket: true };
    expect(await plan(fetching("public"), bucket)).toBe("scheduled");
    expect(await plan(fetching("public", "image/jpeg"), bucket)).toBe("scheduled");
    expect(await plan(fetching("ours"), bucket)).toEqual(REFUSED);
  });
});
