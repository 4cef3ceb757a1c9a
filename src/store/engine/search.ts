import type { PostStatus } from "../../domain/posts/post-states.ts";
import type { SearchTerm } from "../../domain/text/compare-words.ts";
import type { ShownRow } from "../schema/tables.ts";

/** Pages of posts, newest scheduled time first, with and without words that they must have. */
export interface Search {
  page(filter: PostFilter, page: Page): Promise<PageOfRows>;
  /** The first ones, earliest first, without words. */
  first(filter: Omit<PostFilter, "terms">, limit: number): Promise<readonly ShownRow[]>;
}

/** What a page may hold. Lists match any of their values; null: no such filter. */
export interface PostFilter {
  readonly ownerId: string;
  readonly accountIds: readonly string[] | null;
  readonly providers: readonly string[] | null;
  readonly statuses: readonly PostStatus[] | null;
  /** Only the posts of this draft. Default: all. */
  readonly draftId?: string | null;
  /** Only posts with one of these labels. Default: all. */
  readonly labels?: readonly string[] | null;
  /** Empty: no search. */
  readonly terms: readonly SearchTerm[];
  /** Milliseconds, both included. */
  readonly from: number | null;
  readonly to: number | null;
}

/** Where a post stands in the order of all: by its time in milliseconds, then by its id. */
export interface Position {
  readonly at: number;
  readonly id: string;
}

export interface Page {
  /** Where the page before it ended; null for the first. */
  readonly before: Position | null;
  readonly limit: number;
  /** A clock that never jumps, in milliseconds. */
  readonly now: () => number;
}

export interface PageOfRows {
  readonly rows: readonly ShownRow[];
  /** Give it back as `before` for the next page; null on the last page. */
  readonly next: Position | null;
}
