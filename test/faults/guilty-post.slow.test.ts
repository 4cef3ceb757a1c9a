import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { addAccount, addPost } from "../support/publishing.ts";
import { queryOf } from "../support/handles.ts";
import { buildWorker, makeDataFolder, openFolder, readOutcome, runWorker } from "./fault-runner.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("guilty-worker");
});

const WITH_MEDIA = { media_url: "https://media.example/film.mp4", is_light: 0 };

/** Posts that are due now, each on a channel of its own. */
async function addPosts(path: string, captions: readonly string[], row = {}): Promise<void> {
  await using ctx = await openFolder(path);
  const due = Date.now() - 50;
  for (const caption of captions) {
    const account = await addAccount(ctx);
    await addPost(ctx, account, { caption, scheduled_at: due, due_at: due, next_at: due, ...row });
  }
}

/** Starts the process again, as a supervisor does, until it ends by itself; how often it ended otherwise. */
async function superviseUntilDone(path: string, stepMs: number): Promise<number> {
  for (let ends = 0; ; ends += 1) {
    const { code, stderr } = await runWorker(worker, [path, String(stepMs)]).exit;
    if (code === 0) return ends;
    expect(ends, stderr).toBeLessThan(20);
  }
}

const sentLines = (path: string): string[] =>
  readFileSync(join(path, "sent"), "utf8").trim().split("\n").toSorted();

describe("a post that ends the process", { timeout: 300_000 }, () => {
  it("fails at the fourth time in a row, and says so", async () => {
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 0 });
    await addPosts(folder.path, ["ends at once"], WITH_MEDIA);
    expect(await superviseUntilDone(folder.path, 20)).toBe(4);
    expect(await readOutcome(folder.path)).toEqual([
      {
        caption: "ends at once",
        status: "failed",
        inDoubt: false,
        error: expect.stringMatching(
          /^The program ended 4 times in a row while it worked on this post\. Its media may be .* Change the post, then send it again\.$/,
        ),
      },
    ]);
    await using ctx = await openFolder(folder.path);
    const attempts = await queryOf(ctx.store).selectFrom("attempts").select("outcome").execute();
    expect(attempts.map(({ outcome }) => outcome)).toEqual([
      "interrupted",
      "interrupted",
      "interrupted",
      "failed",
    ]);
    // It counts anew when it is sent again.
    const row = await queryOf(ctx.store).selectFrom("posts").select("crashes").executeTakeFirstOrThrow();
    expect(row).toEqual({ crashes: 0 });
  });

  it("is in doubt where it may be out", async () => {
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 0 });
    await addPosts(folder.path, ["ends in a step"]);
    expect(await superviseUntilDone(folder.path, 20)).toBe(4);
    expect(await readOutcome(folder.path)).toMatchObject([
      {
        status: "failed",
        inDoubt: true,
        error: expect.stringMatching(/^outcome unknown: the program ended 4 times in a row /),
      },
    ]);
  });

  it("takes none of those with it that were in flight beside it", async () => {
    const captions = Array.from({ length: 150 }, (_, at) => `post ${at}`);
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 0 });
    await addPosts(folder.path, captions.slice(0, 75), WITH_MEDIA);
    await addPosts(folder.path, ["ends at once"], WITH_MEDIA);
    await addPosts(folder.path, captions.slice(75), WITH_MEDIA);
    expect(await superviseUntilDone(folder.path, 60)).toBe(4);
    const posts = await readOutcome(folder.path);
    expect(posts.filter(({ status }) => status !== "published")).toMatchObject([
      { caption: "ends at once", status: "failed" },
    ]);
    // What was cut off in its step is sent again, as on a platform that drops repeats: nothing is missing.
    expect([...new Set(sentLines(folder.path))]).toEqual(captions.toSorted());
  });
});
