import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { addAccount, addPost, drain } from "../support/publishing.ts";
import { createWorld, early } from "./noting-world.ts";
import { createRandom } from "../support/random.ts";
import { queryOf } from "../support/handles.ts";

const POSTS = 500;
const ACCOUNTS = 20;
const SPACING_MS = 30 * SECOND;
const MAX_LATENESS_MS = HOUR;

/** Nothing runs for the time, in which all posts are due; then it runs for two hours. */
async function goDown(downMs: number, random: () => number) {
  await using world = await createWorld();
  const { clock, sent } = world;
  const start = clock.now();
  const accounts = [];
  for (let n = 0; n < ACCOUNTS; n++) accounts.push(await addAccount(world));
  for (let n = 0; n < POSTS; n++)
    await addPost(world, accounts[n % ACCOUNTS]!, { scheduled_at: start + Math.floor(random() * downMs) });
  await clock.advance(downMs);
  const backAt = clock.now();
  while (clock.now() < backAt + 2 * HOUR) {
    await drain(world);
    await clock.advance(5 * SECOND);
  }
  const rows = await queryOf(world.store)
    .selectFrom("posts")
    .select(["status", "error", "in_doubt", "scheduled_at"])
    .execute();
  return { rows, sent, backAt };
}

describe("downtime", () => {
  it.each([
    ["10 minutes", 10 * MINUTE],
    ["8 hours", 8 * HOUR],
    ["3 days", 3 * DAY],
  ])("of %s with 500 posts due", async (_name, downMs) => {
    const { rows, sent, backAt } = await goDown(downMs, createRandom(downMs));
    let closest = Infinity;
    expect(early(sent)).toEqual([]);
    expect(sent.filter(({ at, scheduledAt }) => at - scheduledAt > MAX_LATENESS_MS)).toEqual([]);
    for (const id of new Set(sent.map(({ accountId }) => accountId))) {
      const posts = sent.filter(({ accountId }) => accountId === id);
      const gaps = posts.slice(1).map(({ at }, n) => at - posts[n]!.at);
      // What is less than three minutes late is not left over.
      const spaced = gaps.filter((_, n) => posts[n]!.at - posts[n]!.scheduledAt > TIME_LIMITS.leftOver);
      closest = Math.min(closest, ...spaced);
      expect(posts.map(({ scheduledAt }) => scheduledAt)).toEqual(
        posts.map(({ scheduledAt }) => scheduledAt).toSorted((a, b) => a - b),
      );
    }
    const published = rows.filter(({ status }) => status === "published");
    const failed = rows.filter(({ status }) => status === "failed");
    expect({ both: published.length + failed.length, sent: sent.length }).toEqual({
      both: POSTS,
      sent: published.length,
    });
    for (const { error, in_doubt } of failed)
      expect({ error, in_doubt }).toEqual({
        error: expect.stringMatching(/missed its time.*Send it again\./),
        in_doubt: 0,
      });
    // Whoever was not too late when it came back goes out, unless its channel's others before it take that long.
    expect(failed.filter(({ scheduled_at: at }) => backAt - at < MAX_LATENESS_MS - 15 * MINUTE)).toEqual([]);
    expect(closest).toBeGreaterThanOrEqual(SPACING_MS);
  });
});
