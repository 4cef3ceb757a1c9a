import { ComingTime } from "../../../features/calendar/coming-line.tsx";
import { cellsOf, type State } from "../../../features/calendar/state.ts";
import { now } from "../../../shared/clock.ts";
import type { Day } from "../../../shared/zone.ts";
import { may, zone } from "../../data/session.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Sheet } from "../../../ui/sheet.tsx";
import { seriesAddress } from "../../post/series-part.tsx";
import { DraftTile, PostTile, SlotTile } from "./tile.tsx";

const NINE = 9 * 60;

interface DayTilesProps {
  readonly state: State;
  readonly day: Day;
  onOpen(id: string): void;
}

/** All that a day holds. */
function DayTiles({ state, day, onOpen }: DayTilesProps) {
  const { posts, drafts, slots, coming } = cellsOf(state, "day")({ day, hour: null });
  if (posts.length + drafts.length + slots.length + coming.length === 0)
    return <p class="muted">Nothing is planned.</p>;
  return (
    <div class="plan-tiles">
      {drafts.map((draft) => (
        <DraftTile key={draft.id} draft={draft} />
      ))}
      {posts.map((post) => (
        <PostTile key={post.id} post={post} onOpen={onOpen} />
      ))}
      {coming.map((one) => (
        <ComingTime
          key={`${one.draftId}${one.at}`}
          one={one}
          time={state.formats.time(one.at)}
          address={seriesAddress}
        />
      ))}
      {may("draft") && slots.map((slot) => <SlotTile key={`${slot.accountId}${slot.at}`} slot={slot} />)}
    </div>
  );
}

export function DayHeading({ day, name }: { readonly day: Day; readonly name: string }) {
  const isToday = day === zone.value.read(now()).day;
  return (
    <h2 aria-current={isToday ? "date" : undefined}>
      {name}
      {isToday && <span class="plan-today">Today</span>}
    </h2>
  );
}

/** One day below the month or in the week, where there is no room for words in a grid. */
export function DaySection({ state, day, onOpen }: DayTilesProps) {
  return (
    <section class="plan-day">
      <DayHeading day={day} name={state.formats.shortDay(day)} />
      <DayTiles state={state} day={day} onOpen={onOpen} />
      <WriteForDay state={state} day={day} isSmall />
    </section>
  );
}

/** Where a post for this day is written, at nine where that is still to come. */
export function writeAddress({ zone, now }: Pick<State, "zone" | "now">, day: Day): string {
  const nine = zone.toMs({ day, minutes: NINE });
  return nine > now ? `/app/write?at=${encodeURIComponent(new Date(nine).toISOString())}` : "/app/write";
}

function WriteForDay({
  state,
  day,
  isSmall = false,
}: Pick<DayTilesProps, "state" | "day"> & { readonly isSmall?: boolean }) {
  if (!may("draft") || day < state.zone.read(state.now).day) return null;
  return (
    <div class={isSmall ? "buttons" : "sheet-foot"}>
      <ButtonLink href={writeAddress(state, day)} kind={isSmall ? "plain" : "main"} isSmall={isSmall}>
        Write a post for this day
      </ButtonLink>
    </div>
  );
}

/** One day over the calendar. */
export function DaySheet({ onClose, ...rest }: DayTilesProps & { onClose(): void }) {
  const { state, day } = rest;
  return (
    <Sheet title={state.formats.longDay(day)} onClose={onClose}>
      <DayTiles {...rest} />
      <WriteForDay state={state} day={day} />
    </Sheet>
  );
}
