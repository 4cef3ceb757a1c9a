import { ACCESS_TABLES } from "./access.ts";
import { CHANNEL_TABLES } from "./channels.ts";
import type { RowsOf } from "./columns.ts";
import { EVENT_TABLES } from "./events.ts";
import { FILE_TABLES } from "./files.ts";
import { POST_TABLES } from "./posts.ts";

/** The tables of both engines, each after those that it refers to. */
export const TABLES = {
  ...ACCESS_TABLES,
  ...CHANNEL_TABLES,
  ...POST_TABLES,
  ...FILE_TABLES,
  ...EVENT_TABLES,
} as const;

/** Their rows. */
export type Tables = RowsOf<typeof TABLES>;

/** A post without the count that only take-overs use. */
export type PostRow = Omit<Tables["posts"], "crashes">;

/** The columns that `toPost`, and what is said of listed posts, need. Long lists read no others. */
export const SHOWN_COLUMNS = [
  "id",
  "account_id",
  "provider",
  "media_url",
  "caption",
  "metadata",
  "lead_minutes",
  "scheduled_at",
  "status",
  "platform_post_id",
  "platform_url",
  "error",
  "in_doubt",
  "attempts",
  "published_at",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof PostRow)[];
export type ShownRow = Pick<PostRow, (typeof SHOWN_COLUMNS)[number]>;
