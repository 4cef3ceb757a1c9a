import { createHash } from "node:crypto";
import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { EndedPost } from "../engine/claims.ts";
import { RESTORED_STEP } from "../engine/ledger.ts";
import { change, rowOf, rowsOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

/*
 * A post that was being worked on when its process ended may be what ended it: a film that takes all memory,
 * say. One of many is no culprit yet, so it becomes a suspect, which publishers take up alone
 * (src/publisher/probation.ts). What a person or the machine ends in the middle of a post looks the same from
 * here. So ends count that the post met alone and in one place, nothing written in between; and before the
 * one that counts for the last time, the process must have lived for some seconds without the post: one that
 * is ended again and again by something else never comes that far.
 */

/**
 * Lone ends by which a post is given up whose media is being read, and any other: text, or a request that is
 * on its way, hardly ends a process.
 */
const ENDS_READING_MEDIA = 2;
const OTHER_ENDS = 4;
/** However far it comes in between, and in whatever company it was before. */
const MAX_ENDS = 12;

/** One more end, and it is given up; said of the post `p`. */
export const ON_ITS_LAST = `(p.ends >= ${MAX_ENDS - 1}
  OR p.lone_ends >= ${OTHER_ENDS - 1}
  OR p.lone_ends >= ${ENDS_READING_MEDIA - 1} AND p.is_light = 0 AND NOT EXISTS (
    SELECT 1 FROM effects e WHERE e.post_id = p.id AND e.run = p.run AND e.state = 'intent'))`;

export interface EndNote {
  /** The process worked on nothing else. */
  readonly isAlone: boolean;
  readonly now: number;
  readonly why: (post: EndedPost) => string;
}

interface EndedRow extends Omit<EndedPost, "ends"> {
  readonly status: string;
  readonly run: number;
  readonly is_light: number;
  readonly ends: number;
  readonly lone_ends: number;
  readonly ends_at_step: string | null;
  readonly warnings: string | null;
}

const READ = `
  SELECT p.id, p.status, p.run, p.is_light, p.ends, p.lone_ends, p.ends_at_step, p.in_doubt, p.warnings, a.name AS account_name,
    a.profile_url AS account_url
  FROM posts p JOIN accounts a ON a.id = p.account_id WHERE p.id = ?`;

/** What follows a post that is live is given up; the post stays published. */
const GIVE_UP_FOLLOW_UPS = `
  UPDATE posts SET tries = 0, next_at = NULL, ends = 0, lone_ends = 0, ends_at_step = NULL, updated_at = ?, warnings = ?
  WHERE id = ?`;

const COUNT = "UPDATE posts SET ends = ?, lone_ends = ?, ends_at_step = ? WHERE id = ?";

const END_ATTEMPT = `
  UPDATE attempts SET finished_at = ?, outcome = ?, error = ? WHERE outcome = 'running' AND post_id = ?`;

const GIVE_UP = `
  UPDATE posts SET status = '${TRANSITIONS.fail.to}', error = ?, in_doubt = ?, tries = 0, next_at = NULL,
    ends = 0, lone_ends = 0, ends_at_step = NULL, updated_at = ?
  WHERE id = ?`;

/** Counts an attempt that ended with its process. True where that was once too often: the post has failed. */
export async function noteEnd(tx: Tx, id: string, { isAlone, now, why }: EndNote): Promise<boolean> {
  const post = await rowOf<EndedRow>(tx, READ, [id]);
  // Others are held by a call, which works on them for a moment.
  const isLive = post?.status === "published";
  if (post === undefined || !(isLive || TRANSITIONS.fail.from.some((status) => status === post.status)))
    return false;
  const ends = post.ends + 1;
  const effects = await readEffects(tx, post);
  const place = digest(post.status, effects);
  const isReadingMedia = post.is_light === 0 && !effects.some(({ state }) => state === "intent");
  const limit = isReadingMedia ? ENDS_READING_MEDIA : OTHER_ENDS;
  const before = place === post.ends_at_step ? post.lone_ends : 0;
  const loneEnds = before + (isAlone ? 1 : 0);
  const isStuck = loneEnds >= limit;
  if (!isAlone || !(isStuck || ends >= MAX_ENDS)) {
    await change(tx, COUNT, [ends, loneEnds, place, id]);
    return false;
  }
  if (isLive) {
    const warnings = [...(JSON.parse(post.warnings ?? "[]") as string[]), FOLLOW_UPS_GIVEN_UP];
    await change(tx, GIVE_UP_FOLLOW_UPS, [now, JSON.stringify(warnings), id]);
    return true;
  }
  // What is on the platform already may go live there by itself.
  const isInDoubt = post.in_doubt === 1 || post.status === "uploaded" || effects.some(isOpen);
  const error = why({ ...post, ends: isStuck ? loneEnds : ends, in_doubt: isInDoubt ? 1 : 0 });
  await change(tx, END_ATTEMPT, [now, isInDoubt ? "unknown" : "failed", error, id]);
  await change(tx, GIVE_UP, [error, isInDoubt ? 1 : 0, now, id]);
  return true;
}

const FOLLOW_UPS_GIVEN_UP =
  "What follows the post did not go through: each time it was tried, the process ended that worked on it.";

interface EffectState {
  readonly step: string;
  readonly state: string;
  readonly handle_enc: string | null;
}

function readEffects(reader: Reader, { id, run }: EndedRow): Promise<EffectState[]> {
  return rowsOf(reader, EFFECTS, [id, run]);
}

const EFFECTS = "SELECT step, state, handle_enc FROM effects WHERE post_id = ? AND run = ? ORDER BY step";

function isOpen({ step, state }: EffectState): boolean {
  return step === RESTORED_STEP || state === "intent" || state === "unknown";
}

/** Changes with every step that is begun or ends, and with what is noted beside one: an upload's offset. */
function digest(status: string, effects: readonly EffectState[]): string {
  const lines = effects.map(({ step, state, handle_enc: handle }) => `${step} ${state} ${handle ?? ""}`);
  return createHash("sha256")
    .update([status, ...lines].join("\n"))
    .digest("base64url");
}
