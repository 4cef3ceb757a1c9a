import { sql } from "kysely";
import { systemClock } from "../src/app/system-clock.ts";
import { ReportArgs, packFigures, type ReportBy } from "../src/domain/posts/results.ts";
import { DAY } from "../src/domain/time.ts";
import { getReport } from "../src/reporting/results/report.ts";
import { freshRow } from "../src/store/queries/posts.ts";
import { openStore } from "../src/store/open-store.ts";
import type { Store } from "../src/store/engine/store.ts";
import { callOf, createTestContext } from "../test/support/context.ts";
import { queryOf } from "../test/support/handles.ts";
import { createDatabaseOn, startPostgres, type PostgresServer } from "../test/support/postgres-server.ts";
import { createRandom } from "../test/support/random.ts";
import { addAccount } from "../test/support/post-rows.ts";
import { scriptedPlatform } from "../test/support/scripted-platform.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import { percentile, print } from "./support/report.ts";

/**
 * `npx tsx bench/report.ts [posts a channel = 1000] [postgres]`: reports of a year of 200 channels. The floor is one
 * sum over every figure in the table, which any report must read.
 */
const [posts = "1000", engine = "sqlite"] = process.argv.slice(2);
const CHANNELS = 200;
const GOAL_MS = 300;
const ROUNDS = 9;
const NOW = Date.UTC(2026, 10, 21);
const LABELS = ["launch", "news", "behind the scenes", "offers"];

const random = createRandom(1);
const upTo = (most: number): number => Math.floor(random() * most);

async function fill(store: Store): Promise<void> {
  const perChannel = Number(posts);
  for (let channel = 0; channel < CHANNELS; channel += 1) {
    const account_id = `acc_${String(channel).padStart(3, "0")}`;
    await addAccount(store, { id: account_id, provider: "scripted" });
    const rows = Array.from({ length: perChannel }, (_, at) => {
      const h24 = packFigures({
        views: upTo(10_000),
        likes: upTo(400),
        comments: upTo(40),
        shares: upTo(20),
        ...(channel % 3 === 0 && { impressions: upTo(20_000), saves: upTo(50) }),
      });
      return {
        account_id,
        at: NOW - Math.floor(((at + random()) * 365 * DAY) / perChannel),
        post_id: `post_${channel}_${at}_${"0".repeat(16)}`,
        provider: "scripted",
        media: "tivas".charAt(upTo(5)),
        next_at: null,
        step: 3,
        h1: h24,
        // One of ten is not known.
        h24: upTo(10) === 0 ? null : h24,
        d7: h24,
      };
    });
    const labels = rows
      .filter((_, at) => at % 3 === 0)
      .map(({ post_id }) => ({ owner_id: "default", label: LABELS[upTo(4)] ?? "", post_id }));
    const days = Array.from({ length: 365 }, (_, day) => ({
      ...{ account_id, at: NOW - day * DAY, post_id: "", provider: "scripted", media: "" },
      ...{ next_at: null, step: 1, h1: String(1_000 + day) },
    }));
    await store.write(async (tx) => {
      for (let at = 0; at < rows.length; at += 500) {
        await queryOf(tx)
          .insertInto("posts")
          .values(rows.slice(at, at + 500).map(toPost))
          .execute();
        await queryOf(tx)
          .insertInto("results")
          .values(rows.slice(at, at + 500))
          .execute();
      }
      await queryOf(tx).insertInto("results").values(days).execute();
      if (labels.length > 0) await queryOf(tx).insertInto("post_labels").values(labels).execute();
    });
  }
}

/** Not to be found by its words. */
function toPost(row: { readonly account_id: string; readonly at: number; readonly post_id: string }) {
  const { account_id, at, post_id: id } = row;
  return {
    ...freshRow({
      ...{
        id,
        owner_id: "default",
        account_id,
        provider: "scripted",
        media_url: "",
        caption: "Hello",
        metadata: null,
      },
      ...{
        lead_minutes: null,
        scheduled_at: at,
        due_at: at,
        content_hash: id,
        is_light: 1,
        file_ids: null,
        created_at: at,
      },
    }),
    status: "published" as const,
    next_at: null,
    published_at: at,
  };
}

async function startServer(): Promise<PostgresServer> {
  await installWorkspace("postgres");
  return startPostgres({ isDurable: false, flags: ["-c", "shared_buffers=256MB"] });
}

async function time(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  await work();
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}

await using server = engine === "postgres" ? await startServer() : null;
await using store = await openStore(
  server === null
    ? { file: ":memory:" }
    : { url: (await createDatabaseOn(server.address)).url, clock: systemClock },
);
await fill(store);
if (server !== null) await sql`VACUUM ANALYZE`.execute(queryOf(store));
const platform = scriptedPlatform({ publish: async () => ({ state: "prepared" }) });
const ctx = await createTestContext({ store, platformList: [platform], feed: {} as never });
const floor = percentile(
  await time(() => sql`SELECT sum(length(h24)) AS n FROM results WHERE at > 0`.execute(queryOf(store))),
  50,
);
const cases: readonly [name: string, by: ReportBy, more: Partial<ReportArgs>][] = [
  ["account", "account", { limit: 200 }],
  ["weekdayHour", "weekdayHour", { limit: 168 }],
  ["mediaType", "mediaType", {}],
  ["label", "label", {}],
  ["post", "post", { limit: 20 }],
  ["account, one label", "account", { label: "launch" }],
];
const rows: string[][] = [];
for (const [name, by, more] of cases) {
  const args = ReportArgs.parse({ from: "2025-11-21", to: "2026-11-21", by, ...more });
  const times = await time(() => getReport(callOf(ctx), args));
  const [half, worst] = [percentile(times, 50), percentile(times, 100)];
  rows.push([name, half.toFixed(0), worst.toFixed(0), (half / floor).toFixed(1)]);
}
print(
  [`${CHANNELS} × ${posts} posts`, "p50 ms", "worst ms", "times the floor"],
  [["floor", floor.toFixed(0), "", "1.0"], ...rows],
);
print(["goal"], [[`${GOAL_MS} ms`]]);
