import { PenLine } from "lucide-preact";
import type { ComponentChildren, Ref } from "preact";
import type { Draft } from "../../shared/drafts.ts";
import { OutcomeBadge } from "./outcome-badge.tsx";

const DECIDED: Readonly<Record<string, string>> = {
  approved: "approved it",
  changes: "asked for changes",
  discarded: "discarded it",
  stopped: "ended the series",
};

interface DraftViewProps {
  readonly draft: Draft;
  readonly heading?: Ref<HTMLHeadingElement>;
  /** When it goes out. */
  readonly times: ComponentChildren;
  /** What to know before it is read. */
  readonly remarks: ComponentChildren;
  /** A card for each channel. */
  readonly children: ComponentChildren;
  /** When it was decided, as it stands in a sentence. */
  on(ms: number): string;
}

/** One draft whole: what, when, by whom, and as each channel will show it. */
export function DraftView({ draft, heading = null, times, remarks, children, on }: DraftViewProps) {
  const { writtenBy, labels, title, note, decision, targets, text } = draft;
  return (
    <article class="review-draft" aria-labelledby="draft-title">
      <div class="facts">
        <OutcomeBadge draft={draft} />
        {writtenBy !== "" && (
          <span class="muted" dir="auto">
            {writtenBy}
          </span>
        )}
        {labels.map((label) => (
          <span key={label} class="label" dir="auto">
            {label}
          </span>
        ))}
      </div>
      <h2 id="draft-title" tabIndex={-1} ref={heading} dir="auto">
        {title}
      </h2>
      <div class="when">{times}</div>
      {remarks}
      {note !== null && (
        <div class="told with-sign">
          <PenLine aria-hidden="true" size={16} />
          <p dir="auto">
            <span class="unseen">Note: </span>
            {note}
          </p>
        </div>
      )}
      {decision !== null && (
        <p class="told" dir="auto">
          <bdi>{decision.by || "Someone"}</bdi> {DECIDED[decision.what] ?? decision.what}
          {decision.at !== null && on(decision.at)}
          {decision.note === null ? "." : `: ${decision.note}`}
        </p>
      )}
      {targets.length === 0 ? (
        <p class="preview-text" dir="auto">
          {text}
        </p>
      ) : (
        <ul class="cards" aria-label="As each channel will show it">
          {children}
        </ul>
      )}
    </article>
  );
}
