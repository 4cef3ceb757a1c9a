import * as z from "zod";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { settleByListing } from "../shared/settle.ts";
import { AnyAnswer, ask, blogPath, NoPlace } from "./api.ts";
import { addressOf } from "./connect.ts";
import { contentOf, slugOf } from "./content.ts";
import { fieldsOf, findSent, Placed, readPost, type TumblrEntry } from "./find.ts";
import { openAll, uploadsOf } from "./media.ts";
import type { TumblrPost } from "./metadata.ts";

/** So long before its time a post must be, to go into the queue. */
const SOONEST_MS = 5 * MINUTE;
/** Tumblr publishes within minutes of the time; then we do. */
const FLIP_AFTER_MS = 3 * MINUTE;
/** A post changes its id when it becomes public, and may be under neither for a while. */
const APPEARS_WITHIN_MS = 10 * MINUTE;

/** One post: in the queue until its time, or public at once. */
export async function publish(post: TumblrPost, io: PublishIo): Promise<PublishOutcome> {
  try {
    // What is placed needs its media no more.
    const placed = Placed.nullable().parse(io.resultOf("post")) ?? (await place(post, io));
    if (placed.state === "held" && !io.isDue)
      return { state: "held", platformPostId: placed.id, platformUrl: null };
    const since = Math.max(placed.at, post.scheduledAt) - MINUTE;
    const found = placed.state === "live" ? placed : await readPost(io, { ...placed, since });
    if (found?.state !== "live" && found?.state !== "published")
      return await wait(post, io, { placed, found });
    const at = liveAt(io, found.id);
    await io.live(at);
    return { state: "live", ...at };
  } catch (error) {
    if (error instanceof NoPlace && !io.isDue) return { state: "prepared" };
    throw error;
  }
}

function liveAt({ account }: PublishIo, id: string): LiveAt {
  const { handle } = account;
  return { platformPostId: id, platformUrl: handle === null ? null : `${addressOf(handle)}/${id}` };
}

/** Its time has come and nobody sees it yet. */
async function wait(
  post: TumblrPost,
  io: PublishIo,
  { placed, found }: { readonly placed: Placed; readonly found: Placed | TumblrEntry | null },
): Promise<PublishOutcome> {
  const sinceMs = io.now() - Math.max(placed.at, post.scheduledAt);
  const checkAgainMs = Math.min(Math.max(10 * SECOND, Math.round(sinceMs / 4)), 5 * MINUTE);
  // It is the platform's work to make it public, for as long as it takes.
  if (placed.state === "transcoding") return { state: "processing", checkAgainMs };
  if (found === null && sinceMs > APPEARS_WITHIN_MS) throw new PlatformFault("rejected", WAS_DELETED);
  if (found !== null && "content" in found && sinceMs >= FLIP_AFTER_MS) await flip(io, found);
  return { state: "held", platformPostId: placed.id, platformUrl: null, checkAgainMs };
}

const WAS_DELETED =
  "It is not in the blog's queue any more, and not public. It was deleted on Tumblr. Send it again.";

/** What became public meanwhile has another id, so that nothing is done to it. */
async function flip(io: PublishIo, entry: TumblrEntry): Promise<void> {
  const path = `${blogPath(io)}/posts/${entry.id}`;
  const json = { ...fieldsOf(entry), state: "published" };
  await ask(io, { method: "PUT", path, json, isIdempotent: true }, AnyAnswer);
}

const Created = z.looseObject({
  id: z.union([z.string().regex(/^\d+$/), z.int().transform(String)]),
  state: z.string().optional(),
});

async function place(post: TumblrPost, io: PublishIo): Promise<Placed> {
  const items = await openAll(post, io);
  const hasFilm = items.some(({ facts }) => facts.type === "video");
  const words = contentOf(post, []);
  return io.effect<Placed>({
    step: "post",
    request: { ...words, media: items.map(({ url, altText }) => ({ url, altText })) },
    async send({ key, timesSent }) {
      const mark = markOf(key);
      // Tumblr takes the same slug twice. A film that it works on is in no list, and stands in its own way.
      const found = timesSent === 0 ? null : await findSent(io, mark, post.scheduledAt - LOOK_BACK_MS);
      if (found !== null) return found;
      const uploads = await uploadsOf(items, io);
      const isHeld = !io.isDue;
      if (isHeld && post.scheduledAt - io.now() < SOONEST_MS) throw new NoPlace();
      const json: JsonObject = {
        ...contentOf(
          post,
          uploads.map(({ block }) => block),
        ),
        slug: slugOf(post, mark),
        ...(isHeld ? { state: "queue", publish_on: laterSecond(post.scheduledAt) } : { state: "published" }),
      };
      const text = { name: "json", text: JSON.stringify(json), mimeType: "application/json" };
      const parts = uploads.map(({ part }) => part);
      const body = parts.length === 0 ? { json } : { multipart: [text, ...parts] };
      const call = { method: "POST", path: `${blogPath(io)}/posts`, ...body, times: UPLOAD_TIMES } as const;
      const { id, state } = await ask(io, call, Created);
      const isLive = state === "published" || (state === undefined && !hasFilm);
      return { id, mark, state: isHeld ? "held" : isLive ? "live" : "transcoding", at: io.now() };
    },
    settle: (context) =>
      settleByListing<Placed>(context, {
        now: io.now(),
        settleMs: hasFilm ? 15 * MINUTE : MINUTE,
        isReliable: true,
        reason: "the answer was lost, and the blog could not be looked through.",
        find: (since) => findSent(io, markOf(context.key), since),
      }),
  });
}

/** How far back the same post is looked for before it is sent again. */
const LOOK_BACK_MS = 60 * MINUTE;

function markOf(key: string): string {
  return key.slice(0, 12);
}

/** Never before its time. */
function laterSecond(ms: number): string {
  return toIso(Math.ceil(ms / SECOND) * SECOND);
}
