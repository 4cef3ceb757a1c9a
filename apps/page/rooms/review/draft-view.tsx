import { PenLine } from "lucide-preact";
import type { RefObject } from "preact";
import { tellSeries } from "../../../../src/domain/drafts/tell-series.ts";
import { now } from "../../../shared/clock.ts";
import type { Draft } from "../../../shared/drafts.ts";
import { formats, timezone } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { clockTime, longTime } from "../../data/when.ts";
import { DraftBadge, OutcomeBadge } from "../../../ui/badges.tsx";
import { changesBetween, type Seen, seenOf } from "./changes.ts";
import type { Item } from "./item.ts";
import { TargetCard } from "./target-card.tsx";
import { countOf, nextDays } from "./telling.ts";

const DECIDED: Readonly<Record<string, string>> = {
  approved: "approved it",
  changes: "asked for changes",
  discarded: "discarded it",
  stopped: "ended the series",
};

interface DraftViewProps {
  readonly item: Item;
  /** What was seen the last time. Null: it was not seen before. */
  readonly before: Seen | null;
  readonly isMarked: boolean;
  readonly heading: RefObject<HTMLHeadingElement>;
  setMarked(isMarked: boolean): void;
}

/** One draft whole: what, when, by whom, what changed, and a card for each channel. */
export function DraftView({ item, before, isMarked, heading, setMarked }: DraftViewProps) {
  const { raw, shown } = item;
  const hasChanged = before !== null && before.revision !== shown.revision;
  return (
    <article class="review-draft" aria-labelledby="review-title">
      <div class="review-facts">
        {shown.outcome !== null && shown.state === "scheduled" ? (
          <OutcomeBadge outcome={shown.outcome} />
        ) : (
          <DraftBadge state={shown.state} />
        )}
        {shown.writtenBy !== "" && (
          <span class="muted" dir="auto">
            {shown.writtenBy}
          </span>
        )}
        {shown.labels.map((label) => (
          <span key={label} class="review-label" dir="auto">
            {label}
          </span>
        ))}
      </div>
      <h2 id="review-title" class="review-title" tabIndex={-1} ref={heading} dir="auto">
        {shown.title}
      </h2>
      <Times item={item} />
      {hasChanged && (
        <Changes before={before} after={seenOf(raw)} isMarked={isMarked} setMarked={setMarked} />
      )}
      {shown.note !== null && (
        <div class="review-note">
          <PenLine aria-hidden="true" size={16} />
          <p dir="auto">
            <span class="unseen">Note: </span>
            {shown.note}
          </p>
        </div>
      )}
      <DecisionNote draft={shown} />
      {shown.targets.length === 0 ? (
        <p class="preview-text" dir="auto">
          {shown.text}
        </p>
      ) : (
        <ul class="review-cards" aria-label="As each channel will show it">
          {shown.targets.map((target) => (
            <TargetCard
              key={target.accountId}
              item={item}
              target={target}
              before={hasChanged && isMarked ? before : null}
            />
          ))}
        </ul>
      )}
    </article>
  );
}

/** When a series was approved. Undefined: it is not yet. */
function begunAt({ decision }: Item["raw"]): number | undefined {
  return decision?.what === "approved" ? Date.parse(decision.at) : undefined;
}

/** When it goes out: a time, several, or the rule of a series with the next days. */
function Times({ item: { raw, shown } }: { readonly item: Item }) {
  const posts = countOf(shown.targets.length, "post");
  if (raw.repeat !== null) {
    const days = shown.state === "ended" ? [] : nextDays(raw.repeat, now(), 4, begunAt(raw));
    return (
      <div class="review-when">
        <p>{tellSeries(raw.repeat, { clock: clockTime, day: formats.value.shortDay })}</p>
        {days.length > 0 && (
          <p class="muted note">Next: {days.map((day) => formats.value.shortDay(day)).join(" · ")}</p>
        )}
        {raw.repeat.texts !== undefined && <TurningTexts texts={raw.repeat.texts} />}
      </div>
    );
  }
  const times = new Set(shown.targets.map(({ scheduledAt }) => scheduledAt));
  const [at] = times.size === 1 ? [...times] : [shown.scheduledAt];
  const words =
    times.size > 1
      ? "At different times"
      : at !== null && at !== undefined
        ? longTime(at)
        : shown.isNextSlot
          ? "In the next free slot of each channel"
          : "At once when approved";
  return (
    <p class="review-when">
      {words} <span class="muted">· {posts}</span>
      {(at ?? null) !== null && <span class="muted"> · {timezone.value}</span>}
    </p>
  );
}

function TurningTexts({ texts }: { readonly texts: readonly string[] }) {
  return (
    <details open>
      <summary>{countOf(texts.length, "text")} that take turns</summary>
      <ol class="review-texts">
        {texts.map((text, at) => (
          <li key={at} dir="auto">
            {text}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Changes({
  before,
  after,
  isMarked,
  setMarked,
}: {
  readonly before: Seen;
  readonly after: Seen;
  readonly isMarked: boolean;
  setMarked(isMarked: boolean): void;
}) {
  const told = changesBetween(before, after, {
    channel: channelName,
    when: (at) => longTime(Date.parse(at)),
  });
  return (
    <section class="review-changes" aria-label="Changed since your last look">
      <div class="review-changes-head">
        <h3>Changed since your last look</h3>
        <label>
          <input
            type="checkbox"
            checked={isMarked}
            onChange={({ currentTarget }) => setMarked(currentTarget.checked)}
          />
          Mark in the text
        </label>
      </div>
      <ul>
        {(told.length === 0 ? ["Nothing that you can see."] : told).map((one) => (
          <li key={one} dir="auto">
            {one}
          </li>
        ))}
      </ul>
    </section>
  );
}

function DecisionNote({ draft: { decision } }: { readonly draft: Draft }) {
  if (decision === null) return null;
  return (
    <p class="review-decision" dir="auto">
      <bdi>{decision.by || "Someone"}</bdi> {DECIDED[decision.what] ?? decision.what}
      {decision.at !== null && ` on ${longTime(decision.at)}`}
      {decision.note === null ? "." : `: ${decision.note}`}
    </p>
  );
}
