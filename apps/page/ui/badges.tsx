import { DRAFT_STATES, OUTCOMES, type DraftState, type Outcome } from "../../shared/drafts.ts";
import { STATUSES, type Status } from "../../shared/statuses.ts";

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

export function StatusBadge({ status }: { readonly status: Status }) {
  return <Badge tint={status} {...STATUSES[status]} />;
}

export function DraftBadge({ state }: { readonly state: DraftState }) {
  return <Badge tint={state} {...DRAFT_STATES[state]} />;
}

export function OutcomeBadge({ outcome }: { readonly outcome: Outcome }) {
  const { status, label, sign } = OUTCOMES[outcome];
  return <Badge tint={status} label={label} sign={sign} />;
}
