import { toldState } from "../domain/accounts/account.ts";
import { isPublisherRunning } from "../publishing/at-work.ts";
import { ended, join, type Said, say, sentencesIn, withSteps } from "../domain/sentences.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import type { PostStatus } from "../domain/posts/post-states.ts";
import { deadline, SECOND } from "../domain/time.ts";
import type { CallContext } from "../context.ts";
import { plainText } from "../domain/text/plain-text.ts";
import type { PostsChange } from "../domain/posts/post-body.ts";
import { namesOfAccounts } from "../channels/accounts/accounts.ts";
import { firstWords } from "../channels/accounts/late-posts.ts";
import { listLatePosts, listPosts } from "./list-posts.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { findPosts, toPost } from "../store/queries/posts.ts";
import { listWaits } from "../store/queries/publishing/waiting-posts.ts";
import { AT_ONCE, NO_TIME_GIVEN } from "./warnings.ts";
import { isHeldByPerson, withWaits } from "./waits.ts";

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
  { status, scheduledAt }: Pick<SaidPost, "status" | "scheduledAt">,
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
): Promise<SaidPost[]> {
  const over = deadline(ms, signal, ...(ctx.ending === undefined ? [] : [ctx.ending]));
  const isPublished = await isPublisherRunning(ctx);
  for (let sleepMs = FIRST_LOOK_MS; ; sleepMs = Math.min(2 * sleepMs, LOOK_EVERY_MS)) {
    const rows = await findPosts(ctx.store, caller.ownerId, ids);
    const pending = rows.filter(({ status }) => !OVER.includes(status));
    if (!isPublished || over.aborted || (await areHeld(ctx, pending)))
      return (await withWaits(ctx, rows)).map(toPost);
    await ctx.clock.sleep(sleepMs, over).catch(() => {});
  }
}

/** Whether none of these goes out before a person resumes its channel, or reconnects it. */
async function areHeld({ store }: CallContext["ctx"], pending: readonly PostRow[]): Promise<boolean> {
  if (pending.length === 0) return true;
  if (pending.some(({ status }) => status !== "scheduled")) return false;
  const waits = await listWaits(
    store,
    pending.map(({ id }) => id),
  );
  return waits.length === pending.length && waits.every(isHeldByPerson);
}

/**
 * What is said of posts that are still on their way, or are held up until a person does something, after what was
 * `said`: planning has told of a channel that is paused, or must be reconnected, and of the way on.
 */
export async function warnOfWait(
  { ctx }: Pick<CallContext, "ctx">,
  posts: readonly Pick<SaidPost, "id" | "status" | "error">[],
  said: readonly Said[] = [],
): Promise<Said[]> {
  const pending = posts.filter(({ status }) => !OVER.includes(status)).map(({ id }) => id);
  const waits = pending.length === 0 ? [] : await listWaits(ctx.store, pending);
  const isHeld = new Set(waits.filter(isHeldByPerson).map(({ id }) => id));
  const waiting = posts.filter(({ status, error }) => !OVER.includes(status) && error !== null);
  const reasons = waiting.flatMap(({ id, status, error }) =>
    error === null ? [] : isHeld.has(id) ? [error] : [describeNotOut({ id, status }, error)],
  );
  const fresh = new Map(reasons.map((one) => [String(one), one]));
  const isNew = (one: string): boolean => !said.some((known) => String(known).startsWith(one));
  const told = new Set([...isHeld, ...waiting.map(({ id }) => id)]);
  return [
    ...withoutOldWaits(said, posts),
    ...posts.filter(({ status }) => status === "failed").map(describeFailed),
    ...[...fresh].flatMap(([text, one]) => (isNew(text) ? [one] : [])),
    ...describeOnTheirWay(pending.filter((id) => !told.has(id))),
  ];
}

/** Without until when posts had to wait before they were sent: of those that still do, it is told anew. */
export function withoutOldWaits<T extends Said>(
  said: readonly T[],
  posts: readonly Pick<SaidPost, "status" | "error">[],
): T[] {
  const isOld = posts.some(({ status, error }) => OVER.includes(status) || error !== null);
  return said.filter((one) => !isOld || toldState(String(one)) !== "waits");
}

