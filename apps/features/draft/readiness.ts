import type { Draft } from "../../shared/drafts.ts";

/** What a person may decide. */
export type Decision = "approve" | "changes" | "discard" | "stop";

export function isUndecided({ state }: Draft): boolean {
  return state === "waiting" || state === "open";
}

/** Why it cannot be approved yet. Null: it can. */
export function obstacleOf({ targets }: Draft): string | null {
  if (targets.length === 0) return "It cannot be approved yet: it has no channel.";
  const refused = targets.filter(({ error }) => error !== null).length;
  if (refused === 0) return null;
  return `It cannot be approved yet: ${refused === 1 ? "1 channel says" : `${refused} channels say`} why.`;
}

/** Whether one of its times has gone by. A series only has times to come. */
export function isPast({ repeat, targets }: Draft, now: number): boolean {
  return repeat === null && targets.some(({ scheduledAt }) => scheduledAt !== null && scheduledAt <= now);
}

/** What can be decided about it. */
export function choicesFor(draft: Draft, mayApprove: boolean): readonly Decision[] {
  if (isUndecided(draft)) return mayApprove ? ["approve", "changes", "discard"] : ["changes", "discard"];
  return draft.state === "repeating" ? ["stop"] : [];
}
