import { AppError } from "../../domain/errors.ts";
import type { Post } from "../../domain/posts/post.ts";
import { SECOND } from "../../domain/time.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { LiveAt } from "../../ports/publish-io.ts";
import type { PostRow } from "../../store/engine/schema.ts";
import { holdPost, letGo, type HeldPost } from "../../store/publishing/settling.ts";
import { toPost, transition } from "../../store/tables/posts.ts";
import { Fenced } from "../../store/engine/ledger.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { AskAgain, NothingSent, OutcomeUnknown } from "./effect-errors.ts";
import { createPlatformIo } from "../platforms/platform-io.ts";
import { readStepResults } from "./step-results.ts";
import {
  createPublishRun,
  platformOf,
  toPlatformPost,
  type LeasedPost,
  type PublishRun,
} from "./publish-io.ts";

const ASK_TIMEOUT_MS = 30 * SECOND;

/**
 * Asks the platform about a failed post whose outcome is unknown. Returns the post when it turns out
 * published, null when it is proven absent and may be sent again; throws `conflict` while it stays unknown.
 */
export async function settleInDoubt(call: CallContext, row: PostRow): Promise<{ post: Post } | null> {
  const { ctx } = call;
  const claimed = await hold(ctx, row);
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
  try {
    const run = await createPublishRun(ctx, claimed, {
      signal,
      isSettleOnly: true,
      send: (step) => step(),
    });
    const found = await askWhere(run);
    if (found === null) throw new OutcomeUnknown("The platform has not finished with it.");
    await giveBack(ctx, claimed);
    const now = ctx.clock.now();
    const answer = await commitOnce(call, async (tx) => {
      const settled = await transition(tx, { ownerId: row.owner_id, id: row.id }, "confirm", {
        error: null,
        in_doubt: 0,
        platform_post_id: found.at.platformPostId,
        platform_url: found.at.platformUrl,
        published_at: now,
        // What follows a live post is still to be sent.
        next_at: found.isWhole ? null : now,
        updated_at: now,
      });
      return { post: toPost(settled) };
    });
    ctx.wakePublisher();
    return answer;
  } catch (error) {
    await giveBack(ctx, claimed);
    if (error instanceof NothingSent) return null;
    if (error instanceof AppError) throw error;
    if (isStillOpen(error)) throw new AppError("conflict", stillUnknownSentence(claimed), { cause: error });
    throw error;
  }
}

/** Where the post is; null where the platform is not done with it. Throws NothingSent where it never was. */
async function askWhere({
  publish,
  effects,
}: PublishRun): Promise<{ readonly at: LiveAt; readonly isWhole: boolean } | null> {
  try {
    const outcome = await publish();
    if (outcome.state === "live")
      return { at: outcome, isWhole: (effects.liveState()?.pending ?? []).length === 0 };
  } catch (error) {
    if (effects.liveState() === null) throw error;
  }
  const live = effects.liveState();
  return live === null ? null : { at: live.at, isWhole: false };
}

function isStillOpen(error: unknown): boolean {
  return (
    [OutcomeUnknown, AskAgain, PlatformFault, Fenced].some((kind) => error instanceof kind) ||
    (error instanceof Error && error.name === "TimeoutError")
  );
}

function stillUnknownSentence({ post, account }: LeasedPost): string {
  const where = account.profile_url ?? `the channel "${account.name}" on ${account.provider}`;
  return (
    `Whether this post went out is still unknown, so it is not sent again. Look at ${where}, then call resolve_post with id "${post.id}" and ` +
    `outcome "published" or "not_published".`
  );
}

/** Deletes an uploaded post on its platform and cancels it. Throws `conflict` where the platform cannot. */
export async function takeBack(call: CallContext, row: PostRow): Promise<{ post: Post }> {
  const { ctx } = call;
  const platform = platformOf(ctx, row.provider);
  if (platform.remove === undefined) {
    throw new AppError(
      "conflict",
      `${platform.title} offers no way to delete a post. Delete it there by hand.`,
    );
  }
  const claimed = await hold(ctx, row);
  try {
    const io = await createPlatformIo(ctx, claimed.account, AbortSignal.timeout(ASK_TIMEOUT_MS));
    const results = await readStepResults(ctx, row);
    const post = toPlatformPost(platform, row);
    const at = { ...io, ...results };
    // The platform may have published it a moment ago: what people have seen is not taken back unasked.
    if ((await platform.insights?.(post, at))?.state === "live") throw wentLive(platform.title);
    await platform.remove(post, at);
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    throw new AppError(
      "conflict",
      `It could not be taken back: ${error.message} Try again, or delete it on the platform.`,
      {
        cause: error,
      },
    );
  } finally {
    await giveBack(ctx, claimed);
  }
  const set = { next_at: null, error: null, updated_at: ctx.clock.now() };
  const answer = await commitOnce(call, async (tx) => {
    const cancelled = await transition(tx, { ownerId: row.owner_id, id: row.id }, "take_back", set);
    return { post: toPost(cancelled) };
  });
  await ctx.media.release(row.id);
  return answer;
}

function wentLive(title: string): AppError {
  return new AppError(
    "conflict",
    `It is live on ${title} already, so it was not deleted. Look again with get_post in a moment; delete it there if it is not wanted.`,
  );
}

/** Takes the post away from publishers while a caller's request works on it. */
async function hold(ctx: AppContext, row: PostRow): Promise<HeldPost> {
  const held = await ctx.store.write((tx) => holdPost(tx, row, ctx.workerId));
  if (held !== null) return held;
  throw new AppError(
    "conflict",
    "The post is being worked on right now. Look again with get_post in a moment.",
  );
}

function giveBack(ctx: AppContext, held: HeldPost): Promise<void> {
  return ctx.store.write((tx) => letGo(tx, held));
}
