import { DAY, SECOND } from "../../../src/domain/time.ts";
import type { Fields } from "./meta-door.ts";

export interface HeldContainer {
  readonly id: string;
  readonly fields: Fields;
  readonly madeAt: number;
  /** Ready from then on; never, before its film was sent. */
  readyAt: number;
  /** What was sent of its film. */
  sent: Buffer;
  isPublished: boolean;
  /** What it failed with, as its status says it. */
  failure: string | null;
}

export interface Published {
  readonly id: string;
  readonly at: number;
  readonly fields: Fields;
  isDeleted: boolean;
}

const FILM_TAKES_MS = 8 * SECOND;
const ALBUM_TAKES_MS = 3 * SECOND;

/** Containers and posts as Meta holds them, by the stage's clock. */
export function createShelf(now: () => number) {
  const containers = new Map<string, HeldContainer>();
  const posts: Published[] = [];
  const state = {
    made: 0,
    /** Each container from now on fails with it, so many times. */
    failing: { status: "", times: 0 },
    listsAfterMs: 2 * SECOND,
  };
  // Beyond 2^53, as Meta's are.
  const newId = (): string => `${17_900_000_000_000_000n + BigInt((state.made += 1))}`;

  return {
    state,
    containers,
    posts,
    newId,
    add(fields: Fields): string {
      const id = newId();
      const isFilm = fields["video_url"] !== undefined;
      const takesMs = isFilm ? FILM_TAKES_MS : fields["media_type"] === "CAROUSEL" ? ALBUM_TAKES_MS : 0;
      const failure = state.failing.times > 0 ? state.failing.status : null;
      state.failing.times -= 1;
      const readyAt = fields["upload_type"] === "resumable" ? Infinity : now() + takesMs;
      const held = { id, fields, madeAt: now(), readyAt, isPublished: false, failure };
      containers.set(id, { ...held, sent: Buffer.alloc(0) });
      return id;
    },
    /** Part of a film, which has so many bytes; false where it does not follow what was sent before. */
    send(held: HeldContainer, part: { from: number; bytes: Buffer; size: number }): boolean {
      if (part.from !== held.sent.length) return false;
      held.sent = Buffer.concat([held.sent, part.bytes]);
      if (held.sent.length === part.size) held.readyAt = now() + FILM_TAKES_MS;
      return true;
    },
    statusOf(id: string): string | null {
      const held = containers.get(id);
      if (held === undefined) return null;
      if (held.isPublished) return "PUBLISHED";
      if (now() - held.madeAt >= DAY) return "EXPIRED";
      if (now() < held.readyAt) return "IN_PROGRESS";
      return held.failure === null ? "FINISHED" : "ERROR";
    },
    publish(id: string): Published {
      const held = containers.get(id);
      if (held === undefined) throw new Error("There is no such container.");
      held.isPublished = true;
      const post = { id: newId(), at: now(), fields: held.fields, isDeleted: false };
      posts.push(post);
      return post;
    },
    find: (id: string): Published | undefined => posts.find((post) => post.id === id && !post.isDeleted),
    /** Newest first; what is new is listed a moment later. */
    listed: (): Published[] =>
      posts.filter((post) => !post.isDeleted && now() >= post.at + state.listsAfterMs).toReversed(),
    usedToday: (): number => posts.filter(({ at }) => at > now() - DAY).length,
  };
}

/** As the Graph API writes a moment: in seconds, with +0000. */
export function metaTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "+0000");
}

/** A page of a list, with the address of the next one as Meta gives it: with the token in it. */
export function pageOf<T>(all: readonly T[], { limit = "25", after }: Fields): object {
  const from = after === undefined ? 0 : Number(after);
  const end = from + Number(limit);
  const next = end < all.length ? { next: "https://graph.evil.example/?access_token=leak" } : {};
  return { data: all.slice(from, end), paging: { cursors: { before: "0", after: String(end) }, ...next } };
}
