import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { addAccount, addPost } from "../support/publishing.ts";
import { buildWorker, makeDataFolder, openFolder, readOutcome, runWorker } from "./fault-runner.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("still-worker");
});

const CAPTIONS = [...Array.from({ length: 20 }, (_, at) => `post ${at}`), "stands still"];

describe("a publisher's thread that stands still", { timeout: 90_000 }, () => {
  it.each(["spins", "waits"])("is replaced when it %s, and each post goes out once", async (how) => {
    await using folder = await makeDataFolder("scripted", { count: 0, accounts: 0 });
    {
      await using ctx = await openFolder(folder.path);
      const due = { scheduled_at: Date.now() };
      for (const caption of CAPTIONS) await addPost(ctx, await addAccount(ctx), { ...due, caption });
      await addPost(ctx, await addAccount(ctx), { caption: "later", scheduled_at: Date.now() + 3_000 });
    }
    const run = runWorker(worker, [folder.path, how]);
    const said = text(run.child.stdout!);
    const exit = await run.exit;
    expect(exit, exit.stderr).toMatchObject({ code: 0 });
    expect(await said).toContain("ended 1, healthy true");
    const posts = await readOutcome(folder.path);
    expect(posts.filter(({ status }) => status !== "published")).toEqual([]);
    const sent = readFileSync(join(folder.path, "sent"), "utf8").trim().split("\n");
    expect(sent.toSorted()).toEqual([...CAPTIONS, "later"].toSorted());
  });
});
