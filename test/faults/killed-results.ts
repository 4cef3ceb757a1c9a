import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { systemClock } from "../../src/app/system-clock.ts";
import { DAY, HOUR, MINUTE } from "../../src/domain/time.ts";
import type { AnyPlatform, Platform } from "../../src/ports/platform.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { createTestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";
import { runWorker } from "./fault-runner.ts";

export const POSTS = 6;

/** Where a process that collects can end. */
export const POINTS = [
  "none",
  ...["asking", "answered", "writing", "durable"].flatMap((point) =>
    [1, 2, 4].map((hit) => `${point} ${hit}`),
  ),
];

export function collected(insights: NonNullable<Platform["insights"]>): AnyPlatform {
  return scriptedPlatform({
    publish: async () => ({ state: "prepared" }),
    capabilities: { ...TEXT_CAPABILITIES, analytics: { account: [], post: ["likes"] } },
    insights: insights as never,
  });
}

/** Live for a day and a bit: what is told of them after 24 hours is due. */
export async function addDuePosts(store: Store): Promise<void> {
  const ctx = await createTestContext({ store, clock: systemClock as never });
  for (let nth = 0; nth < POSTS; nth += 1) {
    const at = Date.now() - DAY - HOUR - nth * MINUTE;
    await addPost(ctx, await addAccount(ctx), {
      ...{ id: `post_${nth}`, scheduled_at: at, published_at: at, status: "published", next_at: null },
      platform_post_id: "1",
    });
  }
}

interface Killed {
  readonly worker: string;
  /** As the workers open it. */
  readonly database: string;
  readonly log: string;
  readonly point: string;
}

/**
 * Two processes at once, that are killed where one of them comes to the point; then others, later by as much as a claim takes to be free again.
 * Each snapshot is stored once, and what was asked twice is what the dead process had under way.
 */
export async function collectThrough(store: Store, { worker, database, log, point }: Killed): Promise<void> {
  const [name = "none", hit = "1"] = point.split(" ");
  const run = (round: number, ...more: string[]) =>
    runWorker(worker, [database, log, String(round * 6 * MINUTE), ...more]).exit;
  const both = await Promise.all([run(0, name, hit), run(0, name, hit)]);
  for (const { code, signal, stderr } of both) expect(code === 0 || signal === "SIGKILL", stderr).toBe(true);
  const kills = both.filter(({ signal }) => signal === "SIGKILL").length;
  expect(kills > 0).toBe(name !== "none");
  for (const round of [1, 2]) expect((await run(round)).code).toBe(0);
  const rows = await queryOf(store).selectFrom("results").selectAll().orderBy("post_id").execute();
  expect(rows.map(({ post_id, h24, step }) => [post_id, h24, step])).toEqual(
    Array.from({ length: POSTS }, (_, nth) => [`post_${nth}`, ",,,7,,,,", 2]),
  );
  const asked = existsSync(log) ? (await readFile(log, "utf8")).trim().split("\n") : [];
  expect(new Set(asked).size).toBe(POSTS);
  // Two channels are asked at a time.
  expect(asked.length).toBeLessThanOrEqual(POSTS + 2 * kills);
}
