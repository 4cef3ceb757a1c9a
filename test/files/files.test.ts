import { queryOf } from "../support/handles.ts";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/permissions.ts";
import { deleteFile, getFile, listFiles, openDownload } from "../../src/files/files.ts";
import { resolveMediaUrl } from "../../src/files/media-places.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { guestCall } from "../../src/context.ts";
import { freshRow, insertPost } from "../../src/store/queries/posts.ts";
import { callOf, callerOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { fixture } from "../support/media.ts";

const ADA = callerOf({ ownerId: "ada" });
const BOB = callerOf({ ownerId: "bob" });

async function upload(
  ctx: FileContext,
  options: { caller?: Caller; name?: string; fixture?: string; altText?: string } = {},
) {
  const body = Readable.from([fixture(options.fixture ?? "photo.png")]);
  const { file } = await storeUpload(callOf(ctx, options.caller ?? ADA), {
    name: options.name ?? "photo.png",
    altText: options.altText ?? null,
    body,
  });
  return file;
}

async function addPost(
  ctx: FileContext,
  post: { id: string; mediaUrl?: string; metadata?: object; status?: string; nextAt?: number | null },
) {
  await ctx.store.write(async (tx) => {
    await queryOf(tx)
      .insertInto("accounts")
      .values({
        ...{
          id: "acc_1",
          owner_id: "ada",
          provider: "feed",
          name: "Feed",
          handle: null,
          platform_account_id: null,
          profile_url: null,
        },
        ...{
          avatar_url: null,
          status: "connected",
          status_reason: null,
          token_expires_at: null,
          scopes: "[]",
          settings: "{}",
          limits: "{}",
          inspected_at: 0,
          id_server: "",
          paused: 0,
          is_renamed: 0,
        },
        ...{
          secrets_enc: null,
          secrets_version: 0,
          in_flight_post: null,
          grant_id: null,
          way: null,
          next_allowed_at: 0,
          last_published_at: null,
        },
        ...{ created_at: 0, updated_at: 0 },
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = freshRow({
      id: post.id,
      owner_id: "ada",
      account_id: "acc_1",
      provider: "feed",
      media_url: post.mediaUrl ?? "",
      caption: null,
      metadata: post.metadata === undefined ? null : JSON.stringify(post.metadata),
      lead_minutes: null,
      scheduled_at: 5_000,
      due_at: 5_000,
      content_hash: "",
      is_light: 1,
      file_ids: null,
      created_at: 0,
    });
    await insertPost(tx, row);
    if (post.status !== undefined) {
      await queryOf(tx)
        .updateTable("posts")
        .set({ status: post.status as never, next_at: post.nextAt ?? null })
        .where("id", "=", post.id)
        .execute();
    }
  });
}

describe("file records", () => {
  it("show what the content is", async () => {
    await using ctx = await createFileContext();
    const video = await upload(ctx, { fixture: "clip.mp4", name: "Holiday.MP4", altText: "Bars" });
    expect(video).toMatchObject({
      name: "Holiday.MP4",
      mimeType: "video/mp4",
      type: "video",
      width: 320,
      height: 240,
      durationSeconds: 2,
      altText: "Bars",
      status: "ready",
      usedByPosts: 0,
      sizeBytes: fixture("clip.mp4").length,
      createdAt: "2026-11-21T09:00:00.000Z",
    });
    expect(video.id).toMatch(/^file_[0-9a-z]{26}$/);
    expect(video.url).toMatch(/^r2:\/\/[0-9a-f]{16}\/[0-9a-z]{26}\.mp4$/);
    expect(video.url).not.toContain("ada");
    expect(video.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await getFile(callOf(ctx, ADA), { id: video.id })).file).toEqual(video);
  });

  it("belong to their owner: to others they do not exist", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx);
    const missing = await getFile(callOf(ctx, BOB), { id: "file_0000000000000000000000000a" }).catch(
      (error: Error) => error.message,
    );
    const foreign = await getFile(callOf(ctx, BOB), { id: file.id }).catch((error: Error) => error.message);
    expect(foreign).toBe(String(missing).replace("file_0000000000000000000000000a", file.id));
    await expect(deleteFile(callOf(ctx, BOB), { id: file.id })).rejects.toMatchObject({ kind: "not_found" });
    await expect(resolveMediaUrl(ctx, BOB, { field: "mediaUrl", text: file.id })).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(resolveMediaUrl(ctx, BOB, { field: "mediaUrl", text: file.url })).rejects.toMatchObject({
      kind: "not_found",
    });
    expect((await listFiles(callOf(ctx, BOB), { limit: 50 })).files).toEqual([]);
  });

  it("are listed newest first, in pages that miss and repeat nothing", async () => {
    await using ctx = await createFileContext();
    const names: string[] = [];
    for (let at = 0; at < 7; at += 1) names.unshift((await upload(ctx, { name: `${at}.png` })).name);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listFiles(callOf(ctx, ADA), { limit: 3, cursor });
      seen.push(...page.files.map((file) => file.name));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(names);
    expect((await listFiles(callOf(ctx, ADA), { limit: 7 })).nextCursor).toBeNull();
  });

  it("are found by words of name and alt text, without regard to case and accents, and by type", async () => {
    await using ctx = await createFileContext();
    await upload(ctx, { name: "Été à la plage.png", altText: "Sunset 100%" });
    await upload(ctx, { name: "clip.mp4", fixture: "clip.mp4" });
    const names = async (args: object) =>
      (await listFiles(callOf(ctx, ADA), { limit: 50, ...args })).files.map((file) => file.name);
    expect(await names({ search: "PLAGE ete" })).toEqual(["Été à la plage.png"]);
    expect(await names({ search: "sunset plage" })).toEqual(["Été à la plage.png"]);
    expect(await names({ search: "100%" })).toEqual(["Été à la plage.png"]);
    expect(await names({ search: "_" })).toEqual([]);
    expect(await names({ search: "pla PNG" })).toEqual(["Été à la plage.png"]);
    expect(await names({ search: "lage" })).toEqual([]);
    expect(await names({ type: "video" })).toEqual(["clip.mp4"]);
    expect(await names({ type: "other" })).toEqual([]);
  });

  it("refuse a cursor of other filters, and what is none", async () => {
    await using ctx = await createFileContext();
    await upload(ctx);
    await upload(ctx);
    const { nextCursor } = await listFiles(callOf(ctx, ADA), { limit: 1 });
    const cursor = String(nextCursor);
    await expect(listFiles(callOf(ctx, ADA), { limit: 1, cursor, type: "image" })).rejects.toMatchObject({
      kind: "invalid",
    });
    await expect(listFiles(callOf(ctx, ADA), { limit: 1, cursor: "nonsense" })).rejects.toMatchObject({
      kind: "invalid",
    });
    expect((await listFiles(callOf(ctx, ADA), { limit: 5, cursor })).files).toHaveLength(1);
  });
});

