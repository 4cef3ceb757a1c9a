import type { Readable } from "node:stream";

/** One entry of the built-in feed. */
export interface FeedItem {
  readonly accountId: string;
  /** Chosen by the publisher, so that putting it twice is one entry. */
  readonly id: string;
  readonly title: string | null;
  readonly text: string | null;
  readonly link: string | null;
  readonly tags: readonly string[];
  readonly language: string | null;
  readonly media: readonly FeedMedia[];
  readonly thumbnail: FeedMedia | null;
  /** Milliseconds since 1970; the date shown. */
  readonly publishedAt: number;
  /** False while it waits for its time. */
  readonly isPublic: boolean;
}

export interface FeedMedia {
  /** Key in the file store. */
  readonly key: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly altText: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationSeconds: number | null;
}

/** What is copied to the feed's own storage. */
interface FeedContent extends Omit<FeedMedia, "key" | "sizeBytes" | "sha256"> {
  readonly body: Readable;
}

/** What a platform gets beside the rest whose posts live in this very database (`isLocal`). */
export interface LocalIo {
  readonly feed?: FeedStorage;
}

/** Where the built-in feed keeps its entries: a table and the file store in production, maps in tests. */
export interface FeedStorage {
  get(accountId: string, id: string): Promise<FeedItem | null>;
  /** Writes the entry, replacing one of the same id. */
  put(item: FeedItem): Promise<void>;
  /** Changes the entry as it is now: a change never undoes another. Null where there is none. */
  change(accountId: string, id: string, change: (item: FeedItem) => FeedItem): Promise<FeedItem | null>;
  remove(accountId: string, id: string): Promise<void>;
  /** Copies media to where the feed's readers get it; the same entry and position overwrite. */
  keepMedia(
    place: { readonly accountId: string; readonly itemId: string; readonly position: string },
    content: FeedContent,
  ): Promise<FeedMedia>;
}
