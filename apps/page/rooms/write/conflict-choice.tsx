import { useEffect, useRef } from "preact/hooks";
import { useRefusal } from "../../data/use-refusal.ts";
import { Button } from "../../../ui/button.tsx";
import { sentenceOf } from "../../wire.ts";
import type { Composer } from "./composer.ts";

/** Someone else changed what is written here: nothing of either is lost until the person has chosen. */
export function ConflictChoice({
  composer,
  sentence,
}: {
  readonly composer: Composer;
  readonly sentence: string;
}) {
  const [error, setError] = useRefusal();
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "center" }), []);
  const isPost = composer.post !== null;
  return (
    <section ref={box} class="conflict hint" role="alert" aria-label="Changed elsewhere">
      <div>
        <h2>This {isPost ? "post" : "draft"} was changed elsewhere</h2>
        <p>{sentence} Nothing of yours is lost: choose which one to go on with.</p>
        {error !== null && <p class="wrong">{error}</p>}
      </div>
      <div class="buttons">
        <Button
          onClick={() => composer.takeTheirs().catch((reason: unknown) => setError(sentenceOf(reason)))}
        >
          Take the other one
        </Button>
        <Button kind="main" onClick={() => composer.keepMine()}>
          {isPost ? "Keep mine" : "Keep mine as a copy"}
        </Button>
      </div>
    </section>
  );
}
