import type { ComponentChildren } from "preact";
import { DRAFT_STATES } from "../../shared/drafts.ts";
import { STATUSES } from "../../shared/statuses.ts";
import type { App } from "./app.ts";
import { countByStatus, periodDrafts, periodPosts, periodTitle, type State, tellComing } from "./state.ts";

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
            <Tool name="previous" label={`Previous ${view}`} onClick={() => void app.step(-1)}>
              ‹
            </Tool>
            <Tool name="next" label={`Next ${view}`} onClick={() => void app.step(1)}>
              ›
            </Tool>
            <Tool name="today" onClick={() => void app.showToday()}>
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
          name="failed"
          look="bad"
          onClick={() => app.update({ panel: { kind: "failed" } }, "panel:title")}
        >
          <span aria-hidden="true">{`${STATUSES.failed.sign} `}</span>
          {`${failed} failed`}
        </Tool>
      )}
      <div class="group" role="group" aria-label="View">
        {(["month", "week"] as const).map((one) => (
          <Tool key={one} name={one} isPressed={view === one} onClick={() => void app.show(one, state.day)}>
            {one === "month" ? "Month" : "Week"}
          </Tool>
        ))}
      </div>
      {layout.canFullscreen && (
        <Tool
          name="fullscreen"
          label={layout.isFullscreen ? "Leave full screen" : "Full screen"}
          onClick={() => void app.toggleFullscreen()}
        >
          {layout.isFullscreen ? "↙" : "↗"}
        </Tool>
      )}
    </>
  );
}

interface ToolProps {
  readonly name: string;
  /** What a sign alone does. */
  readonly label?: string;
  readonly look?: string;
  readonly isPressed?: boolean;
  readonly children: ComponentChildren;
  onClick(): void;
}

function Tool({ name, label, look, isPressed, ...rest }: ToolProps) {
  return (
    <button
      type="button"
      class={look === undefined ? "tool" : `tool ${look}`}
      data-key={`tool:${name}`}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      {...rest}
    />
  );
}

/** What to press while a post is carried, for those who see. It is said besides. */
export function Carrying({ state: { view, move, formats, zone } }: Pick<ToolbarProps, "state">) {
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
  return (
    <>
      {/* Days of other months around it are shown and not counted. */}
      <span class="none">{isEmpty ? `No posts in this ${state.view}.` : `In this ${state.view}:`}</span>
      {counts.map(([status, count]) => (
        <Count key={status} look={status} {...STATUSES[status]} count={count} />
      ))}
      {[...drafts].map(([one, { length }]) => (
        <Count
          key={one}
          look={one}
          {...DRAFT_STATES[one]}
          {...(one === "waiting" && { label: "waiting for you" })}
          count={length}
        />
      ))}
      {tellComing(state).map((line) => (
        <span key={line} class="none" dir="auto">
          {line}
        </span>
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
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {`${count} ${label.toLowerCase()}`}
    </span>
  );
}
