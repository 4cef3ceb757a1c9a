import { Plus, X } from "lucide-preact";
import { jsonOf } from "../../../shared/json.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import type { Field } from "./fields.ts";
import { type PollForm, readPoll } from "./poll.ts";

interface PollFieldProps {
  readonly field: Field;
  readonly value: unknown;
  /** Which channels take it. */
  readonly takers: string;
  onChange(value: unknown): void;
}

const DAY_HOURS = 24;

/** Those that platforms have in common. */
const DURATIONS = [
  { hours: 1, label: "1 hour" },
  { hours: 6, label: "6 hours" },
  { hours: DAY_HOURS, label: "1 day" },
  { hours: 3 * DAY_HOURS, label: "3 days" },
  { hours: 7 * DAY_HOURS, label: "7 days" },
  { hours: 14 * DAY_HOURS, label: "14 days" },
];

/** A poll: its answers, and how long it is open. The text above asks. */
export function PollField({ field, value, takers, onChange }: PollFieldProps) {
  const poll = readPoll(value);
  const { options, hours, multiple = false } = poll;
  const { maxOptions, maxLength, takesMultiple } = pollLimits(field);
  const change = (more: Partial<PollForm>): void => onChange({ ...poll, ...more });
  const isKnown = DURATIONS.some((one) => one.hours === hours);
  return (
    <fieldset class="plain poll-field">
      <legend>Poll{takers}</legend>
      <p class="help">The text asks. Give two answers or more.</p>
      <ol class="poll-options">
        {options.map((option, at) => (
          // Answers have no name but their place.
          <li key={at}>
            <input
              class="input"
              type="text"
              dir="auto"
              aria-label={`Answer ${at + 1}`}
              placeholder={`Answer ${at + 1}`}
              maxLength={maxLength}
              value={option}
              onInput={({ currentTarget }) =>
                change({ options: options.map((one, index) => (index === at ? currentTarget.value : one)) })
              }
            />
            {options.length > 2 && (
              <IconButton
                isSmall
                label={`Remove answer ${at + 1}`}
                onClick={() => change({ options: options.filter((_one, index) => index !== at) })}
              >
                <X aria-hidden="true" />
              </IconButton>
            )}
          </li>
        ))}
      </ol>
      <div class="buttons">
        {options.length < maxOptions && (
          <Button isSmall kind="quiet" onClick={() => change({ options: [...options, ""] })}>
            <Plus aria-hidden="true" />
            Answer
          </Button>
        )}
        <label class="inline">
          Open for{" "}
          <select
            class="input"
            value={String(hours)}
            onChange={({ currentTarget }) => change({ hours: Number(currentTarget.value) })}
          >
            {!isKnown && <option value={String(hours)}>{hours} hours</option>}
            {DURATIONS.map((one) => (
              <option key={one.hours} value={String(one.hours)}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        {takesMultiple && (
          <label class="inline">
            <input
              type="checkbox"
              checked={multiple}
              onChange={({ currentTarget }) => change({ multiple: currentTarget.checked })}
            />{" "}
            Several may be chosen
          </label>
        )}
        <Button isSmall kind="quiet" onClick={() => onChange(undefined)}>
          <X aria-hidden="true" />
          No poll
        </Button>
      </div>
    </fieldset>
  );
}

/** Of the first channel that takes it. What another one does not take, it says below. */
function pollLimits({ schema }: Field) {
  const properties = jsonOf(schema["properties"]);
  const options = jsonOf(properties["options"]);
  const { maxItems } = options;
  const { maxLength } = jsonOf(options["items"]);
  return {
    maxOptions: typeof maxItems === "number" ? maxItems : 4,
    maxLength: typeof maxLength === "number" ? maxLength : undefined,
    takesMultiple: Object.hasOwn(properties, "multiple"),
  };
}
