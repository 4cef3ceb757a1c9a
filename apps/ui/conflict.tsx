import { useEffect, useRef } from "preact/hooks";
import { sentenceOf } from "../shared/texts.ts";
import { Button } from "./button.tsx";
import { useRefusal } from "./use-work.ts";

interface ConflictProps {
  /** What was changed, as `This draft` */
  readonly what: string;
  readonly sentence: string;
  /** Label of the button that keeps this version. */
  readonly mine?: string;
  onTheirs(): Promise<unknown>;
  onMine(): void;
}

/** Someone else changed what is changed here: nothing of either is lost until the person has chosen. */
export function Conflict({ what, sentence, mine = "Keep mine", onTheirs, onMine }: ConflictProps) {
  const [error, setError] = useRefusal();
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "center" }), []);
  return (
    <section ref={box} class="conflict hint" role="alert" aria-label="Changed elsewhere">
      <div>
        <h2>{what} changed elsewhere</h2>
        <p>{sentence} Nothing of yours is lost: choose which one to go on with.</p>
        {error !== null && <p class="wrong">{error}</p>}
      </div>
      <div class="buttons">
        <Button onClick={() => onTheirs().catch((reason: unknown) => setError(sentenceOf(reason)))}>
          Take the other one
        </Button>
        <Button kind="main" onClick={onMine}>
          {mine}
        </Button>
      </div>
    </section>
  );
}
