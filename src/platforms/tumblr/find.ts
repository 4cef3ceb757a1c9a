import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import { orNull } from "../shared/or-null.ts";
import { ask, blogPath } from "./api.ts";

const Id = z.union([z.string().regex(/^\d+$/), z.int().transform(String)]);
const Block = z.record(z.string(), z.json());

/** As it is fetched, and as it stands in lists with `npf`. */
const TumblrEntry = z
  .looseObject({
    id: Id,
    id_string: Id.optional(),
    genesis_post_id: Id.optional(),
    slug: z.string().catch(""),
    state: z.string().optional(),
    queued_state: z.string().optional(),
    timestamp: z.int().optional(),
    content: z.array(Block).catch([]),
    layout: z.array(z.json()).catch([]),
    tags: z.array(z.string()).catch([]),
    interactability_reblog: z.string().optional(),
  })
  .transform(({ id, id_string: text, queued_state: queued, ...entry }) => ({
    ...entry,
    id: text ?? id,
    state: entry.state ?? (queued === undefined ? "published" : "queued"),
  }));
export type TumblrEntry = z.infer<typeof TumblrEntry>;

const Page = z.looseObject({ posts: z.array(TumblrEntry) });

const PAGE = 20;
/** A queue takes 1,000 posts. */
const MAX_PAGES = 55;

/** Where a post is on Tumblr, or was put. */
export const Placed = z.object({
  id: z.string(),
  /** The mark in its slug. */
  mark: z.string(),
  state: z.enum(["live", "held", "transcoding"]),
  /** When it was told, in milliseconds since 1970. */
  at: z.number(),
});
export type Placed = z.infer<typeof Placed>;

interface Wanted extends Pick<Placed, "mark"> {
  /** Before it is public, where it was seen by then: it gets another one when it is. */
  readonly id: string | null;
  /** Milliseconds since 1970; null: the newest are enough. */
  readonly since: number | null;
}

const isOurs = (entry: TumblrEntry, { id, mark }: Wanted): boolean =>
  (mark !== "" && entry.slug.includes(mark)) ||
  (id !== null && [entry.id, entry.genesis_post_id].includes(id));

/** Looks among the blog's public posts, or in its queue, which comes in the order of its times. */
async function findIn(
  list: "posts" | "posts/queue",
  wanted: Wanted,
  io: PlatformIo,
): Promise<TumblrEntry | null> {
  const isPublic = list === "posts";
  const named = isPublic ? { npf: true, api_key: io.setting("CLIENT_ID") } : {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { ...named, limit: PAGE, offset: page * PAGE };
    const { posts } = await ask(io, { path: `${blogPath(io)}/${list}`, query }, Page);
    const found = posts.find((entry) => isOurs(entry, wanted));
    if (found !== undefined) return found;
    const oldest = (posts.at(-1)?.timestamp ?? 0) * SECOND;
    const isPast = isPublic && (wanted.since === null || oldest < wanted.since);
    if (posts.length === 0 || isPast) return null;
  }
  return null;
}

/** Of a post whose answer was lost. Null where it is neither public nor in the queue. */
export async function findSent(io: PlatformIo, mark: string, since: number): Promise<Placed | null> {
  const wanted = { id: null, mark, since };
  const found = (await findIn("posts", wanted, io)) ?? (await findIn("posts/queue", wanted, io));
  if (found === null) return null;
  const state = found.state === "published" || found.state === "private" ? "live" : "held";
  return { id: found.id, mark, state, at: io.now() };
}

/** The post as it is now, under the id that it has now; null where it is gone. */
export async function readPost(
  io: PlatformIo,
  { id, ...wanted }: Wanted & { readonly id: string },
): Promise<TumblrEntry | null> {
  const path = `${blogPath(io)}/posts/${encodeURIComponent(id)}`;
  const found = await orNull(ask(io, { path, query: { post_format: "npf" } }, TumblrEntry));
  return found ?? findIn("posts", { id, ...wanted }, io);
}

/** What an edit has to give again. */
export function fieldsOf({ content, layout, tags, slug, ...entry }: TumblrEntry): JsonObject {
  const reblogs = entry.interactability_reblog;
  return {
    content,
    layout,
    tags: tags.join(","),
    ...(slug === "" ? {} : { slug }),
    ...(reblogs === undefined ? {} : { interactability_reblog: reblogs }),
  };
}
