import { Plus, X } from "lucide-preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Weekday } from "../../../../src/domain/accounts/schedule.ts";
import { clockTime } from "../../../shared/when.ts";
import { Button } from "../../../ui/button.tsx";
import { say } from "../../../ui/toasts.tsx";
import { addTimes, DAYS, neighbourOf, removeTime, timesOf, type Week } from "./slots.ts";

interface SlotWeekProps {
  readonly week: Week;
  /** Null: it is only shown. */
  readonly onChange: ((change: (week: Week) => Week) => void) | null;
}

/** The week by its days, each with its times. The arrow keys go from time to time, Delete takes one away. */
export function SlotWeek({ week, onChange }: SlotWeekProps) {
  const root = useRef<HTMLUListElement>(null);
  const [adding, setAdding] = useState<Weekday | null>(null);
  const [focus, setFocus] = useState<string | null>(null);
  // At once: the next key may come before anything is painted.
  useLayoutEffect(() => {
    if (focus === null) return;
    root.current?.querySelector<HTMLElement>(`[data-slot="${focus}"]`)?.focus();
    setFocus(null);
  }, [focus]);

  const remove = (day: Weekday, time: string, name: string): void => {
    if (onChange === null) return;
    const next = neighbourOf(week, day, time);
    onChange((now) => removeTime(now, day, time));
    setFocus(next === null ? day : `${day} ${next}`);
    say(`${name} ${clockTime(time)} is taken away. Save to keep it so.`, () =>
      onChange((now) => addTimes(now, [day], [time])),
    );
  };
  const add = (day: Weekday, time: string): void => {
    setAdding(null);
    if (time === "" || onChange === null) return setFocus(day);
    onChange((now) => addTimes(now, [day], [time]));
    setFocus(`${day} ${time}`);
  };

  return (
    <ul class="slot-week" ref={root} onKeyDown={(event) => moveFocus(event, root.current)}>
      {DAYS.map(({ day, name }) => (
        <li
          key={day}
          class="slot-day"
          onClick={(event) => {
            // A click beside the times, for those who point; the button below does the same.
            if (onChange !== null && event.target === event.currentTarget) setAdding(day);
          }}
        >
          <span class="slot-name">
            <span aria-hidden="true">{name.slice(0, 3)}</span>
            <span class="unseen">{name}</span>
          </span>
          {timesOf(week, day).map((time) =>
            onChange === null ? (
              <span key={time} class="slot">
                {clockTime(time)}
              </span>
            ) : (
              <button
                key={time}
                type="button"
                class="slot"
                data-slot={`${day} ${time}`}
                aria-label={`${clockTime(time)}, ${name}: take away`}
                title="Take away"
                onClick={() => remove(day, time, name)}
                onKeyDown={(event) => {
                  if (event.key !== "Delete" && event.key !== "Backspace") return;
                  event.preventDefault();
                  remove(day, time, name);
                }}
              >
                {clockTime(time)}
                <X aria-hidden="true" />
              </button>
            ),
          )}
          {onChange === null && timesOf(week, day).length === 0 && <span class="muted note">–</span>}
          {onChange !== null &&
            (adding === day ? (
              <NewTime name={name} onDone={(time) => add(day, time)} />
            ) : (
              <Button
                isSmall
                kind="quiet"
                class="slot-add"
                data-slot={day}
                aria-label={`Add a time on ${name}`}
                title={`Add a time on ${name}`}
                onClick={() => setAdding(day)}
              >
                <Plus aria-hidden="true" />
              </Button>
            ))}
        </li>
      ))}
    </ul>
  );
}

/** Enter, or going elsewhere, takes the time; Escape none. */
function NewTime({ name, onDone }: { readonly name: string; onDone(time: string): void }) {
  const input = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => input.current?.focus(), []);
  const finish = (time: string): void => {
    if (isDone.current) return;
    isDone.current = true;
    onDone(time);
  };
  return (
    <input
      ref={input}
      type="time"
      class="input slot-new"
      aria-label={`New time on ${name}`}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        // Escape would close the dialog around it, too, and Enter send a form.
        event.preventDefault();
        event.stopPropagation();
        finish(event.key === "Enter" ? event.currentTarget.value : "");
      }}
      onBlur={(event) => finish(event.currentTarget.value)}
    />
  );
}

/** Up and down within a day, left and right to the days beside it. */
function moveFocus(event: KeyboardEvent, root: HTMLElement | null): void {
  const { target } = event;
  if (root === null || !(target instanceof HTMLElement) || target.dataset["slot"] === undefined) return;
  const columns = [...root.children].map((column) => [
    ...column.querySelectorAll<HTMLElement>("[data-slot]"),
  ]);
  const at = columns.findIndex((column) => column.includes(target));
  const row = columns[at]?.indexOf(target) ?? 0;
  const goal = goalOf(event.key, columns, at, row);
  if (goal === undefined) return;
  event.preventDefault();
  goal.focus();
}

function goalOf(
  key: string,
  columns: readonly (readonly HTMLElement[])[],
  at: number,
  row: number,
): HTMLElement | undefined {
  if (key === "ArrowDown") return columns[at]?.[row + 1];
  if (key === "ArrowUp") return columns[at]?.[row - 1];
  const beside = key === "ArrowRight" ? columns[at + 1] : key === "ArrowLeft" ? columns[at - 1] : undefined;
  return beside?.[Math.min(row, beside.length - 1)];
}