describe("files in use", () => {
  it("count the waiting posts that name them, anywhere, once each", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx);
    const used = async () => (await getFile(callOf(ctx, ADA), { id: file.id })).file.usedByPosts;
    await addPost(ctx, { id: "post_1", mediaUrl: file.url });
    await addPost(ctx, {
      id: "post_2",
      metadata: { moreMedia: [{ url: file.url }], thumbnailUrl: file.url },
    });
    await addPost(ctx, { id: "post_3", mediaUrl: file.url, metadata: { thumbnailUrl: file.url } });
    await addPost(ctx, { id: "post_4", metadata: { description: `as in ${file.url}` } });
    await addPost(ctx, { id: "post_5", mediaUrl: file.url, status: "published" });
    await addPost(ctx, { id: "post_6", mediaUrl: file.url, status: "failed" });
    await addPost(ctx, { id: "post_7", mediaUrl: `${file.url}x` });
    await addPost(ctx, {
      id: "post_8",
      metadata: { thread: [{ mediaUrl: file.url }] },
      status: "uploaded",
      nextAt: 1,
    });
    expect(await used()).toBe(4);
    expect((await listFiles(callOf(ctx, ADA), { limit: 5 })).files[0]?.usedByPosts).toBe(4);
    await expect(deleteFile(callOf(ctx, ADA), { id: file.id })).rejects.toThrow(
      /^id: 4 waiting posts use this file/,
    );
  });

  it("are deleted with their bytes once nothing waits for them", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx);
    await addPost(ctx, { id: "post_1", mediaUrl: file.url, status: "published" });
    const { file: deleted } = await deleteFile(callOf(ctx, ADA), { id: file.id });
    expect(deleted).toMatchObject({ id: file.id, downloadUrl: null });
    expect(await ctx.files.size(file.url.slice(5))).toBeNull();
    await expect(deleteFile(callOf(ctx, ADA), { id: file.id })).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("media addresses", () => {
  it("become what is stored", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx);
    const resolve = async (text: string) =>
      (await resolveMediaUrl(ctx, ADA, { field: "metadata.thumbnailUrl", text })).url;
    expect(await resolve(file.id)).toBe(file.url);
    expect(await resolve(file.url)).toBe(file.url);
    expect(await resolve("https://example.com/Ä b.jpg?x=1")).toBe("https://example.com/%C3%84%20b.jpg?x=1");
    expect(await resolve("https://example.com/a.jpg?x=1")).toBe("https://example.com/a.jpg?x=1");
    expect(await resolve("http://example.com")).toBe("http://example.com");
  });

  it.each([
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    "ftp://example.com/a.jpg",
    "javascript:alert(1)",
    "a.jpg",
    "/files/a.jpg",
    "http://127.0.0.2/a.jpg",
    "http://2130706434/a.jpg",
    "http://[::1]/a.jpg",
    "http://[::ffff:10.0.0.1]/a.jpg",
    "http://localhost/a.jpg",
    "http://169.254.169.254/latest/meta-data",
    "https://user:pass@example.com/a.jpg",
    "https://example.com:22/a.jpg",
  ])("refuse %s, naming the field", async (address) => {
    await using ctx = await createFileContext();
    const refused = resolveMediaUrl(ctx, ADA, { field: "metadata.thumbnailUrl", text: address });
    await expect(refused).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^metadata\.thumbnailUrl: /),
    });
  });

  it.each([
    "r2://",
    "r2://../secret.key",
    "r2://..%2fsecret.key",
    "r2:///etc/passwd",
    "r2://feed/acc_1/post_1/0",
    "file_",
    "file_../../x",
  ])("do not lead to %s", async (address) => {
    await using ctx = await createFileContext();
    await expect(resolveMediaUrl(ctx, ADA, { field: "mediaUrl", text: address })).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

describe("signed downloads", () => {
  it("work until their time is over, for this file alone", async () => {
    await using ctx = await createFileContext();
    const file = await upload(ctx);
    const other = await upload(ctx);
    const url = new URL(String(file.downloadUrl));
    const parts = {
      id: file.id,
      expires: url.searchParams.get("expires") ?? "",
      signature: url.searchParams.get("signature") ?? "",
    };
    expect(url.origin).toBe("http://localhost:4747");
    expect(url.pathname).toBe(`/files/${file.id}/download`);
    const download = await openDownload(guestCall(ctx), parts);
    expect(download).toMatchObject({ name: "photo.png", mimeType: "image/png" });
    expect((await text(download.read({ start: 1, end: 3 }))).slice(0, 3)).toBe("PNG");

    const later = String(Number(parts.expires) + 10_000);
    for (const forged of [
      { ...parts, id: other.id },
      { ...parts, expires: later },
      { ...parts, expires: "" },
      { ...parts, signature: "" },
      { ...parts, signature: parts.signature.slice(1) },
      { ...parts, signature: parts.signature.replace(/^./, (first) => (first === "0" ? "1" : "0")) },
      { ...parts, signature: "é".repeat(32) },
    ]) {
      await expect(openDownload(guestCall(ctx), forged)).rejects.toMatchObject({ kind: "not_found" });
    }
    await ctx.clock.advance(61 * 60_000);
    await expect(openDownload(guestCall(ctx), parts)).rejects.toMatchObject({ kind: "forbidden" });
    await deleteFile(callOf(ctx, ADA), { id: file.id });
  });
});
