import { DRAFT_STATES, type DraftState } from "../shared/drafts.ts";
import { now } from "../shared/clock.ts";
import { isLate, standingOf, type Status } from "../shared/statuses.ts";
import { nearTime } from "../page/data/when.ts";
import { nextTryOf } from "../page/post/post-facts.ts";
import { Badge } from "./badge.tsx";

interface StatusBadgeProps {
  readonly post: { readonly status: Status; readonly error: string | null };
  readonly scheduledAt: number;
}

export function StatusBadge({ post, scheduledAt }: StatusBadgeProps) {
  const dated = { ...post, scheduledAt };
  const { label, sign } = standingOf(dated, now());
  const next = isLate(dated, now()) ? nextTryOf(post) : null;
  return (
    <Badge
      tint={post.status}
      sign={sign}
      label={next === null ? label : `${label}, next try ${nearTime(next)}`}
    />
  );
}

export function DraftBadge({ state }: { readonly state: DraftState }) {
  return <Badge tint={state} {...DRAFT_STATES[state]} />;
}
