import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type FaultKind, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { ask, FIELDS, findPost, gmtOf, update, WpPost, type Call } from "./api.ts";
import { contentOf, escapeLine } from "./content.ts";
import { sendMedia } from "./media.ts";
import { checkPost, keyOf, type WordpressPost } from "./metadata.ts";
import { fileUnder, type Filing } from "./terms.ts";

/** WordPress publishes at once what is scheduled for less than a minute ahead. */
const SOONEST_MS = 90 * SECOND;

/** WP-Cron is woken by a look at the site, and gets so long; a quiet site sleeps past the time. */
const FLIPS_WITHIN_MS = 2 * SECOND;
const LOOK_AGAIN_MS = SECOND;
const ASK_AGAIN_MS = 20 * SECOND;

/** Faults that say nothing about the post, which is on the site and may well be public by itself. */
const PASSING: readonly FaultKind[] = ["not_sent", "transient", "ambiguous", "rate"];

type Draft = {
  readonly id: number;
  readonly link: string;
  readonly isNew: boolean;
  /** Everybody sees it already: the ledger comes from a copy. */
  readonly isOut: boolean;
  /** The site's clock before ours; null where it was not told. */
  readonly aheadMs: number | null;
};

const Placed = z.object({ id: z.number(), link: z.string() });
type Placed = z.infer<typeof Placed>;

/**
 * A draft first, under a slug of its own by which it is found again, and its media as its own, so that they are
 * as hidden as it is; then all the rest with what makes it public, which may be told twice.
 */
export async function publish(post: WordpressPost, io: PublishIo): Promise<PublishOutcome> {
  const [problem] = checkPost(post).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
  const scheduled = Placed.nullable().parse(io.resultOf("schedule"));
  if (scheduled !== null) return watch(scheduled, post, io);

  const draft = await makeDraft(post, io);
  if (draft.isOut) {
    await io.live(liveAt(draft));
    return { state: "live", ...liveAt(draft) };
  }
  const fields = await fieldsOf(post, draft, io);
  if (io.isDue) return { state: "live", ...liveAt(await makePublic(draft, fields, io)) };
  if (isTooNear(post, io) || draft.aheadMs === null || draft.aheadMs > 0) return { state: "prepared" };
  try {
    return { state: "held", ...liveAt(await schedule(post, { draft, fields }, io)) };
  } catch (error) {
    if (error instanceof TooNear) return { state: "prepared" };
    throw error;
  }
}

function liveAt({ id, link }: Placed): LiveAt & { readonly platformPostId: string } {
  return { platformPostId: String(id), platformUrl: link };
}

function makeDraft(post: WordpressPost, io: PublishIo): Promise<Draft> {
  const slug = keyOf(post);
  const json = { title: escapeLine(post.metadata.title), slug, status: "draft" };
  const toDraft = (found: WpPost, isNew: boolean): Draft => ({
    id: found.id,
    link: found.link,
    isNew,
    isOut: found.status === "publish",
    aheadMs: isNew ? found.modified_gmt - io.now() : null,
  });
  return io.effect<Draft>({
    step: "draft",
    request: json,
    send: async () => {
      // An earlier try's is gone on with: a second one would get "-2" for its slug.
      const found = await findBySlug(io, slug);
      if (found !== null) return toDraft(found, false);
      const call = { method: "POST", path: "/wp/v2/posts", query: FIELDS, json } as const;
      return toDraft(await ask(io, call, WpPost), true);
    },
    settle: async ({ intentAt }) => {
      const found =
        (await findBySlug(io, slug)) ?? (await findRenamed(post, { io, since: intentAt - MINUTE }));
      return found === null ? { outcome: "send_again" } : { outcome: "done", result: toDraft(found, false) };
    },
  });
}

async function list(io: PlatformIo, query: Call["query"]): Promise<WpPost[]> {
  const all = { ...FIELDS, context: "edit", ...query };
  return ask(io, { method: "GET", path: "/wp/v2/posts", query: all }, z.array(WpPost));
}

async function findBySlug(io: PlatformIo, slug: string): Promise<WpPost | null> {
  const found = await list(io, { slug, status: "publish,future,draft,pending,private" });
  return found.find((one) => one.slug === slug) ?? null;
}