/** The answer is else one of success, and a second post in its place would make two, should the first be sent again. */
function describeFailed({ id, error }: Pick<SaidPost, "id" | "error">): Said {
  const steps = error === null ? [] : sentencesIn(error).flatMap(({ next }) => next);
  // Where its outcome is unknown, its error says what comes first.
  const isUnknown = steps.some((step) => step.do === "settle");
  const is = isUnknown ? "It is not known whether the post is out." : "The post did not go out.";
  return say(`${is} Its error says why. It is kept: schedule no second one in its place.`, {
    next: isUnknown ? [{ do: "settle", postId: id }] : [{ do: "retry", postId: id, changed: true }],
  });
}

/** Why a post waits, which is not on its way then. */
function describeNotOut({ id, status }: Pick<SaidPost, "id" | "status">, error: Said): Said {
  const is = status === "publishing" ? "The post is under way." : "The post is not out yet.";
  return withSteps(join(is, ended(error)), { do: "look_later", postId: id });
}

function describeOnTheirWay(ids: readonly string[]): Said[] {
  const [first, ...more] = ids;
  if (first === undefined) return [];
  return more.length === 0
    ? [say("The post is still on its way.", { next: [{ do: "look", postId: first }] })]
    : [say("These posts are still on their way.", { next: [{ do: "look_at_each", postIds: ids }] })];
}

const MAX_NAMED = 3;
const MAX_NAME = 100;
const MAX_FOUND = 100;

/**
 * Who moves or cancels the posts of a time is told of those that no change reaches: they are under way, or on the
 * platform until their time.
 */
export async function describeUnchanged(
  call: CallContext,
  { ids, accountId, label, from, to }: PostsChange,
): Promise<Said[]> {
  if (ids !== undefined) return [];
  const filter = { accountId, label, from, to, status: ["publishing" as const, "uploaded" as const] };
  const { posts } = await listPosts(call, { ...filter, limit: MAX_FOUND });
  const late = await listLatePosts(call, filter);
  const found = [...new Map([...late, ...posts].map((post) => [post.id, post])).values()];
  if (found.length === 0) return [];
  const names = await namesOfAccounts(call);
  const named = found.slice(0, MAX_NAMED).map(({ id, accountId: account, status, caption, mediaUrl }) => {
    const where = status === "uploaded" ? ", which is on the platform until its time" : "";
    const words = firstWords({ caption, media_url: mediaUrl });
    return `${words} on ${plainText(names.get(account) ?? account, MAX_NAME)} (${id})${where}`;
  });
  const more = found.length > MAX_NAMED ? `; and ${found.length - MAX_NAMED} more` : "";
  const which = found.length === 1 ? "1 post is" : `${found.length} posts are`;
  const look = { do: "look", postId: found[0]?.id ?? null } as const;
  return [
    say(
      `${which} under way and not changed by this, and may go out, or be out already: ${named.join("; ")}${more}.`,
      { next: [found.length === 1 ? look : { do: "see_each" }] },
    ),
  ];
}

/** Once it is stored it is too late for a time, and this answer comes before the outcome. */
export function onceSent(warning: Said): Said {
  if (!String(warning).startsWith(NO_TIME_GIVEN)) return warning;
  return say(`${AT_ONCE}. What became of it is not known yet.`, {
    next: [{ do: "look", postId: null }, { do: "stop_if_not_meant" }],
  });
}

/** The answer about one post, once that is out where it is due now. */
export async function awaitPost<
  T extends {
    readonly post: SaidPost;
    readonly warnings?: Said[] | undefined;
    readonly dryRun?: true | undefined;
  },
>(answer: T, call: CallContext, waiting: Waiting): Promise<T> {
  if (answer.dryRun === true || !isDueNow(call, answer.post)) return answer;
  const [post = answer.post] = await untilOut(call, [answer.post.id], waiting);
  const warnings = await warnOfWait(call, [post], answer.warnings);
  return { ...answer, post, ...(answer.warnings === undefined && warnings.length === 0 ? {} : { warnings }) };
}
