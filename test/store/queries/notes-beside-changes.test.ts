import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { HOUR, MINUTE, toIso } from "../../../src/domain/time.ts";
import type { PublishOutcome } from "../../../src/ports/platform.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { claimDue, LateCauses, sweep } from "../../../src/publishing/claim.ts";
import { OutcomeUnknown } from "../../../src/publishing/effect-steps.ts";
import { cancelPost, resolvePost } from "../../../src/posts/posts.ts";
import { retryPost, updatePost } from "../../../src/posts/update-post.ts";
import { countFileUses } from "../../../src/store/queries/files.ts";
import { takeOver } from "../../../src/store/queries/publishing/release.ts";
import { insertWorker } from "../../../src/store/queries/workers.ts";
import { readAttemptTotals } from "../../../src/store/queries/status.ts";
import { callOf, createTestContext, isOnPostgres, type TestContext } from "../../support/context.ts";
import { queryOf, rowsOf } from "../../support/handles.ts";
import { addAccount, addPost, drain } from "../../support/publishing.ts";
import { createRandom } from "../../support/random.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

/* What is written beside each change of a post: its event, the uses of its files, the totals of attempts. */

/** The database itself watches every change, whoever makes it. */
const SEE_POST = "INSERT INTO seen (post_id, event) VALUES (NEW.id, 'post.' || NEW.status);";
const SEE_END = "INSERT INTO ended (outcome) VALUES (NEW.outcome);";
const IF_MOVED =
  "WHEN (NEW.status <> OLD.status OR (NEW.status = 'scheduled' AND NEW.scheduled_at <> OLD.scheduled_at))";
