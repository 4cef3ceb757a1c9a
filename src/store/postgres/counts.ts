import { MINUTE, SECOND } from "../../domain/time.ts";
import type { Counted, Counts } from "../engine/counts.ts";
import { change, rowsOf } from "../engine/statements.ts";
import type { Door } from "./connect/connections.ts";

/** How often what was counted is told to the others, and theirs is learned. */
const TOLD_EVERY_MS = SECOND;

/** Windows of others, whose clocks may be behind, are under way for so much longer. */
const BEHIND_MS = MINUTE;

interface Window {
  readonly key: string;
  readonly endsAt: number;
  /** As the database has it. */
  known: number;
  /** Counted here since, and not told yet. */
  fresh: number;
}

interface CountRow {
  readonly key: string;
  readonly ends_at: number;
  readonly hits: number;
}

/**
 * Counts in memory, and adds what came together to a table once a second. A database that does not answer
 * leaves each process with its own counts.
 */
export function createCounts(door: Door, tellEveryMs = TOLD_EVERY_MS): Counts & AsyncDisposable {
  const windows = new Map<string, Window>();
  let latest = 0;
  let timer: NodeJS.Timeout | undefined;
  let telling = Promise.resolve();

  const tell = async (): Promise<void> => {
    const told = [...windows.values()]
      .filter(({ fresh }) => fresh !== 0)
      .map((one) => ({ one, fresh: one.fresh }));
    for (const [name, { endsAt }] of windows) if (endsAt <= latest) windows.delete(name);
    const rows = await door.write(async (tx) => {
      await change(tx, FORGET, [latest - BEHIND_MS]);
      return rowsOf<CountRow>(tx, ADD, [
        JSON.stringify(told.map(({ one, fresh }) => [one.key, one.endsAt, fresh])),
      ]);
    });
    for (const { one, fresh } of told) one.fresh -= fresh;
    for (const row of rows) {
      const window = windows.get(nameOf(row.key, row.ends_at));
      if (window !== undefined) window.known = row.hits;
    }
  };
  const tellLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      // It counts on, and the next second tries again.
      telling = telling.then(tell).catch(() => {});
    }, tellEveryMs).unref();
  };

  return {
    add(key, { windowMs, now, by }): Counted {
      const endsAt = (Math.floor(now / windowMs) + 1) * windowMs;
      const name = nameOf(key, endsAt);
      const window = windows.get(name) ?? { key, endsAt, known: 0, fresh: 0 };
      windows.set(name, window);
      latest = Math.max(latest, now);
      window.fresh += by;
      tellLater();
      return { total: window.known + window.fresh, endsAt };
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await telling;
    },
  };
}

function nameOf(key: string, endsAt: number): string {
  return `${endsAt} ${key}`;
}

const FORGET = "DELETE FROM request_counts WHERE ends_at < ?";

/** In order of their keys: two processes that add the same wait for each other, and never in a circle. */
const ADD = `
  INSERT INTO request_counts (key, ends_at, hits)
  SELECT one->>0, (one->>1)::bigint, (one->>2)::integer FROM json_array_elements(?::json) AS one ORDER BY 1, 2
  ON CONFLICT (key, ends_at) DO UPDATE SET hits = request_counts.hits + excluded.hits
  RETURNING key, ends_at, hits`;
