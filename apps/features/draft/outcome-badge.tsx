import { type Draft, DRAFT_STATES, OUTCOMES } from "../../shared/drafts.ts";
import { Badge } from "../../ui/badges.tsx";

/** The draft's state, or what became of its posts: a word, a shape and a colour. */
export function standingOf({ state, outcome }: Draft): {
  readonly label: string;
  readonly sign: string;
  readonly tint: string;
} {
  if (outcome === null || state !== "scheduled") return { ...DRAFT_STATES[state], tint: state };
  const { label, sign, status } = OUTCOMES[outcome];
  return { label, sign, tint: status };
}

export function OutcomeBadge({ draft }: { readonly draft: Draft }) {
  return <Badge {...standingOf(draft)} />;
}
