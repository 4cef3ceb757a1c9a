import type { ComponentChildren } from "preact";
import { classes } from "../../ui/classes.ts";
import type { App } from "./app.ts";
import { openDay } from "./open.ts";
import { cellKey, countOf, isLoaded, type Cell, type Place, type State } from "./state.ts";

/** What the cells of a month and of a week are drawn with. */
export interface CellProps {
  readonly app: App;
  readonly state: State;
  readonly place: Place;
  readonly cell: Cell;
}

interface GridCellProps extends Omit<CellProps, "cell"> {
  readonly isActive: boolean;
  /** A post that is carried would go here. */
  readonly isTarget: boolean;
  readonly isToday?: boolean;
  readonly look?: readonly (string | false)[];
  readonly children: ComponentChildren;
}

/** A day of the month, or an hour of the week. */
export function GridCell({ app, state, place, isActive, isTarget, ...rest }: GridCellProps) {
  return (
    <div
      class={classes(
        "cell",
        ...(rest.look ?? []),
        !isLoaded(state, [place.day]) && "unknown",
        isTarget && "target",
      )}
      role="gridcell"
      data-key={cellKey(place)}
      data-day={place.day}
      data-hour={place.hour ?? undefined}
      tabIndex={isActive ? 0 : -1}
      aria-current={rest.isToday === true ? "date" : undefined}
      onClick={() => openDay(app, place)}
    >
      {rest.children}
    </div>
  );
}

/** What a cell is called, to those who do not see it. */
export function CellName({ state, place, cell }: Omit<CellProps, "app">) {
  const hour = place.hour === null ? [] : [state.formats.hour(place.hour)];
  const count = isLoaded(state, [place.day]) ? countOf(cell) : "not loaded";
  return <span class="unseen">{[state.formats.longDay(place.day), ...hour, count].join(", ")}</span>;
}
