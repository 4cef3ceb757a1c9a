import { PenLine } from "lucide-preact";
import { useState } from "preact/hooks";
import { now } from "../../../shared/clock.ts";
import { fromWall, wallProblem } from "../../../shared/wall-time.ts";
import { DecideButtons } from "../../../features/draft/decide-buttons.tsx";
import { choicesFor, isPast, isUndecided, obstacleOf } from "../../../features/draft/readiness.ts";
import { approvalInWords } from "../../../features/draft/draft-words.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { DayField, Form } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/states.tsx";
import { may, timezone, zone } from "../../data/session.ts";
import { longTime } from "../../../shared/when.ts";
import type { Item } from "./item.ts";
import type { Desk } from "./use-desk.ts";

const WORDS = { approve: "Approve", changes: "Changes", discard: "Discard", stop: "End the series" };

/** What a person may do about a draft, always in sight. */
export function DeskBar({ item: { shown: draft }, desk }: { readonly item: Item; readonly desk: Desk }) {
  const isOpen = isUndecided(draft);
  const obstacle = isOpen ? obstacleOf(draft) : "The series goes on until you end it.";
  const isLate = obstacle === null && isPast(draft, now());
  const choices = choicesFor(draft, obstacle === null && !isLate);
  if (!may("publish") || choices.length === 0) return null;
  return (
    <div class="review-bar" role="group" aria-label="Decide">
      {desk.refusal !== null && <Problem sentence={desk.refusal} />}
      <div class="decide-row">
        {isLate ? <NewTime desk={desk} /> : <p>{obstacle ?? approvalInWords(draft, longTime)}</p>}
        <div class="buttons">
          <DecideButtons
            choices={choices}
            words={WORDS}
            isBusy={desk.isBusy}
            hasKeys
            decide={(what) => (what === "approve" ? desk.approve() : desk.ask(what))}
          />
          {isOpen && (
            <ButtonLink kind="quiet" href={`/app/write?draft=${encodeURIComponent(draft.id)}`}>
              <PenLine aria-hidden="true" />
              Edit
            </ButtonLink>
          )}
        </div>
      </div>
    </div>
  );
}

/** The time has gone by: another one, or the next free slots. */
function NewTime({ desk: { isBusy, time, approve, complain } }: { readonly desk: Desk }) {
  const [value, setValue] = useState("");
  const approveAt = (): void => {
    const at = fromWall(value, zone.value);
    if (at !== null) return approve({ scheduledAt: new Date(at).toISOString() });
    complain(`${wallProblem(value) ?? ""} Then approve.`);
    time.current?.focus();
  };
  return (
    <Form
      class="review-time"
      onSubmit={() => {
        if (!isBusy) approveAt();
      }}
    >
      <DayField
        label={`Its time has gone by. When instead? (${timezone.value})`}
        type="datetime-local"
        input={time}
        value={value}
        onText={setValue}
      />
      <div class="buttons">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Approve for then
        </Button>
        <Button isBusy={isBusy} onClick={() => approve({ slot: "next" })}>
          Next free slot
        </Button>
      </div>
    </Form>
  );
}
