import { monthOf } from "../../shared/zone.ts";
import { CellName, type CellProps, GridCell } from "./cell.tsx";
import { Chip, Slot } from "./chip.tsx";
import { ComingMark } from "./coming-line.tsx";
import { pressingFirst } from "./posts.ts";
import { cellsOf, daysOf, type Cell, type State } from "./state.ts";

/** As many as a cell has room for. */
const CHIPS_SHOWN = { inline: 2, fullscreen: 3 } as const;

export function Month(props: Pick<CellProps, "app" | "state">) {
  const { state } = props;
  const days = daysOf(state);
  const cellOf = cellsOf(state, "day");
  const weeks = Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
  return (
    <div class="month" role="grid" aria-label={state.formats.month(state.day)} aria-busy={state.isLoading}>
      <div class="row head" role="row">
        {days.slice(0, 7).map((day) => (
          <div key={day} role="columnheader">
            {state.formats.weekday(day)}
          </div>
        ))}
      </div>
      {weeks.map((week) => (
        <div key={week[0]} class="row" role="row">
          {week.map((day) => {
            const place = { day, hour: null };
            return <DayCell key={day} {...props} place={place} cell={cellOf(place)} />;
          })}
        </div>
      ))}
    </div>
  );
}

function DayCell(props: CellProps) {
  const { state, place, cell } = props;
  const { day } = place;
  const isActive = day === state.day;
  const isToday = day === state.zone.read(state.now).day;
  const room = roomOf(state);
  const count = cell.drafts.length + cell.posts.length;
  // Drafts first: they are for a person to look at.
  const all = count > room ? pressingFirst(cell, state.move?.id) : [...cell.drafts, ...cell.posts];
  const shown = all.slice(0, room);
  const slots = state.options.tiles === undefined ? [] : cell.slots.slice(0, room - shown.length);
  return (
    <GridCell
      {...props}
      isActive={isActive}
      isTarget={state.move?.to.day === day}
      isToday={isToday}
      look={[count === 1 && "lone", monthOf(day) !== monthOf(state.day) && "other", isToday && "today"]}
    >
      <div class="date">
        <CellName {...props} />
        <span class="number" aria-hidden="true">
          {Number(day.slice(8))}
        </span>
        {/* The cell's name says these too. */}
        {cell.slots.length > slots.length && (
          <span class="free" aria-hidden="true">
            {cell.slots.length - slots.length}
            <span class="word"> free</span>
          </span>
        )}
        <ComingMark count={cell.coming.length} />
        {room > 0 && count > shown.length && (
          <span class="more" aria-hidden="true">
            {`+${count - shown.length}`}
            <span class="word"> more</span>
          </span>
        )}
      </div>
      {shown.map((one) => (
        <Chip key={one.id} {...props} one={one} isReachable={isActive} />
      ))}
      {slots.map((slot) => (
        <Slot key={`${slot.accountId}:${slot.at}`} state={state} one={slot} isReachable={isActive} />
      ))}
      {room === 0 && count > 0 && <Dots cell={cell} />}
    </GridCell>
  );
}

function roomOf({ options, layout }: State): number {
  if (options.hasDots === true) return 0;
  return layout.isFullscreen ? CHIPS_SHOWN.fullscreen : CHIPS_SHOWN.inline;
}

const DOTS_SHOWN = 3;

/** A dot for each of the first posts and drafts; the cell's name says the rest. */
function Dots({ cell }: { readonly cell: Cell }) {
  const all = pressingFirst(cell);
  return (
    <span class="dots" aria-hidden="true">
      {all.slice(0, DOTS_SHOWN).map((one) => (
        <i key={one.id} class={"status" in one ? one.status : one.state} />
      ))}
      {all.length > DOTS_SHOWN && <span class="more">{`+${all.length - DOTS_SHOWN}`}</span>}
    </span>
  );
}
