import { classes } from "../../ui/classes.ts";
import type { App } from "./app.ts";
import { CellName, type CellProps, GridCell } from "./cell.tsx";
import { Chip, FreeTimes, Slot } from "./chip.tsx";
import { cellsOf, daysOf, type State } from "./state.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

export function Week({ app, state }: { readonly app: App; readonly state: State }) {
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
            return <HourCell key={day} app={app} state={state} place={place} cell={cellOf(place)} />;
          })}
        </div>
      ))}
    </div>
  );
}

function HourCell({ app, state, place, cell }: CellProps) {
  const isActive = place.day === state.day && place.hour === state.hour;
  const to = state.move?.to;
  return (
    <GridCell
      app={app}
      state={state}
      place={place}
      isActive={isActive}
      isTarget={to?.day === place.day && Math.floor(to.minutes / 60) === place.hour}
    >
      <CellName state={state} place={place} cell={cell} />
      {[...cell.drafts, ...cell.posts].map((one) => (
        <Chip key={one.id} app={app} state={state} one={one} isReachable={isActive} />
      ))}
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
