import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { addAccount, addPosts } from "../../test/support/post-rows.ts";
import { rawOf } from "../../test/support/handles.ts";
import { generatePosts, listAccounts, type BenchPost } from "./corpus.ts";

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
    await using store = await openStore({ file: unfinished });
    // Nothing of it needs to survive a crash.
    for (const setting of ["synchronous = OFF", "wal_autocheckpoint = 100000", "cache_size = -500000"])
      rawOf(store).exec(`PRAGMA ${setting}`);
    await fill(store, count, report);
    await store[Symbol.asyncDispose]();
    await rename(unfinished, file);
  }
  return openStore({ file });
}

/** Writes so many posts as scheduling does, on either engine. */
export async function fill(store: Store, count: number, report: (line: string) => void): Promise<void> {
  for (const account of listAccounts()) await addAccount(store, account);
  let batch: BenchPost[] = [];
  let done = 0;
  const flush = async (): Promise<void> => {
    await addPosts(store, batch);
    done += batch.length;
    if (done % 50_000 === 0) report(`wrote ${done} posts`);
    batch = [];
  };
  for (const post of generatePosts(count)) {
    batch.push(post);
    if (batch.length >= BATCH || done >= count - SINGLE) await flush();
  }
  await flush();
}
