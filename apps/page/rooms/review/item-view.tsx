import type { RefObject } from "preact";
import { describeSeries } from "../../../../src/domain/drafts/tell-series.ts";
import { changesBetween, type DraftSnapshot, snapshotOf } from "../../../features/draft/changes.ts";
import { DraftView } from "../../../features/draft/draft-view.tsx";
import { isUndecided } from "../../../features/draft/readiness.ts";
import { nextDays } from "../../../features/draft/draft-words.ts";
import { now } from "../../../shared/clock.ts";
import { lateStartOf } from "../../../shared/drafts.ts";
import { formats, timezone } from "../../data/session.ts";
import { NextSlots } from "../../channel/next-slots.tsx";
import { channelName } from "../../data/shared-data.ts";
import { clockTime, longTime } from "../../../shared/when.ts";
import type { Item } from "./item.ts";
import { ItemCard } from "./item-card.tsx";
import { countOf } from "../../../shared/texts.ts";

interface ItemViewProps {
  readonly item: Item;
  /** What was seen the last time. Null: it was not seen before. */
  readonly before: DraftSnapshot | null;
  readonly isMarked: boolean;
  readonly heading: RefObject<HTMLHeadingElement>;
  setMarked(isMarked: boolean): void;
}

/** One draft whole, with what changed since the last look. */
export function ItemView({ item, before, isMarked, heading, setMarked }: ItemViewProps) {
  const { raw, shown } = item;
  const changed = before !== null && before.revision !== shown.revision ? before : null;
  return (
    <DraftView
      draft={shown}
      heading={heading}
      times={<Times item={item} />}
      on={(ms) => ` on ${longTime(ms)}`}
      remarks={
        changed !== null && (
          <Changes before={changed} after={snapshotOf(raw)} isMarked={isMarked} setMarked={setMarked} />
        )
      }
    >
      {shown.targets.map((target) => (
        <ItemCard key={target.accountId} item={item} target={target} before={isMarked ? changed : null} />
      ))}
    </DraftView>
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
      <>
        <p>
          {describeSeries(raw.repeat, lateStartOf(raw.repeat, raw.decision), {
            clock: clockTime,
            day: formats.value.shortDay,
          })}
        </p>
        {days.length > 0 && (
          <p class="muted note">Next: {days.map((day) => formats.value.shortDay(day)).join(" · ")}</p>
        )}
        {shown.texts.length > 0 && (
          <details open>
            <summary>{countOf(shown.texts.length, "text")} that take turns</summary>
            <ol>
              {shown.texts.map((text, at) => (
                <li key={at} dir="auto">
                  {text}
                </li>
              ))}
            </ol>
          </details>
        )}
      </>
    );
  }
  const times = new Set(shown.targets.map(({ scheduledAt }) => scheduledAt));
  const [at = null] = times.size === 1 ? times : [shown.scheduledAt];
  const words =
    times.size > 1
      ? "At different times"
      : at !== null
        ? longTime(at)
        : shown.isNextSlot
          ? "In the next free slot of each channel"
          : "At once when approved";
  return (
    <>
      <p>
        {words} <span class="muted">· {posts}</span>
        {at !== null && <span class="muted"> · {timezone.value}</span>}
      </p>
      {at === null && shown.isNextSlot && isUndecided(shown) && (
        <NextSlots accountIds={shown.targets.map(({ accountId }) => accountId)} />
      )}
    </>
  );
}

interface ChangesProps extends Pick<ItemViewProps, "isMarked" | "setMarked"> {
  readonly before: DraftSnapshot;
  readonly after: DraftSnapshot;
}

function Changes({ before, after, isMarked, setMarked }: ChangesProps) {
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
