import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { DecideButtons } from "../features/draft/decide-buttons.tsx";
import { choicesFor, type Decision, isPast, isUndecided, obstacleOf } from "../features/draft/readiness.ts";
import { countOf } from "../shared/texts.ts";
import { now } from "../shared/clock.ts";
import type { Draft } from "../shared/drafts.ts";
import { fromWall, wallProblem } from "../shared/wall-time.ts";
import { longTime, timezone, zone } from "../shared/when.ts";
import { Button } from "../ui/button.tsx";
import * as review from "./review.ts";

const WORDS = { approve: "Approve", changes: "Ask for changes", discard: "Discard", stop: "End series" };

/** What a person may do, always in sight below the draft. */
export function Decide({ draft }: { readonly draft: Draft }) {
  const doing = review.busy.value.get(draft.id);
  const asking = review.asking.value;
  const { drafts = [], cut } = review.page.value ?? {};
  const isOpen = isUndecided(draft);
  const unseen = isOpen && cut?.has(draft.id) === true ? cutInWords(draft) : null;
  const obstacle = isOpen ? (obstacleOf(draft) ?? unseen) : null;
  const choices = choicesFor(draft, obstacle === null);
  const next = isOpen ? undefined : drafts.find(({ id, state }) => state === "waiting" && id !== draft.id);
  if (!review.host.abilities.callsTools || (choices.length === 0 && next === undefined)) return null;
  return (
    <div id="decide">
      {doing !== undefined ? (
        <p class="muted">{doing}</p>
      ) : asking === null ? (
        <div class="decide-row">
          {obstacle !== null && <p class="muted">{obstacle}</p>}
          <div class="buttons">
            <DecideButtons
              choices={choices}
              words={WORDS}
              isSmall
              decide={(what) => (review.asking.value = what)}
            />
            {next !== undefined && (
              <Button isSmall dir="auto" title={next.title} onClick={() => review.select(next.id, true)}>
                Next: {next.title}
              </Button>
            )}
          </div>
        </div>
      ) : asking === "changes" ? (
        <Changes />
      ) : asking === "approve" && isPast(draft, now()) ? (
        <NewTime draft={draft} />
      ) : (
        <Question words={wordsOf(asking, draft)} onYes={() => void review.decide(asking)} />
      )}
    </div>
  );
}

/** A draft that is not shown whole cannot be approved here. */
function cutInWords({ id }: Draft): string {
  return `It cannot be approved here, because a part of it is not shown. Read and approve it on the command line: posthorn drafts --json, posthorn approve ${id}`;
}

/** `text`: after the question; empty if a field says it. */
type QuestionWords = readonly [question: string, text: string, yes: string, no: string];

function wordsOf(asking: Exclude<Decision, "changes">, draft: Draft): QuestionWords {
  const { targets, repeat, isNextSlot } = draft;
  if (asking === "discard")
    return ["Discard this draft?", "Nothing of it goes out.", "Yes, discard it", "Keep it"];
  if (asking === "stop")
    return ["End this series?", "Its waiting posts are cancelled.", "Yes, end it", "Let it go on"];
  if (repeat !== null) return ["Start this series?", `${repeat}.`, "Yes, start it", "Not yet"];
  const count = countOf(targets.length, "post");
  const [at = null, ...others] = new Set(targets.map(({ scheduledAt }) => scheduledAt));
  const schedule = (told: string): QuestionWords => [`Schedule ${count}?`, told, "Yes, schedule", "Not yet"];
  if (isPast(draft, now())) return schedule("The time has gone by. Give another for all.");
  if (others.length > 0) return schedule("At their own times.");
  if (at !== null) return schedule(`${longTime(at)} (${timezone.value}).`);
  if (isNextSlot) return schedule("In the next free slot of each channel.");
  return [`Publish ${count} now?`, "They go out at once.", "Yes, publish now", "Not yet"];
}

interface QuestionProps {
  readonly words: QuestionWords;
  readonly children?: ComponentChildren;
  onYes(): void;
}

/** A sandboxed page may open no dialog of the browser's. The focus goes to what is typed, else to what changes nothing. */
function Question({ words: [asked, told, yes, no], children, onYes }: QuestionProps) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => root.current?.querySelector<HTMLElement>("input, textarea, button:last-of-type")?.focus(),
    [],
  );
  return (
    <div class="actions" role="group" aria-label={asked} ref={root}>
      {told !== "" && (
        <p>
          <strong>{asked}</strong> {told}
        </p>
      )}
      {children}
      <Button kind="main" isSmall onClick={onYes}>
        {yes}
      </Button>
      <Button isSmall onClick={review.leave}>
        {no}
      </Button>
    </div>
  );
}

function Changes() {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isInvalid, setInvalid] = useState(false);
  const send = (): void => {
    const note = field.current?.value.trim() ?? "";
    if (note !== "") return void review.decide("changes", { note });
    review.said.value = "Say what to change.";
    setInvalid(true);
    field.current?.focus();
  };
  return (
    <Question words={["Ask for changes", "", "Send back", "Not now"]} onYes={send}>
      <label for="note">What should change?</label>
      <textarea
        id="note"
        ref={field}
        rows={3}
        dir="auto"
        maxLength={2_000}
        required
        aria-invalid={isInvalid || undefined}
      />
    </Question>
  );
}

/** A past time must be replaced. */
function NewTime({ draft }: { readonly draft: Draft }) {
  const field = useRef<HTMLInputElement>(null);
  const approve = (): void => {
    const value = field.current?.value ?? "";
    const at = fromWall(value, zone.value);
    if (at !== null) return void review.decide("approve", { scheduledAt: new Date(at).toISOString() });
    review.said.value = wallProblem(value) ?? "";
    field.current?.focus();
  };
  return (
    <Question words={wordsOf("approve", draft)} onYes={approve}>
      <label for="time">New time ({timezone.value})</label>
      <input id="time" ref={field} type="datetime-local" />
    </Question>
  );
}
