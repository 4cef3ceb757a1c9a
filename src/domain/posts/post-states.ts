import { assert } from "../errors.ts";
import { type Message, type NextStep, say } from "../sentences.ts";
import { withFullStop } from "../text/plain-text.ts";
import { formatTime, describeTry } from "../time.ts";

export const POST_STATUSES = [
  "scheduled",
  "publishing",
  "uploaded",
  "published",
  "failed",
  "cancelled",
] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

/** It may go out still. */
export function isPending(status: PostStatus): boolean {
  return status === "scheduled" || status === "publishing" || status === "uploaded";
}

/** Every move of a post. Others are a conflict. `to: null` keeps the state. The docs print it. */
export const TRANSITIONS = {
  edit: { from: ["scheduled"], to: null },
  cancel: { from: ["scheduled"], to: "cancelled" },
  /** The publisher takes the post and holds its lease. */
  claim: { from: ["scheduled"], to: "publishing" },
  /** Nothing of it is public and nothing is in doubt: it waits again. */
  release: { from: ["publishing"], to: "scheduled" },
  uploaded: { from: ["publishing"], to: "uploaded" },
  published: { from: ["publishing", "uploaded"], to: "published" },
  fail: { from: ["publishing", "uploaded"], to: "failed" },
  /** Its time passed while nothing ran, or its channel was paused or gone: it fails without having been tried. */
  miss: { from: ["scheduled"], to: "failed" },
  retry: { from: ["failed"], to: "scheduled" },
  /** A person, or the platform when asked, reconciles an unknown outcome, also of one that was dismissed. */
  confirm: { from: ["failed", "cancelled"], to: "published" },
  deny: { from: ["failed", "cancelled"], to: null },
  /** A person puts a failed post away: it is never sent again. */
  dismiss: { from: ["failed"], to: "cancelled" },
  /** The same where its outcome is unknown, and its channel does not let its platform be asked. */
  give_up: { from: ["publishing", "uploaded"], to: "cancelled" },
  /** Deleted on the platform, before or after it went live. */
  take_down: { from: ["uploaded", "published"], to: "cancelled" },
  edit_live: { from: ["published"], to: null },
  set_thumbnail: { from: ["uploaded", "published"], to: null },
} as const satisfies Record<string, { from: readonly PostStatus[]; to: PostStatus | null }>;

export type Trigger = keyof typeof TRANSITIONS;

/** What tells where a post stands; times are milliseconds. */
interface PostStanding {
  readonly status: PostStatus;
  readonly published_at: number | null;
  readonly updated_at: number;
  /** The publisher that works on it. Null: none does. */
  readonly lease_worker?: string | null;
  readonly in_doubt?: number;
  /** As they are kept. */
  readonly warnings?: string | null;
  readonly next_at?: number | null;
  /** How often it was tried in vain. */
  readonly tries?: number;
  /** What keeps its channel from trying it. Default: nothing does. */
  readonly held?: HeldChannel | null;
  /** Times are told as they are then, in that zone. Default: 0, UTC. */
  readonly now?: number;
  readonly timezone?: string;
}

/** Status and columns agree: before such a row is written, and after it was read to be worked on. */
export function assertAgrees(
  post: Required<Pick<PostStanding, "status" | "published_at" | "next_at" | "in_doubt">> & {
    readonly id: string;
    readonly error: string | null;
  },
): void {
  const { id, status, next_at: next, error } = post;
  const isUnseen = post.published_at === null;
  const isSure = status !== "scheduled" || post.in_doubt === 0;
  const waits = isUnseen && isSure && (next !== null || status === "uploaded");
  assert("status_waiting", !isPending(status) || waits, id);
  assert("status_published", status !== "published" || !isUnseen, id);
  assert("status_failed", status !== "failed" || (next === null && (error ?? "") !== ""), id);
  assert("status_cancelled", status !== "cancelled" || next === null, id);
}

/** A channel that tries nothing before a person acts. */
export interface HeldChannel {
  /** In a sentence. */
  readonly why: string;
  /** How it is connected again. Null: it need not be. */
  readonly reconnect: Extract<NextStep, { do: "reconnect" }> | null;
}

/**
 * Whether a person may say what became of a post: its outcome is unknown, and no publisher finds it out by itself.
 */
export function canReconcile(post: PostStanding): boolean {
  if (post.in_doubt !== 1) return false;
  return isUnknown(post) || (betweenTries(post) !== null && (post.held ?? null) !== null);
}

/** Whether it is not known if it is out, and nothing finds it out by itself. A person may have put it away. */
export function isUnknown({ status, in_doubt: inDoubt }: Pick<PostStanding, "status" | "in_doubt">): boolean {
  return inDoubt === 1 && (status === "failed" || status === "cancelled");
}

/**
 * What a caller is told when a move does not fit the state; ends with the next step. Who repeats a call whose answer
 * was lost learns that it is done: any other step would undo it. `isChanged`: the call brings what the post does not
 * say, so it is not done.
 */
export function conflictSentence(
  trigger: Trigger,
  post: PostStanding & { readonly id?: string },
  isChanged = false,
): Message {
  const { status } = post;
  const between = betweenTries(post);
  if (!isChanged && DONE_IN[trigger]?.includes(status) === true) {
    if (between !== null)
      return say(`The post is publishing still. ${between.what}`, { next: between.next(post.id ?? null) });
    if (isUnknown(post))
      return say(MAY_BE_OUT, { next: [{ do: "settle", postId: post.id ?? null, of: "presence" }] });
    return say(`The post is ${status} already${takenDown(post)}. Nothing is to be done.`);
  }
  const wanted = TRANSITIONS[trigger].from.join(" or ");
  const is = `The post is ${status}${takenDown(post)}, but this needs a post that is ${wanted}.`;
  const { what, next } = between ?? (isUnknown(post) ? UNKNOWN : NEXT_STEPS[status]);
  return say([is, nextTry(post), what].flatMap((part) => part ?? []).join(" "), {
    next: next(post.id ?? null),
  });
}

