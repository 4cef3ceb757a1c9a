import { AppError } from "../domain/errors.ts";
import { MINUTE } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import type { AnyPlatform, PlatformPost, PublishOutcome } from "../ports/platform.ts";
import { type PublishIo, StillProcessing } from "../ports/publish-io.ts";
import type { Candidate } from "../store/engine/claims.ts";
import type { Lease } from "../store/engine/ledger.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { readMetadata, readResults } from "../store/queries/posts.ts";
import type { AppContext } from "../context.ts";
import { createEffects, type Effects } from "./effects.ts";
import { guardQuotas } from "./quotas.ts";
import { asWritten, capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { fitEffect, fitOutcome, fitPlace } from "../channels/platform-io/fit-answers.ts";
import { createPlatformIo } from "../channels/connecting/account-io.ts";
import type { Json } from "../ports/platform-io.ts";
import { checkGated } from "../channels/platform-io/gated-options.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { checkCounts, checkMedia, EVERY_SKILL } from "../domain/files/media-limits.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { MediaFacts, MediaItem, PostMedia } from "../ports/media.ts";
import { OWN_SCHEME } from "../files/files.ts";
import { convertedFilm, type FilmTimes } from "../files/films.ts";
import { adviceOnMedia, convertsFilms, refusal, skillsOf } from "../files/media-skills.ts";
import { placesOf } from "../files/media-places.ts";

export interface PublishRun {
  readonly effects: Effects;
  /** Brings the post onto its platform as far as it goes now. */
  publish(): Promise<PublishOutcome>;
  /** How long it waited for its media so far. */
  mediaMs(): number;
}

/** A post that only one worker works on. */
export type LeasedPost = Pick<Candidate, "post" | "account" | "effects"> & {
  readonly lease: Lease;
  /** The latest that the clock has shown so far, where it is known. */
  readonly reachedAt?: number;
};

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly isReconcileOnly: boolean;
}

/** How long a doubtful outcome is asked about although the post's own time is over. */
const RECONCILE_GRACE_MS = TIME_LIMITS.doubtAfterLateness;

/**
 * Everything a platform needs to bring (or finish bringing) a post onto it that is claimed, or about to be.
 * Changes nothing.
 */
export async function createPublishRun(
  ctx: AppContext,
  leased: LeasedPost,
  options: RunOptions,
): Promise<PublishRun> {
  const { post: row, account, lease } = leased;
  const platform = findPlatform(ctx, row.provider);
  const post = toPlatformPost(platform, row);
  const capabilities = capabilitiesFor(ctx, account, post);
  const door = countRequests(ctx);
  // What has come stays so: a clock that is set back in the middle stops nothing.
  let { reachedAt: latest = -Infinity } = leased;
  const hasCome = (moment: number): boolean => (latest = Math.max(latest, ctx.clock.now())) >= moment;
  const effects = createEffects({
    ctx,
    requestsBegun: door.begun,
    lease,
    run: row.run,
    rows: leased.effects,
    signal: options.signal,
    deadline: row.scheduled_at + ctx.settings.maxLatenessMs,
    isTimeFor: (isLive) => hasCome(isLive ? row.scheduled_at : row.due_at),
    isReconcileOnly: options.isReconcileOnly,
    reconciles: capabilities.reconciles,
    guard: guardQuotas(ctx, leased, capabilities),
  });
  const platformIo = await createPlatformIo(door.ctx, account, options.signal);
  const source = ctx.media.forPost({ ownerId: row.owner_id, postId: row.id }, options.signal);
  let mediaMs = 0;
  const io: PublishIo = {
    ...platformIo,
    media: limitMedia(
      {
        ctx,
        platform,
        capabilities,
        postId: row.id,
        ownerId: row.owner_id,
        signal: options.signal,
        dueAt: row.due_at,
        giveUpAt: giveUpAt(ctx, row, false),
      },
      source,
      { mediaUrl: row.media_url, metadata: readMetadata(row) },
      (ms) => (mediaMs += ms),
    ),
    get isDue() {
      return hasCome(row.scheduled_at);
    },
    effect: (spec) => effects.effect(fitEffect(platform.title, spec)),
    once: (name, make) => effects.once(name, make),
    live: (place) => effects.live(fitPlace(platform.title, place)),
    followUp: (name, work) => effects.followUp(name, work),
    resultOf: (step) => effects.resultOf(step),
  };
  const publish = async (): Promise<PublishOutcome> => {
    // The rules, or what the account may do, may have changed since the post was scheduled. Once something of
    // it left, only the platform knows what is still right.
    const facts = { account: io.account, media: new Map(), now: io.now() };
    const [problem] =
      leased.effects.length > 0
        ? []
        : [...checkGated(platform, post, io).errors, ...(platform.check?.(post, facts).errors ?? [])];
    if (problem !== undefined) throw new AppError("invalid", problem);
    try {
      return fitOutcome(platform.title, await platform.publish(post, io));
    } catch (error) {
      if (error instanceof StillProcessing) return { state: "processing", checkAgainMs: error.checkAgainMs };
      throw error;
    }
  };
  return { effects, publish, mediaMs: () => mediaMs };
}

/** The same service, which counts what begins to leave for a platform. */
function countRequests(ctx: AppContext): { readonly ctx: AppContext; begun(): number } {
  let begun = 0;
  const counted: AppContext = {
    ...ctx,
    outbound: {
      assertAllowed: (...args) => ctx.outbound.assertAllowed(...args),
      request: (request) => {
        begun += 1;
        return ctx.outbound.request(request);
      },
    },
    sockets: {
      converse: (options, work) => {
        begun += 1;
        return ctx.sockets.converse(options, work);
      },
    },
  };
  return { ctx: counted, begun: () => begun };
}

