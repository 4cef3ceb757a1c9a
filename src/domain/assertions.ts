/*
 * What "never twice, never lost, never early, nothing unapproved" rests on. It holds by how the rest is written, and is
 * looked at again where a mistake would break it first: before the write, and after the read. Also in production. What
 * fails is not done; everything else goes on.
 */

/** What was amiss where one fails, behind "A check of Posthorn's own stopped this:". */
export const ASSERTIONS = {
  claim_due: "the post was taken up before its time.",
  claim_channel: "the post was taken up while its channel is busy, or is to send nothing.",
  claim_open: "a post was taken up that is over, or that another process works on.",
  claim_fence: "steps of the post are of a later claim than this one.",
  ledger_own: "steps of another post, or of an earlier run, were taken for this one's.",
  ledger_readable: "the result of a step cannot be read.",
  send_due: "a step was to be sent before its time.",
  send_begun: "a step was to be sent of a post that is not on its way.",
  send_unanswered: "a step was to be sent that has been answered.",
  send_noted: "a step was to be sent that was not written down.",
  answer_awaited: "an answer came for a step that has been answered, or that was not sent.",
  follow_up_live: "something was to follow the post before it was live.",
  status_waiting: "the post waits, but is not looked at again, is in doubt, or counts as live.",
  status_published: "the post is published, but since when is not known.",
  status_failed: "the post failed without a reason, or would be tried again.",
  status_cancelled: "the post is cancelled, but would go out.",
  error_readable: "the reason that is stored with the post cannot be read.",
  approval_revision: "the posts are not of the revision that a person approved. Look at the draft again.",
  approval_given: "a series goes on that no person approved. Stop it.",
  slot_single: "two posts were to have one slot. Try again.",
} as const;
export type AssertionName = keyof typeof ASSERTIONS;

/** How often each failed in this process. */
export const failures = Object.fromEntries(Object.keys(ASSERTIONS).map((name) => [name, 0])) as Record<
  AssertionName,
  number
>;
/** `id`: the post's, or the draft's. Null: not known where it failed. */
type Listener = (name: AssertionName, id: string | null) => void;
const listeners = new Set<Listener>();

/** Where it does not hold: counts it, and tells the logs. */
export function holds(name: AssertionName, condition: boolean, id: string | null): boolean {
  if (condition) return true;
  failures[name] += 1;
  for (const tell of listeners) tell(name, id);
  return false;
}

/** Returns what ends that. */
export function onFailure(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