/** Of one that was tried in vain. */
function nextTry(post: PostStanding): string | null {
  const { status, tries = 0, next_at: next, held = null, now = 0 } = post;
  if (status !== "scheduled" || tries === 0 || typeof next !== "number" || next <= now) return null;
  return held === null ? `It waits for its next try on ${describeNext(post, next)}.` : held.why;
}

function describeNext({ now = 0, timezone = "UTC" }: PostStanding, next: number): string {
  return describeTry(next, { now, timezone });
}

/** Of a post that was begun and that no publisher works on now. Null: it is no such post. */
function betweenTries(post: PostStanding): Required<WayOn> | null {
  const { status, lease_worker: worker, in_doubt: inDoubt = 0, held = null } = post;
  const isBegun = status === "publishing" || (status === "uploaded" && inDoubt === 1);
  if (!isBegun || worker !== null) return null;
  const state =
    inDoubt === 1
      ? "It was sent and the answer was lost, so it may be out already."
      : "It was begun, and is not done yet.";
  return held === null ? triedAgain(post, state) : heldBack(state, held, inDoubt === 1);
}

function triedAgain(post: PostStanding, state: string): Required<WayOn> {
  const { next_at: next, now = 0 } = post;
  const when = typeof next === "number" && next > now ? `on ${describeNext(post, next)}` : "soon";
  return {
    what: `${state} It is looked at again ${when}, or later where its channel is paused, and can be neither changed nor stopped before.`,
    next: (postId) => [{ do: "look_later", postId }, { do: "pause" }],
  };
}

/** Only a person looks at it before its channel may be used again. */
function heldBack(state: string, { why, reconnect }: HeldChannel, isInDoubt: boolean): Required<WayOn> {
  const settled = isInDoubt ? " Who has looked at the channel can settle it now." : "";
  return {
    what: `${state} ${withFullStop(why)} Once that is done, it is looked at again, and it can be neither changed nor stopped before.${settled}`,
    next: (postId) => [
      ...(reconnect === null ? [] : [reconnect]),
      ...(isInDoubt ? [{ do: "settle" as const, postId }] : []),
    ],
  };
}

/** A post that was live and is cancelled is not one that never went out. */
export function isTakenDown({ status, published_at: at }: PostStanding): boolean {
  return status === "cancelled" && at !== null;
}

/** Of one that a person had removed from its platform before it was to be deleted there: the post keeps it. */
export function foundGone(title: string): string {
  return `${FOUND_GONE}${title} any more: it had been removed there already.`;
}

const FOUND_GONE = "It was not on ";

/** Whether it was, which the first of its warnings says. */
export function wasGone({ warnings = null }: Pick<PostStanding, "warnings">): boolean {
  return warnings?.startsWith(`["${FOUND_GONE}`) === true;
}

/** One that had failed and that a person dismissed: its error stays, and asks for what is not to be done any more. */
export function isDismissed({
  status,
  published_at: at,
  platform_post_id: onPlatform,
  in_doubt: inDoubt,
  error,
}: Pick<PostStanding, "status" | "published_at" | "in_doubt"> & {
  readonly platform_post_id: string | null;
  readonly error: unknown;
}): boolean {
  return status === "cancelled" && at === null && (onPlatform === null || inDoubt === 1) && error !== null;
}

/** Said of one that was dismissed though it may be live. */
export const MAY_BE_OUT =
  "It was dismissed, and it is not known whether it is out: it may be live. Look at its channel.";

/** Said of it. */
export const DISMISSED = "It had failed and was dismissed: nothing that its error asks for is to be done.";

function takenDown(post: PostStanding): string {
  if (!isTakenDown(post)) return "";
  const how = wasGone(post) ? "found removed from its platform already" : "taken down";
  return ` (${how} on ${formatTime(post.updated_at, post.timezone ?? "UTC")})`;
}

/** In these states it is done already. */
const DONE_IN: Partial<Record<Trigger, readonly PostStatus[]>> = {
  cancel: ["cancelled"],
  take_down: ["cancelled"],
  dismiss: ["cancelled"],
  give_up: ["cancelled"],
  retry: ["scheduled", "publishing", "uploaded", "published"],
};

interface WayOn {
  readonly what?: string;
  readonly next: (postId: string | null) => readonly NextStep[];
}

const UNKNOWN: Required<WayOn> = {
  what: "It is not known whether it is out. Once a person has looked and it is settled, it can be sent again where it is not there, or taken down where it is.",
  next: (postId) => [{ do: "settle", postId }],
};

const NEXT_STEPS: Record<PostStatus, WayOn> = {
  scheduled: {
    next: (postId) => [
      { do: "edit", postId },
      { do: "cancel", postId },
    ],
  },
  publishing: { what: "It is being sent right now.", next: (postId) => [{ do: "look", postId }] },
  uploaded: {
    what: "It is already on the platform, private until its time.",
    next: (postId) => [{ do: "take_down", postId }],
  },
  published: {
    what: "It is live.",
    next: (postId) => [
      { do: "edit_live", postId },
      { do: "take_down", postId },
    ],
  },
  failed: {
    next: (postId) => [
      { do: "read", postId },
      { do: "retry", postId, changed: true },
      { do: "dismiss", postId },
    ],
  },
  cancelled: { what: "It goes out no more.", next: () => [{ do: "schedule" }] },
};
