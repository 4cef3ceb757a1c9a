import { classes } from "../../ui/classes.ts";
import { CellName, type CellProps, GridCell } from "./cell.tsx";
import { Chip, FreeTimes, Slot } from "./chip.tsx";
import { ComingMark } from "./coming-line.tsx";
import { cellsOf, daysOf } from "./state.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

export function Week(props: Pick<CellProps, "app" | "state">) {
  const { state } = props;
  const days = daysOf(state);
  const cellOf = cellsOf(state, "hour");
  const today = state.zone.read(state.now).day;
  return (
    <div class="week" role="grid" aria-label="Week by hours" aria-busy={state.isLoading}>
      <div class="row head" role="row">
        <div role="columnheader" class="hour">
          <span class="unseen">Hour</span>
        </div>
        {days.map((day) => (
          <div
            key={day}
            role="columnheader"
            class={classes(day === today && "today")}
            aria-current={day === today ? "date" : undefined}
          >
            <span class="name">{state.formats.weekday(day)}</span>{" "}
            <span class="number">{Number(day.slice(8))}</span>
          </div>
        ))}
      </div>
      {HOURS.map((hour) => (
        <div key={hour} class="row" role="row" data-row={hour}>
          <div role="rowheader" class="hour">
            {state.formats.hour(hour)}
          </div>
          {days.map((day) => {
            const place = { day, hour };
            return <HourCell key={day} {...props} place={place} cell={cellOf(place)} />;
          })}
        </div>
      ))}
    </div>
  );
}

function HourCell(props: CellProps) {
  const { state, place, cell } = props;
  const isActive = place.day === state.day && place.hour === state.hour;
  const to = state.move?.to;
  return (
    <GridCell
      {...props}
      isActive={isActive}
      isTarget={to?.day === place.day && Math.floor(to.minutes / 60) === place.hour}
    >
      <CellName {...props} />
      {[...cell.drafts, ...cell.posts].map((one) => (
        <Chip key={one.id} {...props} one={one} isReachable={isActive} />
      ))}
      <ComingMark count={cell.coming.length} />
      {state.options.tiles === undefined ? (
        <FreeTimes state={state} slots={cell.slots} />
      ) : (
        cell.slots.map((slot) => (
          <Slot key={`${slot.accountId}:${slot.at}`} state={state} one={slot} isReachable={isActive} />
        ))
      )}
    </GridCell>
  );
}
