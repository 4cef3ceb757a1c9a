import { Check, MessageSquareText, Trash2 } from "lucide-preact";
import type { ComponentChildren } from "preact";
import type { Draft } from "../../shared/drafts.ts";
import { Button } from "../../ui/button.tsx";
import { isUndecided } from "./readiness.ts";

/** What a person may decide. */
export type Decision = "approve" | "changes" | "discard" | "stop";

const BUTTONS = {
  approve: { kind: "main", Sign: Check, letter: "A" },
  changes: { kind: "plain", Sign: MessageSquareText, letter: "C" },
  discard: { kind: "quiet", Sign: Trash2, letter: "D" },
  stop: { kind: "danger", Sign: null, letter: null },
} as const;

interface DecideBarProps {
  readonly draft: Draft;
  /** What is said before the buttons. */
  readonly children: ComponentChildren;
  /** What the decisions are called here. Left out: it cannot be approved as it is. */
  readonly words: Readonly<Record<Exclude<Decision, "approve">, string>> & { readonly approve?: string };
  readonly isBusy?: boolean;
  readonly isSmall?: boolean;
  /** The letters decide, too. */
  readonly hasKeys?: boolean;
  /** Behind the decisions. */
  readonly more?: ComponentChildren;
  decide(what: Decision): void;
}

/** What a person may do about a draft. */
export function DecideBar({
  draft,
  children,
  words,
  hasKeys = false,
  more,
  decide,
  ...look
}: DecideBarProps) {
  const choices = isUndecided(draft)
    ? (["approve", "changes", "discard"] as const)
    : draft.state === "repeating"
      ? (["stop"] as const)
      : [];
  return (
    <div class="decide-row">
      {children}
      <div class="buttons">
        {choices.map((what) => {
          const { kind, Sign, letter } = BUTTONS[what];
          if (words[what] === undefined) return null;
          const keys = hasKeys && letter !== null ? { "aria-keyshortcuts": letter.toLowerCase() } : {};
          return (
            <Button
              key={what}
              id={`ask-${what}`}
              kind={kind}
              {...look}
              {...keys}
              onClick={() => decide(what)}
            >
              {Sign !== null && <Sign aria-hidden="true" />}
              {words[what]}
              {hasKeys && letter !== null && <Key letter={letter} />}
            </Button>
          );
        })}
        {more}
      </div>
    </div>
  );
}

export function Key({ letter }: { readonly letter: string }) {
  return (
    <kbd class="review-key" aria-hidden="true">
      {letter}
    </kbd>
  );
}
