import { Check, MessageSquareText, PenLine, Trash2 } from "lucide-preact";
import type { RefObject } from "preact";
import { now } from "../../../shared/clock.ts";
import type { Draft } from "../../../shared/drafts.ts";
import { isPast, isUndecided, obstacleOf } from "../../../review/readiness.ts";
import { may, timezone, zone } from "../../data/session.ts";
import { longTime } from "../../data/when.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/states.tsx";
import type { ApprovalTime, Asking } from "./deciding.ts";
import { readLocalTime, tellApproval } from "./telling.ts";

interface DecideBarProps {
  readonly draft: Draft;
  readonly isBusy: boolean;
  /** Why the last decision was refused. */
  readonly refusal: string | null;
  readonly time: RefObject<HTMLInputElement>;
  ask(what: Asking): void;
  approve(at?: ApprovalTime): void;
  complain(sentence: string): void;
}

/** What a person may do about a draft, always in sight. */
export function DecideBar(props: DecideBarProps) {
  const { draft, refusal } = props;
  if (!may("publish")) return null;
  const isSeries = draft.state === "repeating";
  if (!isUndecided(draft) && !isSeries) return null;
  return (
    <div class="review-bar" role="group" aria-label="Decide">
      {refusal !== null && <Problem sentence={refusal} />}
      {isSeries ? (
        <div class="review-bar-row">
          <p>The series goes on until you end it.</p>
          <Button kind="danger" onClick={() => props.ask("stop")}>
            End the series
          </Button>
        </div>
      ) : (
        <Undecided {...props} />
      )}
    </div>
  );
}

function Undecided({ draft, isBusy, time, ask, approve, complain }: DecideBarProps) {
  const obstacle = obstacleOf(draft);
  const isLate = obstacle === null && isPast(draft, now());
  return (
    <div class="review-bar-row">
      {obstacle !== null ? (
        <p>{obstacle}</p>
      ) : isLate ? (
        <NewTime isBusy={isBusy} time={time} approve={approve} complain={complain} />
      ) : (
        <p>{tellApproval(draft, longTime)}</p>
      )}
      <div class="buttons">
        {obstacle === null && !isLate && (
          <Button kind="main" isBusy={isBusy} aria-keyshortcuts="a" onClick={() => approve()}>
            <Check aria-hidden="true" />
            Approve
            <Key letter="A" />
          </Button>
        )}
        <Button isBusy={isBusy} aria-keyshortcuts="c" onClick={() => ask("changes")}>
          <MessageSquareText aria-hidden="true" />
          Changes
          <Key letter="C" />
        </Button>
        <Button kind="quiet" isBusy={isBusy} aria-keyshortcuts="d" onClick={() => ask("discard")}>
          <Trash2 aria-hidden="true" />
          Discard
          <Key letter="D" />
        </Button>
        <ButtonLink kind="quiet" href={`/app/write?draft=${encodeURIComponent(draft.id)}`}>
          <PenLine aria-hidden="true" />
          Edit
        </ButtonLink>
      </div>
    </div>
  );
}

/** The time has gone by: another one, or the next free slots. */
function NewTime({
  isBusy,
  time,
  approve,
  complain,
}: Pick<DecideBarProps, "isBusy" | "time" | "approve" | "complain">) {
  const approveAt = (): void => {
    const local = readLocalTime(time.current?.value ?? "");
    if (local !== null) return approve({ scheduledAt: new Date(zone.value.toMs(local)).toISOString() });
    complain("Give a date and a time, then approve.");
    time.current?.focus();
  };
  return (
    <form
      class="review-time"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) approveAt();
      }}
    >
      <Field label={`Its time has gone by. When instead? (${timezone.value})`}>
        {(control) => <input {...control} ref={time} type="datetime-local" />}
      </Field>
      <div class="buttons">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Approve for then
        </Button>
        <Button isBusy={isBusy} onClick={() => approve({ slot: "next" })}>
          Next free slot
        </Button>
      </div>
    </form>
  );
}

export function Key({ letter }: { readonly letter: string }) {
  return (
    <kbd class="review-key" aria-hidden="true">
      {letter}
    </kbd>
  );
}
