import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { classes } from "../../ui/classes.ts";
import type { App } from "./app.ts";
import { listenToDrags } from "./drag.ts";
import { pressKey } from "./keyboard.ts";
import { Month } from "./month.tsx";
import { Panel } from "./panel.tsx";
import type { Panel as Shown } from "./state.ts";
import { TextView } from "./text-view.tsx";
import { Tool } from "../../ui/tool.tsx";
import { MoveHint, Legend, Toolbar } from "./toolbar.tsx";
import { Week } from "./week.tsx";

interface CalendarProps {
  readonly app: App;
  readonly class?: string;
  readonly isHidden?: boolean;
}

/** Month or week with all that belongs to them. It listens nowhere else, so that it is gone with its element. */
export function Calendar({ app, isHidden = false, ...rest }: CalendarProps) {
  const root = useRef<HTMLDivElement>(null);
  const state = app.text.value === null ? app.state : null;
  const isText = state?.layout.isText === true;
  const hasFrame = state !== null && !isText && state.options.onOpen === undefined;
  const panel = hasFrame ? state.panel : null;
  useLayoutEffect(() => {
    if (root.current !== null) listenToDrags(app, root.current);
  }, []);
  useFocus(app, root);
  useFirstHour(root, state?.view === "week" ? state.hour : null);
  return (
    <div
      ref={root}
      class={classes("calendar", rest.class, state?.isLoading === true && "loading")}
      hidden={isHidden}
      onKeyDown={(event) => pressKey(app, event)}
    >
      <div id="toolbar">{hasFrame && <Toolbar app={app} state={state} />}</div>
      <div id="carrying">{state !== null && <MoveHint state={state} />}</div>
      <div id="body">
        {/* The lines alone have nothing in them that the Tab key could scroll to. */}
        <div id="grid" tabIndex={isText ? 0 : undefined}>
          {state === null ? (
            <p class="alone">{app.text.value}</p>
          ) : isText ? (
            <TextView state={state} />
          ) : state.view === "month" ? (
            <Month app={app} state={state} />
          ) : (
            <Week app={app} state={state} />
          )}
        </div>
        <div id="legend">{state !== null && !isText && <Legend state={state} />}</div>
        <div id="panel">
          {hasFrame && panel !== null && <Panel key={keyOf(panel)} app={app} state={state} panel={panel} />}
        </div>
      </div>
      <Message app={app} />
      <LiveRegion app={app} />
    </div>
  );
}

/** What is typed in one is not in the next. */
function keyOf(panel: Shown): string {
  return `${panel.kind} ${"id" in panel ? panel.id : panel.kind === "day" ? panel.day : ""}`;
}

/** Where the focus goes when what had it is gone. */
const HOME = ".panel h2, .cell[tabindex='0']";

/**
 * What has the focus keeps it where it is drawn in another place, and what a change asks for gets it. It is
 * never lost: the panel or the active day go on where that is gone.
 */
function useFocus(app: App, root: RefObject<HTMLElement>): void {
  const before = focusedIn(root.current);
  const around = before?.closest("#grid, #panel") ?? null;
  useLayoutEffect(() => {
    const wanted = app.takeFocus();
    const key = wanted ?? before?.dataset["key"];
    if (root.current === null || (wanted === null && before?.isConnected !== false)) return;
    const found = [...root.current.querySelectorAll<HTMLElement>("[data-key]")].find(
      ({ dataset }) => dataset["key"] === key,
    );
    const place = around?.querySelector<HTMLElement>(HOME) ?? root.current.querySelector<HTMLElement>(HOME);
    (found ?? place)?.focus({ preventScroll: wanted === null && found !== undefined });
    // A text comes into view with the buttons below it.
    if (wanted?.startsWith("text:") === true) found?.parentElement?.scrollIntoView({ block: "nearest" });
  });
}

function focusedIn(root: HTMLElement | null): HTMLElement | null {
  const active = document.activeElement;
  return active instanceof HTMLElement && root?.contains(active) === true ? active : null;
}

/** A week begins where something is, and stays where a person scrolled to. `hour`: null while no week is shown. */
function useFirstHour(root: RefObject<HTMLElement>, hour: number | null): void {
  useLayoutEffect(() => {
    const grid = root.current?.querySelector("#grid") ?? null;
    if (grid === null || hour === null) return;
    const row = grid.querySelector<HTMLElement>(`[data-row="${Math.max(hour - 1, 0)}"]`);
    const head = grid.querySelector<HTMLElement>(".head");
    if (row !== null) grid.scrollTop = row.offsetTop - (head?.offsetHeight ?? 0);
  }, [hour === null]);
}

/** A sentence that stays until it is closed. */
function Message({ app }: Pick<CalendarProps, "app">) {
  const message = app.message.value;
  return (
    <div id="complaint" class={classes(message?.isHint === true && "hint")} hidden={message === null}>
      <p id="complaint-text" role="alert">
        {message?.sentence}
      </p>
      <Tool aria-label="Close this message" onClick={() => app.closeMessage()}>
        ×
      </Tool>
    </div>
  );
}

/** Writes the text again for each new `said`, so that screen readers read the same sentence again. */
function LiveRegion({ app }: Pick<CalendarProps, "app">) {
  const line = useRef<HTMLDivElement>(null);
  const said = app.said.value;
  useLayoutEffect(() => {
    if (line.current !== null) line.current.textContent = said.sentence;
  }, [said]);
  return <div ref={line} id="live" class="unseen" role="status" aria-live="polite" />;
}
