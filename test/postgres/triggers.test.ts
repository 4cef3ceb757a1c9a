import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { Reader, Store } from "../../src/store/engine/store.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";
import { createDatabase, openTestConnections } from "../support/postgres.ts";

type Door = Reader & Pick<Store, "write">;

/** The same statements on both engines; what is found afterwards must be the same. */
async function onBoth<T>(work: (door: Door) => Promise<T>): Promise<{ sqlite: T; postgres: T }> {
  await using sqlite = await openStore({ file: ":memory:" });
  await using database = await createDatabase();
  await using connections = await openTestConnections(database.url);
  return { sqlite: await work(sqlite), postgres: await work(connections) };
}

async function addWebhook(
  door: Door,
  id: string,
  events: string[],
  accountIds: string[] | null,
): Promise<void> {
  await queryOf(door)
    .insertInto("webhooks")
    .values({
      id,
      owner_id: "default",
      address: "https://example.org",
      secrets_enc: "",
      events: JSON.stringify(events),
      account_ids: accountIds === null ? null : JSON.stringify(accountIds),
      status: "active",
      lease_until: 0,
      created_at: 0,
      updated_at: 0,
    })
    .execute();
}

function move(door: Door, id: string, change: Record<string, unknown>): Promise<unknown> {
  return queryOf(door).updateTable("posts").set(change).where("id", "=", id).execute();
}

describe("what follows from a row", () => {
  it("are the same events, with the same snapshots", async () => {
    const { sqlite, postgres } = await onBoth(async (door) => {
      await addAccount(door, { id: "acc_1" });
      await addAccount(door, { id: "acc_2" });
      await addWebhook(
        door,
        "whk_all",
        ["post.scheduled", "post.published", "account.reconnect_required"],
        null,
      );
      await addWebhook(door, "whk_one", ["post.published", "post.failed"], ["acc_2"]);
      await addWebhook(door, "whk_other", ["post.scheduled"], ["acc_9"]);
      await addPosts(door, [
        { id: "post_1", caption: 'Über "alles" 日本 🎉\n' },
        { id: "post_2", accountId: "acc_2", metadata: { title: "a\\b" } },
      ]);
      await move(door, "post_1", { scheduled_at: 5, updated_at: 1 });
      await move(door, "post_1", { caption: "not told", updated_at: 2 });
      await move(door, "post_1", { status: "published", published_at: 7, updated_at: 3 });
      await move(door, "post_1", { scheduled_at: 6, updated_at: 4 });
      await move(door, "post_2", { status: "failed", error: "No.", warnings: '["w"]', updated_at: 5 });
      const lose = queryOf(door).updateTable("accounts").set({ status: "reconnect_required", updated_at: 6 });
      await lose.where("id", "=", "acc_2").execute();
      await lose.where("id", "=", "acc_2").execute();
      const rows = await queryOf(door).selectFrom("webhook_deliveries").selectAll().orderBy("seq").execute();
      return rows
        .map(({ seq: _seq, id, snapshot, ...row }) => {
          const { warnings = null, ...shown } = JSON.parse(snapshot);
          return { ...row, id: id.replaceAll(/[0-9a-f]/g, "x"), snapshot: { ...shown, warnings } };
        })
        .sort(
          (one, other) => one.happened_at - other.happened_at || (one.webhook_id < other.webhook_id ? -1 : 1),
        );
    });
    expect(postgres.length).toBe(6);
    expect(postgres).toEqual(sqlite);
  });

  it("are the same uses of files", async () => {
    const { sqlite, postgres } = await onBoth(async (door) => {
      await addAccount(door, { id: "acc_1" });
      await addPosts(door, [{ id: "post_1" }, { id: "post_2" }, { id: "post_3" }]);
      const seen: unknown[] = [];
      const changes: readonly (readonly [string, readonly string[] | null])[] = [
        ["post_1", ["file_a", "file_b"]],
        ["post_2", ["file_b", "file_c"]],
        ["post_1", ["file_b", "file_d"]],
        ["post_3", []],
        ["post_2", null],
        ["post_1", null],
      ];
      for (const [id, files] of changes) {
        await move(door, id, { file_ids: files === null ? null : JSON.stringify(files) });
        seen.push(await queryOf(door).selectFrom("file_uses").selectAll().orderBy("file_id").execute());
      }
      return seen;
    });
    expect(postgres).toEqual(sqlite);
    expect(postgres.at(-1)).toEqual([]);
  });

  it("are the same sums of attempts, which readers add up", async () => {
    const { sqlite, postgres } = await onBoth(async (door) => {
      await addAccount(door, { id: "acc_1" });
      const posts = Array.from({ length: 40 }, (_, index) => ({ id: `post_${index}`, scheduledAt: 1_000 }));
      await addPosts(door, posts);
      await queryOf(door)
        .insertInto("attempts")
        .values(
          posts.map(({ id }) => ({
            id: `att_${id}`,
            owner_id: "default",
            post_id: id,
            number: 1,
            run: 1,
            worker_id: "w",
            outcome: "running" as never,
            started_at: 0,
          })),
        )
        .execute();
      const end = (from: number, outcome: string, at: number): Promise<unknown> =>
        queryOf(door)
          .updateTable("attempts")
          .set({ outcome: outcome as never, finished_at: at })
          .where(
            "post_id",
            "in",
            posts.slice(from, from + 10).map(({ id }) => id),
          )
          .execute();
      await Promise.all([
        end(0, "published", 1_040),
        end(10, "published", 900),
        end(20, "failed", 9_000),
        end(30, "published", 9_000_000),
      ]);
      // Ended already: counted once.
      await end(0, "published", 2_000);
      const { rows } =
        await sql`SELECT provider, outcome, bucket_ms, sum(attempts) AS attempts, sum(lateness_ms) AS lateness_ms
        FROM attempt_totals GROUP BY provider, outcome, bucket_ms ORDER BY outcome, bucket_ms`.execute(
          queryOf(door),
        );
      return rows;
    });
    expect(postgres).toEqual(sqlite);
    expect(postgres.length).toBe(3);
  });
});
