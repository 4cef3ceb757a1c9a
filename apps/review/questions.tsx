import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { DecideBar, type Decision } from "../features/draft/decide-bar.tsx";
import { isPast, isUndecided, obstacleOf } from "../features/draft/readiness.ts";
import { countOf } from "../features/draft/telling.ts";
import type { Draft } from "../shared/drafts.ts";
import { readWallTime } from "../shared/wall-time.ts";
import { Button } from "../ui/button.tsx";
import { type App, TITLE } from "./app.ts";
import { type State, when } from "./state.ts";

interface DecideProps {
  readonly app: App;
  readonly state: State;
  readonly draft: Draft;
}

const WORDS = { changes: "Ask for changes", discard: "Discard", stop: "End series" };

/** What a person may do, always in sight below the draft. */
export function Decide({ app, state, draft }: DecideProps) {
  const { abilities, drafts, busy, asking, cut } = state;
  const doing = busy.get(draft.id);
  const isOpen = isUndecided(draft);
  const next = isOpen ? undefined : drafts.find((one) => one.state === "waiting" && one.id !== draft.id);
  const isSeries = draft.state === "repeating";
  if (!abilities.callsTools || (!isOpen && !isSeries && next === undefined && doing === undefined))
    return null;
  const obstacle = isOpen ? (obstacleOf(draft) ?? (cut.has(draft.id) ? tellUnseen(draft) : null)) : null;
  return (
    <div id="decide">
      {doing !== undefined ? (
        <p class="muted">{doing}</p>
      ) : asking !== null ? (
        <Asked key={`${draft.id} ${asking}`} {...{ app, state, draft }} asking={asking} />
      ) : (
        <DecideBar
          draft={draft}
          words={isOpen && obstacle === null ? { ...WORDS, approve: "Approve" } : WORDS}
          isSmall
          decide={(what) => app.ask(what)}
          more={
            next !== undefined && (
              <Button isSmall dir="auto" title={next.title} onClick={() => app.select(next.id, TITLE)}>
                Next: {next.title}
              </Button>
            )
          }
        >
          {obstacle !== null && <p class="muted">{obstacle}</p>}
        </DecideBar>
      )}
    </div>
  );
}

/** What was not shown whole is no thing to agree to here. */
function tellUnseen({ id }: Draft): string {
  return `It cannot be approved here, because a part of it is not shown. Read and approve it on the command line: posthorn drafts --json, posthorn approve ${id}`;
}

function Asked({ app, state, draft, asking }: DecideProps & { readonly asking: Decision }) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [isInvalid, setInvalid] = useState(false);
  const complain = (sentence: string): void => {
    app.say(sentence);
    setInvalid(true);
    field.current?.focus();
  };
  if (asking === "changes")
    return (
      <Question
        app={app}
        asked="Ask for changes"
        answers={["Send back", "Not now"]}
        onYes={() => {
          const note = field.current?.value.trim() ?? "";
          if (note === "") complain("Say what to change.");
          else void app.decide(asking, { note });
        }}
      >
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
  if (asking !== "approve" || draft.repeat !== null || !isPast(draft, state.now)) {
    const [asked, told, ...answers] = wordsOf(asking, draft, state);
    return (
      <Question app={app} asked={asked} answers={answers} onYes={() => void app.decide(asking)}>
        <p>
          <strong>{asked}</strong> {told}
        </p>
      </Question>
    );
  }
  const asked = `Schedule ${countOf(draft.targets.length, "post")}?`;
  return (
    <Question
      app={app}
      asked={asked}
      answers={["Yes, schedule", "Not yet"]}
      onYes={() => {
        const wall = readWallTime(field.current?.value ?? "");
        if (wall === null) complain("Give a date and a time.");
        else void app.decide(asking, { scheduledAt: new Date(state.zone.toMs(wall)).toISOString() });
      }}
    >
      <p>
        <strong>{asked}</strong> The time has gone by. Give another for all.
      </p>
      <label for="time">New time ({state.zone.name})</label>
      <input id="time" ref={field} type="datetime-local" />
    </Question>
  );
}

type QuestionWords = readonly [asked: string, told: string, yes: string, no: string];

/** A question that a yes alone answers. */
function wordsOf(asking: Exclude<Decision, "changes">, draft: Draft, state: State): QuestionWords {
  if (asking === "discard")
    return ["Discard this draft?", "Nothing of it goes out.", "Yes, discard it", "Keep it"];
  if (asking === "stop")
    return ["End this series?", "Its waiting posts are cancelled.", "Yes, end it", "Let it go on"];
  if (draft.repeat !== null) return ["Start this series?", `${draft.repeat}.`, "Yes, start it", "Not yet"];
  const count = countOf(draft.targets.length, "post");
  const [at = null, ...others] = new Set(draft.targets.map(({ scheduledAt }) => scheduledAt));
  if (at === null && others.length === 0 && !draft.isNextSlot)
    return [`Publish ${count} now?`, "They go out at once.", "Yes, publish now", "Not yet"];
  const time =
    others.length > 0
      ? "At their own times."
      : at === null
        ? "In the next free slot of each channel."
        : `${when(state, at)} (${state.zone.name}).`;
  return [`Schedule ${count}?`, time, "Yes, schedule", "Not yet"];
}

interface QuestionProps {
  readonly app: App;
  readonly asked: string;
  readonly answers: readonly [yes: string, no: string];
  readonly children: ComponentChildren;
  onYes(): void;
}

/** A sandboxed page may open no dialog of the browser's. */
function Question({ app, asked, answers: [yes, no], children, onYes }: QuestionProps) {
  const root = useRef<HTMLDivElement>(null);
  // The focus goes to what is typed, else to what changes nothing.
  useLayoutEffect(
    () => root.current?.querySelector<HTMLElement>("input, textarea, button:last-of-type")?.focus(),
    [],
  );
  return (
    <div class="actions" role="group" aria-label={asked} ref={root}>
      {children}
      <Button kind="main" isSmall onClick={onYes}>
        {yes}
      </Button>
      <Button isSmall onClick={() => app.leave()}>
        {no}
      </Button>
    </div>
  );
}
