import { Check, MessageSquareText, Trash2 } from "lucide-preact";
import { Button } from "../../ui/button.tsx";
import type { Decision } from "./readiness.ts";

const BUTTONS = {
  approve: { kind: "main", Sign: Check, letter: "A" },
  changes: { kind: "plain", Sign: MessageSquareText, letter: "C" },
  discard: { kind: "quiet", Sign: Trash2, letter: "D" },
  stop: { kind: "danger", Sign: null, letter: null },
} as const;

interface DecideButtonsProps {
  readonly choices: readonly Decision[];
  readonly words: Readonly<Record<Decision, string>>;
  readonly isBusy?: boolean;
  readonly isSmall?: boolean;
  /** The letters decide, too. */
  readonly hasKeys?: boolean;
  decide(what: Decision): void;
}

export function DecideButtons({ choices, words, hasKeys = false, decide, ...look }: DecideButtonsProps) {
  return choices.map((what) => {
    const { kind, Sign, letter } = BUTTONS[what];
    const key = hasKeys ? letter : null;
    const keys = key === null ? {} : { "aria-keyshortcuts": key.toLowerCase() };
    return (
      <Button key={what} id={`ask-${what}`} kind={kind} {...look} {...keys} onClick={() => decide(what)}>
        {Sign !== null && <Sign aria-hidden="true" />}
        {words[what]}
        {key !== null && <Key letter={key} />}
      </Button>
    );
  });
}

export function Key({ letter }: { readonly letter: string }) {
  return (
    <kbd class="review-key" aria-hidden="true">
      {letter}
    </kbd>
  );
}
