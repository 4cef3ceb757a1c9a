import { useRefusal } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { sentenceOf } from "../../../shared/texts.ts";
import type { Composer } from "./composer.ts";

/** Someone else changed the draft: nothing of either is lost until the person has chosen. */
export function ConflictChoice({
  composer,
  sentence,
}: {
  readonly composer: Composer;
  readonly sentence: string;
}) {
  const [error, setError] = useRefusal();
  return (
    <section class="conflict hint" role="alert" aria-label="Changed elsewhere">
      <div>
        <h2>This draft was changed elsewhere</h2>
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
          Keep mine as a copy
        </Button>
      </div>
    </section>
  );
}
