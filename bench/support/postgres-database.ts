import { sql } from "kysely";
import { searchableText } from "../../src/domain/compare-words.ts";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";
import { toStored } from "../../src/store/postgres/search/words.ts";
import { queryOf } from "../../test/support/handles.ts";
import { generatePosts, listAccounts, type BenchPost } from "./corpus.ts";
import { createTies } from "./database.ts";

const BATCH = 5_000;

const INSERT_ACCOUNTS = `
  INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_version, next_allowed_at, created_at, updated_at)
  SELECT id, owner_id, provider, id, 'connected', '[]', '{}', 0, 0, 0, 0
  FROM unnest($1::text[], $2::text[], $3::text[]) AS a (id, owner_id, provider)`;
const INSERT_POSTS = `
  INSERT INTO posts (id, owner_id, account_id, provider, media_url, caption, metadata, lead_minutes, scheduled_at, due_at, next_at,
    sort_key, status, platform_post_id, platform_url, in_doubt, attempts, tries, run, fence, content_hash, created_at, updated_at)
  SELECT id, owner_id, account_id, provider, 'r2://uploads/' || id || '.mp4', caption, metadata, 0, at, at,
    CASE status WHEN 'scheduled' THEN at END, sort_key, status, CASE status WHEN 'published' THEN substr(id, 6) END,
    CASE status WHEN 'published' THEN 'https://social.example/p/' || substr(id, 6) END, 0, 1, 0, 1, 0, id || id, at, at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[])
    AS p (id, owner_id, account_id, provider, caption, metadata, at, status, sort_key)`;
const INSERT_WORDS = `
  INSERT INTO post_search (sort_key, owner_id, words, marked)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::tsvector[], $4::text[])`;
const INDEXES = `
  SELECT indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE tablename IN ('posts', 'post_search') AND indexname NOT LIKE '%_pkey'`;

/** Fills an empty database with so many posts: indexes after the rows, and what the planner goes by last. */
export async function fillBenchDb(
  connections: Connections,
  count: number,
  report: (line: string) => void,
): Promise<void> {
  const client = await connections.connect();
  try {
    await client.query(
      "SET synchronous_commit = off; SET statement_timeout = 0; SET maintenance_work_mem = '512MB'",
    );
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(INDEXES);
    await client.query(indexes.map(({ name }) => `DROP INDEX ${name}`).join(";"));
    const accounts = listAccounts();
    await client.query(INSERT_ACCOUNTS, [
      accounts.map(({ id }) => id),
      accounts.map(({ ownerId }) => ownerId),
      accounts.map(({ provider }) => provider),
    ]);
    const nextKey = createTies();
    let writing: Promise<unknown> = Promise.resolve();
    let done = 0;
    for (const batch of batches(generatePosts(count))) {
      const keys = batch.map((post) => String(nextKey(post.scheduledAt)));
      const stored = batch.map((post) => toStored(searchableText(post)));
      // While the server writes them, the next ones are made.
      await writing;
      writing = Promise.all([
        client.query(INSERT_POSTS, [
          ...(["id", "ownerId", "accountId", "provider", "caption"] as const).map((name) =>
            batch.map((post) => post[name]),
          ),
          batch.map((post) => JSON.stringify(post.metadata)),
          batch.map((post) => post.scheduledAt),
          batch.map((post) => post.status),
          keys,
        ]),
        client.query(INSERT_WORDS, [
          keys,
          batch.map((post) => post.ownerId),
          stored.map(({ words }) => words),
          stored.map(({ marked }) => marked),
        ]),
      ]);
      done += batch.length;
      if (done % 50_000 === 0) report(`wrote ${done} posts`);
    }
    await writing;
    for (const { definition } of indexes) await client.query(definition);
    report("made the indexes");
    await client.query("VACUUM ANALYZE posts, post_search, accounts");
    await client.query("CHECKPOINT");
  } finally {
    await client.end();
  }
}

export async function countPosts(connections: Connections): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM posts`.execute(
    queryOf(connections.application),
  );
  return rows[0]?.count ?? 0;
}

function* batches(posts: Iterable<BenchPost>): Generator<BenchPost[]> {
  let batch: BenchPost[] = [];
  for (const post of posts) {
    batch.push(post);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
