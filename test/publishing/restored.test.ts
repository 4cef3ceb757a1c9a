import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import { getPost, resolvePost } from "../../src/posts/posts.ts";
import { retryPost } from "../../src/posts/update-post.ts";
import { noticeRestore, readRestore } from "../../src/publishing/restored.ts";
import { getStatus } from "../../src/reporting/health/status.ts";
import { openStore } from "../../src/store/open-store.ts";
import { advanceEpoch } from "../../src/store/backup/restore-epoch.ts";
import { FakeClock } from "../support/clock.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { rawOf } from "../support/handles.ts";

const MINUTE = 60_000;

let folder: ReturnType<typeof temporaryFolder>;
let sent: string[];
const clock = new FakeClock();
beforeEach(() => {
  folder = temporaryFolder();
  sent = [];
});
afterEach(() => folder[Symbol.dispose]());

/**
 * Platforms that note what was sent to them: one that cannot be asked, and one that lives in the database.
 */
function platforms() {
  return [false, true].map((isLocal) =>
    scriptedPlatform({
      name: isLocal ? "local" : "blind",
      capabilities: { ...TEXT_CAPABILITIES, reconciles: "blind" },
      ...(isLocal ? { isLocal } : {}),
      publish: async (post, io) => {
        await io.effect<boolean>({
          step: "send",
          request: { text: post.caption },
          send: async () => sent.push(post.caption ?? "") > 0,
          reconcile: async () => ({ outcome: "unknown", reason: "Nobody can tell." }),
        });
        return { state: "live", platformPostId: post.id, platformUrl: null };
      },
    }),
  );
}

const media = { forPost: () => ({}) as never, release: async () => {} };
const epoch = (): string => join(folder.path, "generation");

async function open(): Promise<TestContext> {
  const store = await openStore({ file: join(folder.path, "a.db") });
  const ctx = await createTestContext({ store, clock, media, platformList: platforms() });
  await noticeRestore(ctx, epoch());
  return ctx;
}

/** Makes a copy of a database with `posts`, lets it go on for ten minutes, and puts the copy back. */
async function putBack(
  posts: readonly { caption: string; in: number; provider?: string }[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  await using ctx = await open();
  for (const post of posts) {
    const account = await addAccount(ctx, { provider: post.provider ?? "blind" });
    const at = clock.now() + post.in;
    ids.set(
      post.caption,
      (await addPost(ctx, account, { caption: post.caption, scheduled_at: at, due_at: at, next_at: at })).id,
    );
  }
  rawOf(ctx.store)
    .prepare("VACUUM INTO ?")
    .run([join(folder.path, "copy.db")]);
  await clock.advance(10 * MINUTE);
  await drain(ctx);
  await advanceEpoch(ctx.store, epoch());
  await ctx[Symbol.asyncDispose]();
  copyFileSync(join(folder.path, "copy.db"), join(folder.path, "a.db"));
  return ids;
}

describe("a database that was put back from a copy", () => {
  it("sends nothing that may have gone out, says so everywhere, and goes on with the rest", async () => {
    const ids = await putBack([
      { caption: "soon", in: MINUTE },
      { caption: "here", in: MINUTE, provider: "local" },
      { caption: "later", in: 20 * MINUTE },
    ]);
    expect(sent).toEqual(["soon", "here"]);
    await using ctx = await open();
    const fields = { posts: 1, programs: 0, drafts: 0, keys: [] };
    expect(ctx.log.lines).toEqual([expect.objectContaining({ level: "warn", fields })]);
    await drain(ctx);
    await clock.advance(30 * MINUTE);
    await drain(ctx);
    expect(sent).toEqual(["soon", "here", "here", "later"]);
    const soon = await readPost(ctx, ids.get("soon") ?? "");
    expect(soon).toMatchObject({ status: "failed", in_doubt: 1 });
    expect(soon.error).toMatch(/^outcome unknown: The database was restored from a copy .* resolve_post\.$/);
    expect((await getStatus(callOf(ctx))).counts.unknownOutcome).toBe(1);
    expect(await readRestore(ctx)).toMatchObject({ inDoubt: 1 });
    const { history } = await getPost(callOf(ctx), { id: soon.id, history: true });
    expect(history).toMatchObject([{ outcome: "unknown", steps: [] }]);
  });

  it("does not send on a retry either, until a person has looked", async () => {
    const ids = await putBack([{ caption: "soon", in: MINUTE }]);
    await using ctx = await open();
    await drain(ctx);
    const id = ids.get("soon") ?? "";
    await expect(retryPost(callOf(ctx), { id })).rejects.toThrow(AppError);
    await resolvePost(callOf(ctx), { id, outcome: "not_published" });
    expect(await readRestore(ctx)).toMatchObject({ inDoubt: 0 });
    await retryPost(callOf(ctx), { id });
    await drain(ctx);
    expect(sent).toEqual(["soon", "soon"]);
    expect(await readPost(ctx, id)).toMatchObject({ status: "published" });
  });

  it("is noticed once", async () => {
    await putBack([{ caption: "soon", in: MINUTE }]);
    const written = readFileSync(epoch(), "utf8");
    await (await open())[Symbol.asyncDispose]();
    expect(readFileSync(epoch(), "utf8")).not.toBe(written);
    await using ctx = await open();
    expect(ctx.log.lines).toEqual([]);
  });

  it("is noticed where it came without the folder's other files", async () => {
    await putBack([{ caption: "soon", in: MINUTE }]);
    rmSync(epoch());
    await using ctx = await open();
    expect(ctx.log.lines).toHaveLength(1);
  });

  it("is not seen in one that was stopped, killed, or begun anew", async () => {
    for (let start = 0; start < 3; start++) {
      await using ctx = await open();
      // A kill between the database and the file leaves the file behind.
      if (start === 1) await advanceEpoch(ctx.store, join(folder.path, "elsewhere"));
      expect(ctx.log.lines).toEqual([]);
    }
    rmSync(join(folder.path, "a.db"));
    await using ctx = await open();
    expect(ctx.log.lines).toEqual([]);
  });
});
