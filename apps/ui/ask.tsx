import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useWork } from "./use-work.ts";
import { Button } from "./button.tsx";
import { Sheet } from "./sheet.tsx";
import { Problem } from "./states.tsx";

interface AskProps {
  /** A question, as `Cancel this post?` */
  readonly question: string;
  /** What will happen. */
  readonly text: string;
  readonly yes: string;
  readonly no: string;
  readonly isDanger?: boolean;
  /** What a yes does. The question stays open, with the reason, where that is refused. */
  onYes(): Promise<unknown>;
  onClose(): void;
}

/** Before something is done that does not come back. */
export function Ask({ question, text, yes, no, isDanger = false, onYes, onClose }: AskProps) {
  const { isBusy, error, run } = useWork();
  const say = async (): Promise<void> => {
    if (await run(onYes)) onClose();
  };
  return (
    <Sheet title={question} onClose={onClose}>
      <p>{text}</p>
      {error !== null && <Problem sentence={error} />}
      <div class="sheet-foot">
        <Button onClick={onClose}>{no}</Button>
        <Button kind={isDanger ? "danger" : "main"} isBusy={isBusy} onClick={say}>
          {yes}
        </Button>
      </div>
    </Sheet>
  );
}

type Question = (close: () => void) => ComponentChildren;
const question = signal<Question | null>(null);

/** Asks over the room: it goes on where the list is drawn anew in which it was begun. */
export function ask(asked: Question): void {
  question.value = asked;
}

/** What it is about is not shown any more. */
export function closeQuestion(): void {
  question.value = null;
}

/** The question that is open. Stands once in the page. */
export function OpenQuestion() {
  const { value } = question;
  // Another one may follow from its answer.
  return <>{value?.(() => question.value === value && closeQuestion())}</>;
}
