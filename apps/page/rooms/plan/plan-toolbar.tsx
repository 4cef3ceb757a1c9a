import { ChevronLeft, ChevronRight } from "lucide-preact";
import type { App } from "../../../features/calendar/app.ts";
import { periodTitle, type State } from "../../../features/calendar/state.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import type { PlanQuery, PlanView } from "./plan-query.ts";
import { TypedInput } from "./typed-input.tsx";

/** Month, week or list. */
export function ViewSwitch({ view, onView }: { readonly view: PlanView; onView(view: PlanView): void }) {
  return (
    <div class="plan-switch" role="group" aria-label="View">
      {(["month", "week", "list"] as const).map((one) => (
        <Button key={one} isSmall kind="quiet" aria-pressed={one === view} onClick={() => onView(one)}>
          {one.replace(/^./, (letter) => letter.toUpperCase())}
        </Button>
      ))}
    </div>
  );
}

/** Which month or week it is, and the ones beside it. */
export function PeriodBar({ state, app }: { readonly state: State; readonly app: App }) {
  return (
    <div class="plan-period">
      <h2 aria-live="polite">{periodTitle(state)}</h2>
      <div class="buttons">
        <IconButton isSmall label={`Previous ${state.view}`} onClick={() => void app.step(-1)}>
          <ChevronLeft aria-hidden="true" />
        </IconButton>
        <Button isSmall onClick={() => void app.showToday()}>
          Today
        </Button>
        <IconButton isSmall label={`Next ${state.view}`} onClick={() => void app.step(1)}>
          <ChevronRight aria-hidden="true" />
        </IconButton>
      </div>
    </div>
  );
}

/** What the list holds, and in which order. */
export function ListBar({
  query,
  onChange,
}: {
  readonly query: PlanQuery;
  onChange(changes: Partial<PlanQuery>): void;
}) {
  return (
    <form class="plan-period" role="search" onSubmit={(event) => event.preventDefault()}>
      <TypedInput
        class="input plan-search"
        isLive
        type="search"
        aria-label="Search posts"
        placeholder="Search posts"
        value={query.search}
        onValue={(search) => onChange({ search })}
      />
      <select
        class="input plan-order"
        aria-label="Order"
        value={query.isUpcoming ? "upcoming" : "latest"}
        onChange={(event) => onChange({ isUpcoming: event.currentTarget.value === "upcoming" })}
      >
        <option value="upcoming">Upcoming first</option>
        <option value="latest">Latest first</option>
      </select>
    </form>
  );
}
