import { sql } from "kysely";
import { queryOf } from "../../engine/handle.ts";
import type { Reader } from "../../engine/store.ts";
import type { FileReach } from "./files.ts";

/** An address as a whole JSON text: a caption that only mentions one does not count. */
const QUOTED_ADDRESS = /"r2:\/\/([a-z0-9/_.-]+)"/g;

/**
 * How many posts that still wait for something name each key, in `media_url` or anywhere in `metadata`;
 * without any: absent. With accounts, posts of theirs alone.
 */
export async function countUses(
  reader: Reader,
  of: Of,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>();
  if (keys.length === 0) return uses;
  const add = (key: string, count: number): unknown => uses.set(key, (uses.get(key) ?? 0) + count);
  const urls = keys.map((key) => `r2://${key}`);
  for (const row of await countByMediaUrl(reader, of, urls))
    add(row.media_url.slice("r2://".length), row.posts);
  const wanted = new Set(keys);
  for (const row of await namedInMetadata(reader, of)) {
    const named = new Set([...(row.metadata ?? "").matchAll(QUOTED_ADDRESS)].map((match) => match[1] ?? ""));
    for (const key of named) if (wanted.has(key) && row.media_url !== `r2://${key}`) add(key, 1);
  }
  return uses;
}

type Of = Pick<FileReach, "ownerId" | "accountIds">;

const waitingPosts = (reader: Reader, { ownerId, accountIds }: Of) =>
  queryOf(reader)
    .selectFrom("posts")
    .where("owner_id", "=", ownerId)
    .where("next_at", "is not", null)
    .$if(accountIds !== null, (all) => all.where("account_id", "in", accountIds ?? []));

function countByMediaUrl(
  reader: Reader,
  of: Of,
  urls: readonly string[],
): Promise<{ media_url: string; posts: number }[]> {
  return (
    waitingPosts(reader, of)
      .select(["media_url", sql<number>`count(*)`.as("posts")])
      .where("media_url", "in", urls)
      // As in the partial index posts_waiting_media, which it is answered from.
      .where(sql<boolean>`media_url <> ''`)
      .groupBy("media_url")
      .execute()
  );
}

function namedInMetadata(reader: Reader, of: Of): Promise<{ media_url: string; metadata: string | null }[]> {
  return waitingPosts(reader, of)
    .select(["media_url", "metadata"])
    .where("status", "in", ["scheduled", "publishing", "uploaded"])
    .where(sql<boolean>`metadata LIKE '%"r2://%'`)
    .execute();
}
