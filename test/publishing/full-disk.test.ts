import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createTestContext, isOnPostgres } from "../support/context.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { queryOf, rawOf } from "../support/handles.ts";

/** The database may not grow by a page any more: SQLite answers as it does on a full disk (SQLITE_FULL). */
function fillDisk(store: Store): void {
  rawOf(store).exec("CREATE TABLE IF NOT EXISTS ballast (bytes BLOB)");
  const { page_count: pages } = rawOf(store).prepare("PRAGMA page_count").get([]) as { page_count: number };
  rawOf(store).exec(`PRAGMA max_page_count = ${pages}`);
  // What is free inside the file is used up, too.
  try {
    for (;;) rawOf(store).exec("INSERT INTO ballast VALUES (randomblob(500))");
  } catch {
    return;
  }
}

function freeDisk(store: Store): void {
  rawOf(store).exec("PRAGMA max_page_count = 1000000");
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-full-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.skipIf(isOnPostgres)("a full disk", () => {
  it("refuses a write with a sentence and takes nothing of it", async () => {
    await inFolder(async (folder) => {
      await using store = await openStore({
        file: join(folder, "posthorn.db"),
        locks: join(folder, "workers"),
      });
      await using ctx = await createTestContext({ store });
      const account = await addAccount(ctx);
      fillDisk(store);
      const many = Array.from({ length: 40 }, (_, n) =>
        addPost(ctx, account, { caption: `${n} ${"word ".repeat(400)}` }),
      );
      const ends = await Promise.allSettled(many);
      const refused = ends.filter((end) => end.status === "rejected");
      expect(refused.length).toBeGreaterThan(0);
      for (const end of refused)
        expect(String(end.reason)).toMatch(/The disk of the data folder is full.*nothing is lost/);
      freeDisk(store);
      const stored = await queryOf(store).selectFrom("posts").select("id").execute();
      expect(stored).toHaveLength(ends.length - refused.length);
      expect(rawOf(store).prepare("PRAGMA integrity_check").get([])).toEqual({ integrity_check: "ok" });
    });
  });

  it(
    "sends nothing without an intent, and goes on by itself when there is space again",
    async () => {
      await inFolder(async (folder) => {
        const sent: string[] = [];
        let store: Store | null = null;
        const platform = scriptedPlatform({
          publish: async (post, io) => {
            const long = "x".repeat(20_000);
            const id = await io.effect({
              step: "create",
              request: null,
              send: async () => {
                // The answer does not fit: its result cannot be written.
                if (sent.length === 0 && store !== null) fillDisk(store);
                sent.push(post.id);
                return post.id + long;
              },
              reconcile: async () => ({ outcome: "done", result: post.id }),
            });
            return { state: "live", platformPostId: id.slice(0, 40), platformUrl: null };
          },
        });
        store = await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") });
        await using ctx = await createTestContext({
          store,
          clock: systemClock,
          platformList: [platform],
          media: { forPost: () => ({}) as never, release: async () => {} },
          workerId: "wrk_full",
        });
        const account = await addAccount(ctx);
        const post = await addPost(ctx, account, { scheduled_at: Date.now() - 10 });
        const publisher = await startPublisher(ctx, {
          identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
        });
        try {
          await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(1);
          await expect
            .poll(
              () => ctx.log.lines.map((line) => ("err" in line.fields ? String(line.fields.err) : "")).join(),
              { timeout: 10_000 },
            )
            .toMatch(/full|could not be written/);
          freeDisk(store);
          await expect
            .poll(async () => (await readPost(ctx, post.id)).status, { timeout: 45_000 })
            .toBe("published")
            .catch((cause: unknown) => {
              throw new Error(ctx.log.text(), { cause });
            });
          expect(sent).toHaveLength(1);
        } finally {
          await publisher.close();
        }
      });
    },
    2 * MINUTE,
  );
});
