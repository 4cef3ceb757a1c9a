import { channelInFull } from "../domain/accounts/channel-names.ts";
import { type Message, say } from "../domain/sentences.ts";
import { deadline } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { AppError } from "../domain/errors.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { LiveAt } from "../ports/publish-io.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Tx } from "../store/engine/store.ts";
import { type HeldPost, holdPost, letGo } from "../store/queries/publishing/held-posts.ts";
import { toPost, transition } from "../store/queries/posts.ts";
import { Fenced } from "../store/engine/ledger.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext } from "../context.ts";
import { AskAgain, NothingSent, OutcomeUnknown } from "./effect-steps.ts";
import { createPublishRun, type LeasedPost, type PublishRun } from "./publish-io.ts";

const ASK_TIMEOUT_MS = TIME_LIMITS.request;

/**
 * Asks the platform about a failed post whose outcome is unknown. Returns the post when it turns out
 * published, null when it is proven absent and may be sent again; throws `conflict` while it stays unknown.
 */
export async function reconcileInDoubt(call: CallContext, row: PostRow): Promise<{ post: SaidPost } | null> {
  const { ctx } = call;
  const claimed = await holdOrRefuse(ctx, row);
  const signal = deadline(ASK_TIMEOUT_MS);
  try {
    const run = await createPublishRun(ctx, claimed, { signal, isReconcileOnly: true });
    const found = await askWhere(run);
    if (found === null) throw new OutcomeUnknown("The platform has not finished with it.");
    await release(ctx, claimed);
    const now = ctx.clock.now();
    const answer = await commitOnce(call, async (tx) => {
      const confirmed = await transition(tx, { ownerId: row.owner_id, id: row.id }, "confirm", {
        error: null,
        in_doubt: 0,
        platform_post_id: found.at.platformPostId,
        platform_url: found.at.platformUrl,
        published_at: now,
        // What follows a live post is still to be sent.
        next_at: found.isWhole ? null : now,
        updated_at: now,
      });
      return { post: toPost(confirmed) };
    });
    ctx.wakePublisher();
    return answer;
  } catch (error) {
    await release(ctx, claimed);
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

function stillUnknownSentence({ post, account }: LeasedPost): Message {
  const where = account.profile_url ?? channelInFull(account);
  return say(`Whether this post went out is still unknown, so it is not sent again. Look at ${where}.`, {
    next: [{ do: "settle", postId: post.id }],
  });
}

/** Takes the post away from publishers while a caller's request works on it. */
export async function holdOrRefuse(
  ctx: AppContext,
  row: PostRow,
  take: (tx: Tx) => Promise<HeldPost | null> = (tx) => holdPost(tx, row, ctx.workerId),
): Promise<HeldPost> {
  const held = await ctx.store.write(take);
  if (held !== null) return held;
  throw isWorkedOn();
}

export function isWorkedOn(): AppError {
  return new AppError(
    "conflict",
    say("The post is being worked on right now.", { next: [{ do: "look", postId: null }] }),
  );
}

async function release(ctx: AppContext, held: HeldPost): Promise<void> {
  await ctx.store.write((tx) => letGo(tx, held));
}
