import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { AppError } from "../../src/domain/errors.ts";
import { cancelPost } from "../../src/posts/posts.ts";
import { updatePost } from "../../src/posts/update-post.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { callOf, createTestContext } from "../support/context.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, makeDataFolder, runWorker } from "./fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "./report.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const PER_BATCH = times({ short: 160, long: 400 });
const ACCOUNTS = 80;
/** All are due within this time, each met by its call a few milliseconds before or after. */
const WINDOW_MS = 2_000;

interface Race {
  readonly caption: string;
  readonly kind: "cancel" | "edit";
  readonly isDone: boolean;
}

/** One process publishes while this one cancels and edits the same posts at the same moments. */
async function race(random: () => number) {
  await using servers = await startClassServers();
  await using folder = await makeDataFolder("class_a", { count: 0, accounts: 0 });
  await using ctx = await createTestContext({
    store: await openStore({ file: join(folder.path, "posthorn.db") }),
    clock: systemClock as never,
    platformList: Object.values(CLASS_PLATFORMS),
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  const accounts = [];
  for (let n = 0; n < ACCOUNTS; n++) accounts.push(await addAccount(ctx, { provider: "class_a" }));
  const start = Date.now() + 2_000;
  const posts: { id: string; caption: string; due: number }[] = [];
  for (let n = 0; n < PER_BATCH; n++) {
    const due = start + Math.floor(random() * WINDOW_MS);
    const { id } = await addPost(ctx, accounts[n % ACCOUNTS]!, { caption: `post ${n}`, scheduled_at: due });
    posts.push({ id, caption: `post ${n}`, due });
  }
  const running = runWorker(worker, [folder.path, servers.baseUrl]);
  await running.ready;
  const races = await Promise.all(
    posts.map(async ({ id, caption, due }): Promise<Race> => {
      const kind = random() < 0.5 ? "cancel" : "edit";
      await delay(Math.max(0, due - Date.now() + Math.floor(random() * 24) - 8));
      const call =
        kind === "cancel"
          ? cancelPost(callOf(ctx), { id })
          : updatePost(callOf(ctx), { id, caption: `${caption} edited` });
      const refusal = await call.then(
        () => null,
        (error: unknown) => error,
      );
      if (refusal !== null)
        expect(refusal).toMatchObject({ name: "AppError", kind: "conflict" } satisfies Partial<AppError>);
      return { caption, kind, isDone: refusal === null };
    }),
  );
  const exit = await running.exit;
  expect(exit, exit.stderr).toMatchObject({ code: 0 });
  const visible = servers.visible();
  const seen = (text: string): number => visible.get(text) ?? 0;
  const wrong = races.filter(({ caption, kind, isDone }) => {
    const [old, edited] = [seen(caption), seen(`${caption} edited`)];
    if (!isDone) return old !== 1 || edited !== 0;
    return kind === "cancel" ? old + edited !== 0 : old !== 0 || edited !== 1;
  });
  return { races, wrong };
}

describe("F13 cancelling and editing at the moment of the claim", { timeout: TIMEOUT_MS }, () => {
  it("what was answered is what happens", async () => {
    const wanted = times({ short: PER_BATCH, long: 10_000 });
    const random = randomFor("races");
    const all: Race[] = [];
    while (all.length < wanted) {
      const { races, wrong } = await race(random);
      expect({ SEED, wrong }).toEqual({ SEED, wrong: [] });
      all.push(...races);
    }
    const count = (kind: Race["kind"], isDone: boolean): number =>
      all.filter((one) => one.kind === kind && one.isDone === isDone).length;
    expect(count("cancel", true) + count("edit", true)).toBeGreaterThan(0);
    report({
      fault: "F13",
      how: "a post is cancelled or edited within 16 ms of its due moment while another process publishes it",
      runs: `${all.length} races`,
      seen: `${count("cancel", true)} cancelled and never seen, ${count("edit", true)} edited and seen only in the new version, ${all.filter(({ isDone }) => !isDone).length} told that it is too late and published as they were; 0 otherwise`,
      isSeeded: true,
    });
  });
});