/** The moment after which a post is given up, a doubtful one included. */
export function giveUpAt(
  ctx: AppContext,
  row: Pick<PostRow, "scheduled_at" | "due_at">,
  isOpen: boolean,
): number {
  const limit = row.scheduled_at + ctx.settings.maxLatenessMs;
  return isOpen ? limit + RECONCILE_GRACE_MS : limit;
}

/** The post as its platform sees it, metadata parsed with the platform's own schema. */
export function toPlatformPost(
  platform: AnyPlatform,
  row: Pick<
    PostRow,
    | "id"
    | "caption"
    | "media_url"
    | "metadata"
    | "scheduled_at"
    | "due_at"
    | "platform_post_id"
    | "platform_url"
  >,
): PlatformPost {
  const metadata = platform.metadata.safeParse(readMetadata(row) ?? {});
  if (!metadata.success) {
    throw new AppError(
      "invalid",
      `metadata: the post's fields do not fit ${platform.title} any more. Schedule it as a new post.`,
      { cause: metadata.error },
    );
  }
  return asWritten(platform, {
    id: row.id,
    caption: row.caption,
    mediaUrl: row.media_url,
    metadata: metadata.data as PlatformPost["metadata"],
    scheduledAt: row.scheduled_at,
    // As it was worked out when it was scheduled.
    leadMinutes: (row.scheduled_at - row.due_at) / MINUTE,
    platformPostId: row.platform_post_id,
    platformUrl: row.platform_url,
  });
}

/** What the steps gave that brought a post onto its platform, for the work on it afterwards. */
export async function readStepResults(
  ctx: AppContext,
  row: Pick<PostRow, "id" | "run">,
): Promise<{ resultOf(step: string): Json }> {
  const rows = await readResults(ctx.store, row);
  const results = new Map(rows.map(({ step, result }) => [step, JSON.parse(result) as Json]));
  return { resultOf: (step) => results.get(step) ?? null };
}

/** Whose media it is, and what they are held to. */
interface LimitedMedia extends FilmTimes {
  readonly ctx: AppContext;
  readonly platform: AnyPlatform;
  readonly capabilities: Pick<PlatformCapabilities, "media" | "showsOriginals">;
  readonly ownerId: string;
  readonly postId: string;
  readonly signal: AbortSignal;
}

/**
 * A post's media, each item held to the platform's limits before its file sees it: what was checked at
 * scheduling may have changed since, and remote media could not be looked at then. A film that does not fit is
 * converted. Throws `invalid` naming the field. `onTime` hears how long each item took, in milliseconds.
 */
export function limitMedia(
  of: LimitedMedia,
  media: PostMedia,
  content: { readonly mediaUrl: string; readonly metadata: Metadata | null },
  onTime: (ms: number) => void = () => {},
): PostMedia {
  const { ctx, platform, capabilities } = of;
  const { accepts } = capabilities.media;
  const places = placesOf(platform, content);
  const items = new Map<string, MediaFacts>();
  const open = async (url: string, altText?: string | null): Promise<MediaItem> => {
    const given = await media.item(url, altText);
    const place = places.find((one) => one.isShown && one.url === url);
    if (place === undefined) return given;
    const item = await fitFilm(of, given, place.field);
    // What could be converted is by now.
    const { problems } = checkMedia(item.facts, accepts, {
      ...(await skillsOf(ctx, capabilities)),
      films: false,
    });
    if (problems.length > 0)
      throw refusal(platform, place.field, problems, await adviceOnMedia(ctx, item.facts, capabilities));
    for (const { field, isItem } of places.filter((one) => one.url === url))
      if (isItem) items.set(field, item.facts);
    const excess = checkCounts([...items.values()], accepts);
    if (excess !== null) throw refusal(platform, "metadata.moreMedia", [excess]);
    return item;
  };
  return {
    ...media,
    async item(url, altText) {
      const startedAt = ctx.clock.monotonic();
      try {
        return await open(url, altText);
      } finally {
        onTime(ctx.clock.monotonic() - startedAt);
      }
    },
  };
}

/** The process ends before a film is ready. */
export class EndsFirst extends Error {}

/** A film that is converted, where it must be; everything else as it is. */
async function fitFilm(of: LimitedMedia, item: MediaItem, field: string): Promise<MediaItem> {
  const { ctx, capabilities, ownerId, postId, signal, dueAt, giveUpAt: until } = of;
  const { facts, url } = item;
  const { film: form } = checkMedia(facts, capabilities.media.accepts, EVERY_SKILL);
  if (form === null || !(await convertsFilms(ctx))) return item;
  // Held by what it follows: see `deadline`.
  const either = new AbortController();
  for (const one of [signal, ctx.ending]) {
    if (one?.aborted === true) either.abort(one.reason);
    one?.addEventListener("abort", () => either.abort(one.reason), { signal: either.signal });
  }
  const fileKey = url.startsWith(OWN_SCHEME) ? url.slice(OWN_SCHEME.length) : null;
  try {
    const order = { ownerId, postId, fileKey, facts, form };
    return await convertedFilm(ctx, order, { item, signal: either.signal, dueAt, giveUpAt: until });
  } catch (error) {
    // The next process converts it: the end of this one is not held up by that.
    if (ctx.ending?.aborted === true) throw new EndsFirst();
    if (error instanceof AppError && error.kind === "invalid")
      throw new AppError("invalid", `${field}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    either.abort();
  }
}
