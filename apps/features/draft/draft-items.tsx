import { ChevronLeft, ChevronRight } from "lucide-preact";
import type { ComponentChildren } from "preact";
import type { Draft } from "../../shared/drafts.ts";
import { IconButton } from "../../ui/button.tsx";

interface DraftPagerProps {
  /** The place of the one that is shown, from 0. */
  readonly at: number;
  readonly count: number;
  readonly hasKeys?: boolean;
  go(to: number): void;
}

/** One draft after another. At an end its button stays, so that the focus stays on it. */
export function DraftPager({ at, count, hasKeys = false, go }: DraftPagerProps) {
  const step = (to: number, key: string): object => ({
    ...(hasKeys && { "aria-keyshortcuts": key }),
    ...(to < 0 || to >= count ? { "aria-disabled": true } : { onClick: () => go(to) }),
  });
  return (
    <>
      <IconButton isSmall label="Previous draft" {...step(at - 1, "k")}>
        <ChevronLeft aria-hidden="true" />
      </IconButton>
      <span>
        {at + 1} of {count}
      </span>
      <IconButton isSmall label="Next draft" {...step(at + 1, "j")}>
        <ChevronRight aria-hidden="true" />
      </IconButton>
    </>
  );
}

interface DraftItemsProps {
  readonly drafts: readonly Draft[];
  readonly selected: string | null;
  /** Below its title. */
  renderFacts(draft: Draft): ComponentChildren;
  go(id: string): void;
}

/** The drafts to review, as a list. */
export function DraftItems({ drafts, selected, renderFacts, go }: DraftItemsProps) {
  return (
    <ul class="review-list">
      {drafts.map((draft) => (
        <li key={draft.id}>
          <button
            type="button"
            aria-current={draft.id === selected ? "true" : undefined}
            onClick={() => go(draft.id)}
          >
            <span class="title" dir="auto">
              {draft.title}
            </span>{" "}
            {renderFacts(draft)}
          </button>
        </li>
      ))}
    </ul>
  );
}
