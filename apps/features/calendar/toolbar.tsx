import { DRAFT_STATES } from "../../shared/drafts.ts";
import { STATUSES } from "../../shared/statuses.ts";
import type { App } from "./app.ts";
import { ComingLine } from "./coming-line.tsx";
import { countByStatus, periodDrafts, periodPosts, periodTitle, type State, comingLines } from "./state.ts";
import { Sign, Tool } from "../../ui/tool.tsx";

interface ToolbarProps {
  readonly app: App;
  readonly state: State;
}

export function Toolbar({ app, state }: ToolbarProps) {
  const { layout, view } = state;
  const failed = state.calendar.posts.filter((post) => post.status === "failed").length;
  return (
    <>
      <div class="group">
        {state.abilities.callsTools && (
          <>
            <Tool name="tool:previous" label={`Previous ${view}`} onClick={() => void app.step(-1)}>
              ‹
            </Tool>
            <Tool name="tool:next" label={`Next ${view}`} onClick={() => void app.step(1)}>
              ›
            </Tool>
            <Tool name="tool:today" onClick={() => void app.showToday()}>
              Today
            </Tool>
          </>
        )}
      </div>
      <h1 aria-live="polite">{periodTitle(state)}</h1>
      <span class="zone" title="Time zone of the calendar">
        {state.isLoading ? "Loading…" : state.zone.name}
      </span>
      {failed > 0 && (
        <Tool
          name="tool:failed"
          look="bad"
          onClick={() => app.update({ panel: { kind: "failed" } }, "panel:title")}
        >
          <span aria-hidden="true">{`${STATUSES.failed.sign} `}</span>
          {`${failed} failed`}
        </Tool>
      )}
      <div class="group" role="group" aria-label="View">
        {(["month", "week"] as const).map((one) => (
          <Tool
            key={one}
            name={`tool:${one}`}
            aria-pressed={view === one}
            onClick={() => void app.show(one, state.day)}
          >
            {one === "month" ? "Month" : "Week"}
          </Tool>
        ))}
      </div>
      {layout.canFullscreen && (
        <Tool
          name="tool:fullscreen"
          label={layout.isFullscreen ? "Leave full screen" : "Full screen"}
          onClick={() => void app.toggleFullscreen()}
        >
          {layout.isFullscreen ? "↙" : "↗"}
        </Tool>
      )}
    </>
  );
}

/** The keys that move a post. Screen readers hear them from the live region. */
export function MoveHint({ state: { view, move, formats, zone } }: Pick<ToolbarProps, "state">) {
  if (move === null) return null;
  const time = view === "month" ? "" : `, ${formats.time(zone.toMs(move.to))}`;
  return (
    <p class="carrying" aria-hidden="true">
      <strong>{`${formats.longDay(move.to.day)}${time}`}</strong>
      <span>
        <kbd>← ↑ ↓ →</kbd> choose a {view === "month" ? "day" : "day and an hour"}
      </span>
      <span>
        <kbd>Enter</kbd> puts it there
      </span>
      <span>
        <kbd>Esc</kbd> leaves it
      </span>
    </p>
  );
}

/** Says what the shapes and colours mean, with the number of posts of each. */
export function Legend({ state }: Pick<ToolbarProps, "state">) {
  const counts = countByStatus(periodPosts(state));
  const drafts = Map.groupBy(periodDrafts(state), (draft) => draft.state);
  const isEmpty = counts.length === 0 && drafts.size === 0;
  const coming = comingLines(state);
  // A page around the calendar says itself that there is nothing.
  if (isEmpty && state.options.onOpen !== undefined) return null;
  return (
    <>
      {/* Days of other months around it are shown and not counted. */}
      {(!isEmpty || coming.length === 0) && (
        <span class="none">{isEmpty ? `No posts in this ${state.view}.` : `In this ${state.view}:`}</span>
      )}
      {counts.map(([status, count]) => (
        <Count key={status} look={status} {...STATUSES[status]} count={count} />
      ))}
      {[...drafts].map(([one, { length }]) => (
        <Count
          key={one}
          look={one}
          {...DRAFT_STATES[one]}
          {...(one === "waiting" && { label: "waiting for you" })}
          {...(one === "open" && length > 1 && { label: "drafts" })}
          count={length}
        />
      ))}
      {coming.map((sentence) => (
        <ComingLine
          key={`${sentence.draftId}${sentence.after}`}
          sentence={sentence}
          address={state.options.seriesAddress}
        />
      ))}
    </>
  );
}

function Count({
  look,
  label,
  sign,
  count,
}: {
  readonly look: string;
  readonly label: string;
  readonly sign: string;
  readonly count: number;
}) {
  return (
    <span class={`legend ${look}`}>
      <Sign sign={sign} />
      {`${count} ${label.toLowerCase()}`}
    </span>
  );
}
