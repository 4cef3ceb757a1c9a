import { openSqlite } from "../sqlite/driver.ts";

interface Media {
  readonly key: string;
}

/**
 * Keys of everything in the file store that a database (a copy that nobody works on) refers to, each once.
 */
export function listStoredKeys(file: string): string[] {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
    const files = database
      .prepare("SELECT storage_key AS key FROM files WHERE status = 'ready' ORDER BY storage_key")
      .all([]) as Media[];
    const items = database.prepare("SELECT item FROM feed_items").all([]) as { item: string }[];
    const shown = items.flatMap(({ item }) => {
      const { media, thumbnail } = JSON.parse(item) as { media: Media[]; thumbnail: Media | null };
      return thumbnail === null ? media : [...media, thumbnail];
    });
    return [...new Set([...files, ...shown].map(({ key }) => key))];
  } finally {
    database.close();
  }
}
