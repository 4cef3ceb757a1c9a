import { now } from "../../../shared/clock.ts";
import { channelName, findAccount } from "../../data/shared-data.ts";
import { timezone, zone } from "../../data/session.ts";
import { longTime } from "../../../shared/when.ts";
import { NextSlots } from "../../channel/next-slots.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { DayField } from "../../../ui/field.tsx";
import { pathOfChannel } from "../channels/paths.ts";
import type { Composer } from "./composer.ts";
import { atTime, type Form, slotless, timeProblem, type TimeChoice } from "./form.ts";
import { type Remark, slotlessInWords } from "./remarks.ts";
import { Remarks } from "./remarks.tsx";
import { RepeatPart } from "./repeat-part.tsx";
import { fromWall, toWall } from "../../../shared/wall-time.ts";

const WAYS = [
  { value: "at", label: "At a time" },
  { value: "slot", label: "Next free slot" },
  { value: "repeat", label: "Repeat" },
  { value: "now", label: "Now" },
] as const satisfies readonly { readonly value: TimeChoice; readonly label: string }[];

interface WhenPartProps {
  readonly composer: Composer;
  readonly remarks: readonly Remark[];
  /** Whether what is missing is said already. */
  readonly isTried: boolean;
}

/** When it goes out. */
export function WhenPart({ composer, remarks, isTried }: WhenPartProps) {
  const form = composer.form.value;
  const isPost = composer.post !== null;
  const ways = WAYS.filter(({ value }) =>
    isPost ? value === "at" || (value === "now" && composer.post?.status === "failed") : true,
  );
  const problem = timeProblem(form, zone.value, now());
  const without = slotless(form, hasSlots);
  // The card says it already, with the way out.
  const untold = remarks.filter(({ accountId }) => !without.includes(accountId));
  return (
    <fieldset class="card when">
      <legend class="unseen">When</legend>
      <h2 aria-hidden="true">When</h2>
      <div class="segments">
        {ways.map(({ value, label }) => (
          <label key={value} class={form.when === value ? "segment chosen" : "segment"}>
            <input
              type="radio"
              name="when"
              checked={form.when === value}
              onChange={() => composer.edit((before) => ({ ...before, when: value }))}
            />
            {label}
          </label>
        ))}
      </div>
      {form.when === "at" && <AtTime composer={composer} error={isTried ? problem : pastProblem(problem)} />}
      {form.when === "slot" && <Slots form={form} without={without} />}
      {form.when === "repeat" && <RepeatPart composer={composer} />}
      {form.when === "now" && (
        <p class="muted">It goes out as soon as {isPost ? "you send it" : "you publish it"}.</p>
      )}
      {form.when === "at" && problem !== null ? null : <Remarks remarks={untold} />}
    </fieldset>
  );
}

/** A time that has passed is said at once; a field that is empty only when it is needed. */
function pastProblem(problem: string | null): string | null {
  return problem?.includes("passed") === true ? problem : null;
}

function AtTime({ composer, error }: { readonly composer: Composer; readonly error: string | null }) {
  const { at } = composer.form.value;
  const ms = fromWall(at, zone.value);
  return (
    <DayField
      label="Day and time"
      help={`Time zone: ${timezone.value}`}
      error={error}
      type="datetime-local"
      required
      min={toWall(now(), zone.value)}
      value={at}
      onText={(text) => composer.edit((before) => atTime(before, text))}
      beside={ms !== null && <span class="muted note">{longTime(ms)}</span>}
    />
  );
}

export function hasSlots(accountId: string): boolean {
  return (findAccount(accountId)?.schedule?.slots ?? []).length > 0;
}

function Slots({ form, without }: { readonly form: Form; readonly without: readonly string[] }) {
  const ids = form.targets.flatMap(({ accountId, at }) => (at === null ? [accountId] : []));
  const [first] = without;
  if (first === undefined)
    return (
      <div class="muted">
        <p>Each channel takes the next time of its slots that is still free when it is scheduled.</p>
        <NextSlots accountIds={ids} />
      </div>
    );
  return (
    <div class="hint">
      <span>{slotlessInWords(without.map(channelName))}</span>
      <ButtonLink isSmall href={pathOfChannel(first)}>
        Set the times
      </ButtonLink>
    </div>
  );
}
