import { isPublisherRunning } from "../health/status.ts";
import type { Post } from "../domain/posts/post.ts";
import type { PostStatus } from "../domain/posts/post-states.ts";
import { deadline, SECOND } from "../domain/time.ts";
import type { CallContext } from "../context.ts";
import { findPosts, toPost } from "../store/queries/posts.ts";
import { withWaits } from "./waits.ts";

/** For how long a call waits for what it sent, and what ends that sooner: its client has gone. */
export interface Waiting {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** So long a model and a person wait for an answer. */
export const USUAL_WAIT_MS = 8 * SECOND;

const OVER: readonly PostStatus[] = ["published", "failed", "cancelled"];

const FIRST_LOOK_MS = 50;
const LOOK_EVERY_MS = SECOND / 2;

/** Whether this is sent now: its time has come, and it is not out yet. */
export function isDueNow(
  { ctx }: Pick<CallContext, "ctx">,
  { status, scheduledAt }: Pick<Post, "status" | "scheduledAt">,
): boolean {
  return !OVER.includes(status) && Date.parse(scheduledAt) <= ctx.clock.now();
}

/**
 * The posts as they are once all are out or have failed, the time is over, or the process shall end. Nothing is held
 * meanwhile: they are looked up again and again. Where nothing publishes, there is nothing to wait for.
 */
export async function untilOut(
  { ctx, caller }: Pick<CallContext, "ctx" | "caller">,
  ids: readonly string[],
  { ms, signal }: Waiting,
): Promise<Post[]> {
  const over = deadline(ms, signal, ...(ctx.ending === undefined ? [] : [ctx.ending]));
  const isPublished = await isPublisherRunning(ctx);
  for (let sleepMs = FIRST_LOOK_MS; ; sleepMs = Math.min(2 * sleepMs, LOOK_EVERY_MS)) {
    const rows = await findPosts(ctx.store, caller.ownerId, ids);
    if (!isPublished || over.aborted || rows.every(({ status }) => OVER.includes(status)))
      return (await withWaits(ctx, rows)).map(toPost);
    await ctx.clock.sleep(sleepMs, over).catch(() => {});
  }
}

/** What is said of posts that are still on their way; nothing where none is. */
export function warnOfWait(posts: readonly Pick<Post, "id" | "status">[]): string[] {
  const ids = posts.filter(({ status }) => !OVER.includes(status)).map(({ id }) => id);
  const [first, ...more] = ids;
  if (first === undefined) return [];
  return more.length === 0
    ? [`The post ${first} is still on its way. Call get_post in a moment to see what became of it.`]
    : [
        `The posts ${ids.join(", ")} are still on their way. Call get_post for each in a moment to see what became of them.`,
      ];
}

/** The answer about one post, once that is out where it is due now. */
export async function awaitPost<
  T extends {
    readonly post: Post;
    readonly warnings?: string[] | undefined;
    readonly dryRun?: true | undefined;
  },
>(answer: T, call: CallContext, waiting: Waiting): Promise<T> {
  if (answer.dryRun === true || !isDueNow(call, answer.post)) return answer;
  const [post = answer.post] = await untilOut(call, [answer.post.id], waiting);
  const told = warnOfWait([post]);
  const warnings = [...(answer.warnings ?? []), ...told];
  return { ...answer, post, ...(answer.warnings === undefined && told.length === 0 ? {} : { warnings }) };
}
