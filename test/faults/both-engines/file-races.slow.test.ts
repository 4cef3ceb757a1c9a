import { createReadStream } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { commonMetadata } from "../../../src/domain/posts/common-metadata.ts";
import { newId } from "../../../src/domain/ids.ts";
import { AppError } from "../../../src/domain/errors.ts";
import feed from "../../../src/platforms/feed/index.ts";
import { deleteFile } from "../../../src/files/files.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { schedulePost, schedulePosts } from "../../../src/posts/schedule-post.ts";
import { updatePost } from "../../../src/posts/update-post.ts";
import type { CallContext } from "../../../src/context.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";
import { callerOf, callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";
import { randomFor, times, TIMEOUT_MS } from "../report.ts";

const PHOTO = new URL("../../fixtures/photo.png", import.meta.url);
const LATER = "2099-01-01T09:00:00Z";
const random = randomFor("a file in use");

const platform = scriptedPlatform({
  capabilities: {
    ...TEXT_CAPABILITIES,
    media: feed.capabilities.media,
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["thumbnailUrl"] },
  },
  metadata: z.strictObject(commonMetadata) as never,
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
  edit: async () => ({}),
  setThumbnail: async () => {},
});

let ctx: FileContext;
let account: Tables["accounts"];
beforeEach(async () => {
  ctx = await createFileContext({ platformList: [platform] });
  account = await addAccount(ctx);
});
afterEach(() => ctx[Symbol.asyncDispose]());

/** A waiting post: a deleted file would be missed. */
const HELD = { status: "uploaded", platform_post_id: "1", next_at: 1_900_000_000_000 } as const;

/** A way in which a post comes to use a file: what there is before, and the call; true where it was done. */
type Way = (call: CallContext, file: { id: string; url: string }) => Promise<() => Promise<unknown>>;

const WAYS: Readonly<Record<string, Way>> = {
  schedule_post:
    async (call, { id }) =>
    () =>
      schedulePost(call, { accountId: account.id, caption: "x", mediaUrl: id, scheduledAt: LATER }),
  "schedule_posts, atomic":
    async (call, { id }) =>
    async () => {
      const body = { accountId: account.id, caption: "x", scheduledAt: LATER };
      const posts = [body, { ...body, metadata: { thumbnailUrl: id } }];
      const { results } = await schedulePosts(call, { posts, atomic: true });
      const failed = results.filter(({ error }) => error !== null);
      // All or none.
      expect([0, 2]).toContain(failed.length);
      if (failed.length > 0) throw new AppError("not_found", failed.map(({ error }) => error).join(" "));
    },
  "schedule_posts, each for itself":
    async (call, { id }) =>
    async () => {
      const body = { accountId: account.id, caption: "x", scheduledAt: LATER };
      const { results } = await schedulePosts(call, { posts: [body, { ...body, mediaUrl: id }] });
      expect(results[0]?.error).toBeNull();
      const error = results[1]?.error ?? null;
      if (error !== null) throw new AppError("not_found", error);
    },
  update_post: async (call, { url }) => {
    const { id } = await addPost(ctx, account, {
      scheduled_at: Date.parse(LATER),
      due_at: Date.parse(LATER),
    });
    return () => updatePost(call, { id, metadata: { moreMedia: [{ url }] } });
  },
  set_thumbnail: async (call, file) => {
    const { id } = await addPost(ctx, account, HELD);
    return () => setThumbnail(call, { id, thumbnailUrl: file.id });
  },
  edit_published_post: async (call, file) => {
    const { id } = await addPost(ctx, account, { ...HELD, status: "published", next_at: null });
    return () => editPublishedPost(call, { id, metadata: { thumbnailUrl: file.id } });
  },
};

/** As an upload leaves it. */
async function addFile(): Promise<{ id: string; url: string }> {
  const id = newId("file");
  const storage_key = `${"0".repeat(16)}/${id.slice("file_".length)}.png`;
  const row = { id, storage_key, owner_id: account.owner_id, key_id: "local", name: "a.png", sha256: "0" };
  const facts = {
    mime_type: "image/png",
    type: "image",
    size_bytes: 1_000,
    width: 100,
    height: 100,
  } as const;
  const rest = { is_animated: 0, status: "ready", created_at: 1, updated_at: 1 } as const;
  await queryOf(ctx.store)
    .insertInto("files")
    .values({ ...row, ...facts, ...rest })
    .execute();
  await ctx.files.create(storage_key, createReadStream(PHOTO));
  return { id, url: `r2://${storage_key}` };
}

/** `headStartMs`: what the other one gets, while it was never first. */
async function yieldSometimes(headStartMs: number): Promise<void> {
  if (headStartMs > 0) await new Promise((resolve) => setTimeout(resolve, headStartMs));
  for (let turns = Math.floor(random() * 6); turns > 0; turns--)
    await new Promise((resolve) => setImmediate(resolve));
}

describe("a file that is deleted while a post comes to use it", { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(WAYS))("%s: exactly one of the two is done", async (name, way) => {
    const pairs = times({ short: name === "schedule_post" ? 200 : 60, long: 2_000 });
    const seen = { used: 0, deleted: 0 };
    for (let pair = 0; pair < pairs; pair++) {
      const file = await addFile();
      const narrow = callerOf({ keyId: "local", accountIds: [account.id] });
      const used = await way(callOf(ctx, pair % 2 === 0 ? callerOf() : narrow), file);
      const [use, removal] = await Promise.allSettled([
        yieldSometimes(seen.deleted === 0 ? pair : 0).then(used),
        yieldSometimes(seen.used === 0 ? pair : 0).then(() => deleteFile(callOf(ctx), { id: file.id })),
      ]);
      const outcome = [use.status, removal.status].join();
      const rows = await queryOf(ctx.store)
        .selectFrom("files")
        .select("id")
        .where("id", "=", file.id)
        .execute();
      const why = [use, removal].map((one) => (one.status === "rejected" ? String(one.reason) : "done"));
      const isUsed = use.status === "fulfilled";
      // What is live needs the file no more: it may be deleted as soon as the edit is done, never before.
      if (name === "edit_published_post" && outcome === "fulfilled,fulfilled") continue;
      expect({ name, pair, why, outcome, left: rows.length }).toEqual({
        name,
        pair,
        why: isUsed
          ? ["done", expect.stringContaining("1 waiting post uses")]
          : [expect.stringContaining("there is no file"), "done"],
        outcome: isUsed ? "fulfilled,rejected" : "rejected,fulfilled",
        left: isUsed ? 1 : 0,
      });
      seen[isUsed ? "used" : "deleted"] += 1;
    }
    // Both orders came about, or the test has tried nothing.
    expect(seen.deleted).toBeGreaterThan(0);
    if (name !== "edit_published_post") expect(seen.used).toBeGreaterThan(0);
  });
});
