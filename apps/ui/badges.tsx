import { DRAFT_STATES, type DraftState } from "../shared/drafts.ts";
import { now } from "../shared/clock.ts";
import { isLate, standingOf, type Status, nextTryOf } from "../shared/statuses.ts";
import { nearTime } from "../shared/when.ts";

/** A state has a shape beside its colour, for those who do not see the colour. */
export function Badge({
  tint,
  sign,
  label,
}: {
  readonly tint: string;
  readonly sign: string;
  readonly label: string;
}) {
  return (
    <span class={`badge ${tint}`}>
      <span aria-hidden="true">{sign}</span>
      {label}
    </span>
  );
}

interface StatusBadgeProps {
  readonly post: { readonly status: Status; readonly error: string | null };
  readonly scheduledAt: number;
  /** Its channel. */
  readonly isPaused?: boolean;
}

export function StatusBadge({ post, scheduledAt, isPaused = false }: StatusBadgeProps) {
  const dated = { ...post, scheduledAt };
  const { label, sign, look } = standingOf(dated, now(), isPaused);
  const next = isLate(dated, now()) ? nextTryOf(post) : null;
  const isAhead = next !== null && next > now();
  return <Badge tint={look} sign={sign} label={isAhead ? `${label}, next try ${nearTime(next)}` : label} />;
}

export function DraftBadge({ state }: { readonly state: DraftState }) {
  return <Badge tint={state} {...DRAFT_STATES[state]} />;
}
