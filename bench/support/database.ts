import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { textIndex } from "../../src/store/search/text-index.ts";
import { firstKeyAt } from "../../src/store/search/sort-key.ts";
import { generatePosts, listAccounts, type BenchPost } from "./corpus.ts";
import { rawOf } from "../../test/support/handles.ts";

const BATCH = 2_000;
/** Posts at the end that are written one by one, so that the text index is as split up as in daily use. */
const SINGLE = 3_000;

export function databaseFile(count: number): string {
  return join(tmpdir(), `posthorn-bench-${count}.db`);
}

/** The database of so many posts; built when the temporary folder has none. */
export async function openBenchDb(count: number, report: (line: string) => void): Promise<Store> {
  const file = databaseFile(count);
  if (!existsSync(file)) {
    const unfinished = `${file}.building`;
    for (const suffix of ["", "-wal", "-shm"]) await rm(unfinished + suffix, { force: true });
    await build(unfinished, count, report);
    await rename(unfinished, file);
  }
  return openStore({ file });
}

async function build(file: string, count: number, report: (line: string) => void): Promise<void> {
  await using store = await openStore({ file });
  // Nothing of it needs to survive a crash; with small checkpoints and a small cache the disk would take most
  // of the time.
  for (const setting of ["synchronous = OFF", "wal_autocheckpoint = 100000", "cache_size = -1500000"])
    rawOf(store).exec(`PRAGMA ${setting}`);
  insertAccounts(store);
  const nextTie = createTies();
  let batch: BenchPost[] = [];
  let done = 0;
  const flush = async (): Promise<void> => {
    await writePosts(store, batch, nextTie);
    done += batch.length;
    if (done % 100_000 === 0) report(`built ${done} posts`);
    batch = [];
  };
  for (const post of generatePosts(count)) {
    batch.push(post);
    if (batch.length >= BATCH || done >= count - SINGLE) await flush();
  }
  await flush();
}

function insertAccounts(store: Store): void {
  const insert = rawOf(store).prepare(
    `INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_version, next_allowed_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'connected', '[]', '{}', 0, 0, 0, 0)`,
  );
  for (const account of listAccounts())
    insert.run([account.id, account.ownerId, account.provider, account.id]);
}

/** Ties within a millisecond, counted here because asking the table for each would take most of the time. */
export function createTies(): (scheduledAt: number) => bigint {
  const used = new Map<number, number>();
  return (scheduledAt) => {
    const tie = used.get(scheduledAt) ?? 0;
    used.set(scheduledAt, tie + 1);
    return firstKeyAt(scheduledAt) + BigInt(tie);
  };
}

export async function writePosts(
  store: Store,
  posts: readonly BenchPost[],
  nextKey: (at: number) => bigint,
  isIndexed = true,
): Promise<void> {
  const insert = rawOf(store).prepare(
    `INSERT INTO posts (id, owner_id, account_id, provider, media_url, caption, metadata, lead_minutes, scheduled_at, due_at, next_at,
       sort_key, status, platform_post_id, platform_url, in_doubt, attempts, tries, run, fence, content_hash, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, 0, 1, 0, 1, 0, ?, ?, ?)`,
  );
  await store.write(async (tx) => {
    for (const post of posts) {
      const { id, ownerId, accountId, provider, caption, metadata, scheduledAt, status } = post;
      const sortKey = nextKey(scheduledAt);
      const remote =
        status === "published" ? [id.slice(5), `https://social.example/p/${id.slice(5)}`] : [null, null];
      const content = [
        id,
        ownerId,
        accountId,
        provider,
        `r2://uploads/${id}.mp4`,
        caption,
        JSON.stringify(metadata),
      ];
      const nextAt = status === "scheduled" ? scheduledAt : null;
      insert.run([
        ...content,
        scheduledAt,
        scheduledAt,
        nextAt,
        sortKey,
        status,
        ...remote,
        `${id}${id}`,
        scheduledAt,
        scheduledAt,
      ]);
      if (isIndexed) await textIndex.put(tx, { sortKey, ownerId, caption, metadata });
    }
  });
}
