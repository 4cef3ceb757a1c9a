import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { listed } from "../../../shared/texts.ts";
import { askedFor, readInstructions, type Way } from "./guide.ts";
import { CopyButton, LinkedText } from "./linked-text.tsx";

export interface StepsProps {
  readonly listing: PlatformListing;
  /** Null: as the channel was connected before. */
  readonly way: Way | null;
  readonly accountId: string | null;
}

/** What a person does on the platform, and what the page to connect asks for. */
export function Instructions({ listing, way, accountId }: StepsProps) {
  if (way === null)
    return <p>It is connected again as it was before. What is still known needs not be entered once more.</p>;
  const { lead, steps, block } = readInstructions(way.instructions);
  const asked = askedFor(listing, way, accountId);
  return (
    <div class="stack">
      <h2>{way.kind === "none" ? `${listing.title} needs nothing` : way.label}</h2>
      {lead !== "" && (
        <p>
          <LinkedText text={lead} />
        </p>
      )}
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step) => (
            <li key={step}>
              <div>
                <LinkedText text={step} />
              </div>
            </li>
          ))}
        </ol>
      )}
      {block !== null && (
        <div class="stack tight">
          <div class="buttons">
            <span class="muted note">To be pasted</span>
            <CopyButton text={block} what="the text" />
          </div>
          <pre class="block" tabIndex={0} aria-label="Text to be pasted">
            {block}
          </pre>
        </div>
      )}
      {asked.length > 0 && <p class="muted">The page asks for: {listed(asked)}.</p>}
    </div>
  );
}
