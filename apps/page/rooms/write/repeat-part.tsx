import { Plus, Trash2 } from "lucide-preact";
import { clockTime } from "../../../shared/when.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { DayField, Field, TextField } from "../../../ui/field.tsx";
import type { Composer } from "./composer.ts";
import {
  fromDay,
  inWords,
  type RepeatForm,
  repeatProblems,
  turnsInWords,
  UNITS,
  WEEKDAYS,
} from "./repeat.ts";

/** The rule of a series. */
export function RepeatPart({ composer }: { readonly composer: Composer }) {
  const { repeat, caption } = composer.form.value;
  const set = (change: Partial<RepeatForm>): void =>
    composer.edit((before) => ({ ...before, repeat: { ...before.repeat, ...change } }));
  const problems = repeatProblems(repeat);
  const problemOf = (field: string): string | undefined => problems.find((one) => one.field === field)?.text;
  return (
    <div class="stack">
      <div class="row-fields">
        <TextField
          label="Every"
          error={problemOf("every")}
          type="number"
          min={1}
          max={366}
          value={repeat.every}
          onText={(text) => set({ every: text })}
        />
        <Field label="Unit">
          {(control) => (
            <select
              {...control}
              value={repeat.unit}
              onChange={({ currentTarget }) =>
                set({ unit: UNITS.find((unit) => unit === currentTarget.value) ?? repeat.unit })
              }
            >
              {UNITS.map((unit) => (
                <option key={unit} value={unit}>
                  {repeat.every === "1" ? unit : `${unit}s`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          label="At"
          error={problemOf("time")}
          type="time"
          value={repeat.time}
          onText={(text) => set({ time: text })}
        />
      </div>
      {repeat.unit === "week" && <Weekdays repeat={repeat} set={set} error={problemOf("days")} />}
      <div class="row-fields wider">
        <DayField
          label="From"
          error={problemOf("from")}
          type="date"
          value={repeat.from}
          onText={(text) => set(fromDay(repeat, text))}
        />
        <Field label="Ends">
          {(control) => (
            <select
              {...control}
              value={repeat.end}
              onChange={({ currentTarget: { value } }) =>
                set({ end: value === "until" ? "until" : value === "times" ? "times" : "never" })
              }
            >
              <option value="never">When you stop it</option>
              <option value="until">On a day</option>
              <option value="times">After a number of times</option>
            </select>
          )}
        </Field>
        {repeat.end === "until" && (
          <DayField
            label="Last day"
            error={problemOf("until")}
            type="date"
            min={repeat.from}
            value={repeat.until}
            onText={(text) => set({ until: text })}
          />
        )}
        {repeat.end === "times" && (
          <TextField
            label="Times"
            error={problemOf("times")}
            type="number"
            min={1}
            value={repeat.times}
            onText={(text) => set({ times: text })}
          />
        )}
      </div>
      {problems.length === 0 && <p class="muted">{inWords(repeat, clockTime)}.</p>}
      <Texts repeat={repeat} caption={caption} set={set} />
    </div>
  );
}

interface PartProps {
  readonly repeat: RepeatForm;
  set(change: Partial<RepeatForm>): void;
}

function Weekdays({ repeat, set, error }: PartProps & { readonly error: string | undefined }) {
  return (
    <fieldset class="plain">
      <legend>On</legend>
      <div class="segments">
        {WEEKDAYS.map(({ value, label }) => {
          const isChosen = repeat.days.includes(value);
          return (
            <label key={value} class={isChosen ? "segment chosen" : "segment"}>
              <input
                type="checkbox"
                checked={isChosen}
                onChange={() =>
                  set({
                    days: isChosen ? repeat.days.filter((day) => day !== value) : [...repeat.days, value],
                  })
                }
              />
              <span aria-hidden="true">{label.slice(0, 3)}</span>
              <span class="unseen">{label}</span>
            </label>
          );
        })}
      </div>
      {error !== undefined && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** Texts that take turns, instead of the post's own text. */
function Texts({ repeat, caption, set }: PartProps & { readonly caption: string }) {
  const { texts } = repeat;
  const put = (at: number, text: string): void =>
    set({ texts: texts.map((one, n) => (n === at ? text : one)) });
  return (
    <div class="stack tight">
      {texts.map((text, at) => (
        // What is written decides nothing about its place.
        <div key={at} class="beside top">
          <span class="muted place" aria-hidden="true">
            {at + 1}.
          </span>
          <textarea
            class="input grows"
            rows={2}
            dir="auto"
            aria-label={`Text ${at + 1}`}
            value={text}
            onInput={({ currentTarget }) => put(at, currentTarget.value)}
          />
          <IconButton
            isSmall
            label={`Remove text ${at + 1}`}
            onClick={() => set({ texts: texts.filter((_, n) => n !== at) })}
          >
            <Trash2 aria-hidden="true" />
          </IconButton>
        </div>
      ))}
      <div class="buttons">
        <Button
          isSmall
          kind="quiet"
          onClick={() => set({ texts: texts.length === 0 ? [caption, ""] : [...texts, ""] })}
        >
          <Plus aria-hidden="true" />
          {texts.length === 0 ? "Let texts take turns" : "One more text"}
        </Button>
      </div>
      {texts.length > 0 && <p class="muted note">{turnsInWords(texts.length)}</p>}
    </div>
  );
}