const IF_ENDED = "WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)";
const TABLES = (number: string): string[] => [
  `CREATE TABLE seen (number ${number}, post_id TEXT NOT NULL, event TEXT NOT NULL)`,
  `CREATE TABLE ended (number ${number}, outcome TEXT NOT NULL)`,
];
const WATCH_SQLITE = [
  ...TABLES("INTEGER PRIMARY KEY"),
  `CREATE TRIGGER seen_made AFTER INSERT ON posts BEGIN ${SEE_POST} END`,
  `CREATE TRIGGER seen_moved AFTER UPDATE OF status, scheduled_at ON posts ${IF_MOVED} BEGIN ${SEE_POST} END`,
  `CREATE TRIGGER seen_ended AFTER UPDATE OF outcome ON attempts ${IF_ENDED} BEGIN ${SEE_END} END`,
];
const WATCH_POSTGRES = [
  ...TABLES("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
  `CREATE FUNCTION see_post() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${SEE_POST} RETURN NULL; END $$`,
  `CREATE FUNCTION see_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${SEE_END} RETURN NULL; END $$`,
  "CREATE TRIGGER seen_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION see_post()",
  `CREATE TRIGGER seen_moved AFTER UPDATE OF status, scheduled_at ON posts FOR EACH ROW ${IF_MOVED} EXECUTE FUNCTION see_post()`,
  `CREATE TRIGGER seen_ended AFTER UPDATE OF outcome ON attempts FOR EACH ROW ${IF_ENDED} EXECUTE FUNCTION see_end()`,
];
/** Others get the same database. */
const UNWATCH_POSTGRES = [
  "DROP FUNCTION IF EXISTS see_post, see_end CASCADE",
  "DROP TABLE IF EXISTS seen",
  "DROP TABLE IF EXISTS ended",
];

const EVENTS = ["scheduled", "publishing", "uploaded", "published", "failed", "cancelled"].map(
  (status) => `post.${status}`,
);

const IDENTITY = { role: "serve", host: "here", pid: 1, version: "1" } as const;

interface Row {
  readonly post_id: string;
  readonly event: string;
}

async function openWatched(publish: () => Promise<PublishOutcome>): Promise<TestContext> {
  const platform = scriptedPlatform({
    publish,
    remove: async () => {},
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  const ctx = await createTestContext({ platformList: [platform], media });
  const watch = isOnPostgres ? [...UNWATCH_POSTGRES, ...WATCH_POSTGRES] : WATCH_SQLITE;
  for (const statement of watch) await sql.raw(statement).execute(queryOf(ctx.store));
  await queryOf(ctx.store)
    .insertInto("webhooks")
    .values({
      ...{ id: "whk_1", owner_id: "default", address: "", secrets_enc: "", events: JSON.stringify(EVENTS) },
      ...{ status: "active", lease_until: 0, created_at: 1, updated_at: 1 },
    })
    .execute();
  return ctx;
}

afterAll(async () => {
  if (!isOnPostgres) return;
  await using ctx = await createTestContext({});
  for (const statement of UNWATCH_POSTGRES) await sql.raw(statement).execute(queryOf(ctx.store));
});

const reached = new Set<string>();

it.each([1, 2, 3])("is written whatever happens to posts (%d)", async (seed) => {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const publish = async (): Promise<PublishOutcome> => {
    const what = random();
    if (what < 0.15) throw new PlatformFault("rejected", "No.");
    if (what < 0.25) throw new OutcomeUnknown("The answer was lost.");
    if (what < 0.5) return { state: "held", platformPostId: "1", platformUrl: null };
    return { state: "live", platformPostId: "1", platformUrl: null };
  };
  await using ctx = await openWatched(publish);
  const accounts = await Promise.all([1, 2, 3, 4].map(() => addAccount(ctx)));
  const ids: string[] = [];
  const soon = (): string => toIso(ctx.clock.now() + Math.floor(random() * 3 * HOUR) + 1_000);
  /** A worker ends while it works on posts, some of which are live already. */
  const die = async (): Promise<void> => {
    const { posts } = await claimDue(ctx, { lateCauses: new LateCauses(), limit: 100 });
    for (const { post, lease } of posts) {
      const mark = { run: post.run, at: ctx.clock.now(), platformPostId: null, platformUrl: null };
      if (random() < 0.2) await ctx.store.ledger.live(lease, mark);
    }
    const now = ctx.clock.now();
    await ctx.store.write(async (tx) => {
      await takeOver(tx, ctx.workerId, { now, arrivedAt: -Infinity });
      await insertWorker(tx, { ...IDENTITY, id: ctx.workerId, started_at: now, heartbeat_at: now });
    });
    await ctx.clock.advance(10 * MINUTE);
  };
  const steps: readonly (() => Promise<unknown>)[] = [
    async () => {
      const at = ctx.clock.now() + Math.floor(random() * 20 * MINUTE);
      ids.push((await addPost(ctx, pick(accounts), { scheduled_at: at, due_at: at, next_at: at })).id);
    },
    () => updatePost(callOf(ctx), { id: pick(ids), scheduledAt: soon() }),
    () => updatePost(callOf(ctx), { id: pick(ids), caption: `Text ${random()}` }),
    () => cancelPost(callOf(ctx), { id: pick(ids), fromPlatform: random() < 0.5 }),
    () => retryPost(callOf(ctx), { id: pick(ids), ...(random() < 0.5 && { scheduledAt: soon() }) }),
    () =>
      resolvePost(callOf(ctx), { id: pick(ids), outcome: pick(["published", "not_published", "dismissed"]) }),
    () => drain(ctx),
    die,
    async () => {
      for (let death = 0; death < 4; death++) await die();
    },
    () => ctx.clock.advance(Math.floor(random() * 10 * MINUTE)),
    () => ctx.clock.advance(MINUTE).then(() => drain(ctx)),
    () => drain(ctx),
    () => drain(ctx),
    () => ctx.clock.advance(2 * HOUR).then(() => sweep(ctx)),
  ];
  await steps[0]?.();
  for (let step = 0; step < 1_000; step++)
    await pick(steps)().catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
    });
  const seen = await rowsOf<Row>(ctx.store, "SELECT post_id, event FROM seen ORDER BY number");
  const told = await rowsOf<Row & { snapshot: string }>(
    ctx.store,
    "SELECT snapshot, event FROM webhook_deliveries ORDER BY seq",
  );
  expect(byPost(told.map(({ snapshot, event }) => ({ post_id: JSON.parse(snapshot).id, event })))).toEqual(
    byPost(seen),
  );
  for (const { event } of seen) reached.add(event);
  const ended = await rowsOf(
    ctx.store,
    "SELECT outcome, CAST(count(*) AS integer) AS attempts FROM ended GROUP BY 1 ORDER BY 1",
  );
  const totals = new Map<string, number>();
  for (const { outcome, attempts } of await readAttemptTotals(ctx.store))
    totals.set(outcome, (totals.get(outcome) ?? 0) + attempts);
  expect([...totals].toSorted().map(([outcome, attempts]) => ({ outcome, attempts }))).toEqual(ended);
});

it("is tried in every state", () => {
  expect([...reached].toSorted()).toEqual(EVENTS.toSorted());
});

/** In each post's own order: those of one statement have none among themselves. */
function byPost(rows: readonly Row[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const { post_id: id, event } of rows) (lists[id] ??= []).push(event);
  return lists;
}

it("counts the files that posts use, and forgets those that none uses", async () => {
  await using ctx = await createTestContext({});
  const uses = (...files: string[]) => ({
    account_id: "acc_1",
    file_ids: files.length ? JSON.stringify(files) : null,
  });
  const count = (before: readonly ReturnType<typeof uses>[], after: readonly ReturnType<typeof uses>[]) =>
    ctx.store.write((tx) => countFileUses(tx, { before, after }));
  const stored = async () =>
    Object.fromEntries(
      (await queryOf(ctx.store).selectFrom("file_uses").selectAll().execute()).map((row) => [
        row.file_id,
        row.posts,
      ]),
    );
  await count([], [uses("a", "b"), uses("b"), uses()]);
  expect(await stored()).toEqual({ a: 1, b: 2 });
  await count([uses("a", "b")], [uses("b", "c")]);
  expect(await stored()).toEqual({ b: 2, c: 1 });
  await count([uses("b")], [uses("b")]);
  await count([uses("b", "c"), uses("b")], []);
  expect(await stored()).toEqual({});
});