/** Once public it may have the slug that its author chose, or, where that was taken, nearly that. */
async function findRenamed(
  { metadata: { slug, title } }: WordpressPost,
  { io, since }: { readonly io: PlatformIo; readonly since: number },
): Promise<WpPost | null> {
  if (slug === undefined) return null;
  const newest = await list(io, { per_page: 50 });
  const isIt = (one: WpPost): boolean =>
    one.date_gmt >= since && one.slug.startsWith(slug) && one.title?.raw === escapeLine(title);
  return newest.find(isIt) ?? null;
}

/** What readers see of it. */
async function fieldsOf(post: WordpressPost, draft: Draft, io: PublishIo): Promise<JsonObject> {
  const { files, thumbnail } = await sendMedia(post, draft, io);
  const filing = await io.effect<Filing>({
    step: "terms",
    request: { categories: post.metadata.categories ?? null, tags: post.metadata.tags ?? null },
    send: () => fileUnder(post, io),
    // A tag is made once, and nobody sees one without posts.
    settle: async () => ({ outcome: "send_again" }),
  });
  return {
    ...wordsOf(post),
    content: contentOf(post, files),
    slug: post.metadata.slug ?? keyOf(post),
    ...filing,
    ...(thumbnail === null ? {} : { featured_media: thumbnail.id }),
  };
}

/** Without its text and what it is filed under. */
function wordsOf({ metadata }: WordpressPost): JsonObject {
  const { title, excerpt, comments } = metadata;
  return {
    title: escapeLine(title),
    ...(excerpt === undefined ? {} : { excerpt: escapeLine(excerpt) }),
    ...(comments === undefined ? {} : { comment_status: comments ? "open" : "closed" }),
  };
}

function isTooNear({ scheduledAt }: WordpressPost, io: PublishIo): boolean {
  return scheduledAt - io.now() < SOONEST_MS;
}

/** It is too late for the site's own schedule. The post goes out at its time. */
class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "It is too late for the site's own schedule. The post goes out at its time.");
  }
}

interface Ready {
  readonly draft: Draft;
  readonly fields: JsonObject;
}

function schedule(post: WordpressPost, { draft, fields }: Ready, io: PublishIo): Promise<Placed> {
  const json = { ...fields, status: "future", date_gmt: gmtOf(post.scheduledAt) };
  return io.effect<Placed>({
    step: "schedule",
    request: json,
    send: async () => {
      if (isTooNear(post, io)) throw new TooNear();
      const { id, link } = await update(io, draft.id, json);
      return { id, link };
    },
    settle: async () => ({ outcome: "send_again" }),
  });
}

function makePublic({ id }: Pick<Placed, "id">, fields: JsonObject, io: PublishIo): Promise<Placed> {
  const json = { ...fields, status: "publish" };
  return io.effect<Placed>({
    step: "publish",
    request: json,
    send: async () => {
      const first = await update(io, id, json);
      // Its date is still ahead by the site's clock, which is behind.
      const date = gmtOf(first.modified_gmt);
      const last =
        first.status === "future" ? await update(io, id, { status: "publish", date_gmt: date }) : first;
      if (last.status === "publish") return { id, link: last.link };
      const why = `The site keeps the post as "${last.status.slice(0, 20)}": its user may not publish, or a plugin asks for approval. Publish it there.`;
      throw new PlatformFault("rejected", why);
    },
    settle: async () => ({ outcome: "send_again" }),
    live: liveAt,
  });
}

/** A post that lies on the site for its time. Trouble with asking about it is none of the post's. */
async function watch(placed: Placed, post: WordpressPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "held", ...liveAt(placed) };
  let found: WpPost | null;
  try {
    found = await findPost(io, placed.id);
  } catch (error) {
    if (!(error instanceof PlatformFault) || !PASSING.includes(error.kind)) throw error;
    io.log.warn({ postId: post.id, err: error }, "a post could not be asked about");
    const checkAgainMs = error.retryAfterMs ?? ASK_AGAIN_MS;
    return { state: "held", ...liveAt(placed), checkAgainMs, note: error.message };
  }
  if (found?.status === "publish") {
    await io.live(liveAt(found));
    return { state: "live", ...liveAt(found) };
  }
  if (found?.status !== "future") throw new PlatformFault("rejected", takenBack(found));
  if (io.now() < post.scheduledAt + FLIPS_WITHIN_MS)
    return { state: "held", ...liveAt(placed), checkAgainMs: LOOK_AGAIN_MS };
  return { state: "live", ...liveAt(await makePublic(placed, {}, io)) };
}

function takenBack(found: WpPost | null): string {
  const what = found === null || found.status === "trash" ? "deleted" : "taken back from its schedule";
  return `The post was ${what} on the site before its time. Send the post again.`;
}
