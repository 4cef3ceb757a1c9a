import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** What would be lost by leaving, as it is asked about. */
export interface Loss {
  /** A question, as `Leave without saving?` */
  readonly question: string;
  readonly text: string;
  readonly yes: string;
  readonly no: string;
}

export const UNSAVED: Loss = {
  question: "Leave without saving?",
  text: "What you changed is not saved.",
  yes: "Leave",
  no: "Stay",
};

export const SHOWN_ONCE: Loss = {
  question: "Have you kept it?",
  text: "It is shown this once, and cannot be shown again.",
  yes: "Close",
  no: "Show it",
};

/** The dialog around a component: closing it loses only what is in it. */
export const SheetScope = createContext<symbol | null>(null);

/** All that would be lost by now. */
const losses = new Set<{ readonly loss: Loss; readonly sheet: symbol | null }>();
/** What must be saved before a sign-out. Each answers whether it saved everything. */
const savers = new Set<() => Promise<boolean>>();

/** The question that is open, what a yes does, and what would be lost by now. */
export const asked = signal<{ readonly loss: Loss; go(): void; now(): Loss | null } | null>(null);

/** What was asked about may be saved by now. Not before all parts are drawn: one may have taken another's place. */
function askNoMore(): void {
  queueMicrotask(() => {
    if (asked.value?.now() === null) asked.value = null;
  });
}

/** While there is something to lose, whatever leads away from it asks first. Null: nothing is lost. */
export function useLoss(loss: Loss | null, ofSheet?: symbol): void {
  const around = useContext(SheetScope);
  const sheet = ofSheet ?? around;
  useLayoutEffect(() => {
    if (loss === null) return undefined;
    const entry = { loss, sheet };
    losses.add(entry);
    return () => {
      losses.delete(entry);
      askNoMore();
    };
  }, [loss, sheet]);
}

/** What is written there is saved before one signs out. */
export function useSaver(save: (() => Promise<boolean>) | null): void {
  useLayoutEffect(() => {
    if (save === null) return undefined;
    savers.add(save);
    return () => void savers.delete(save);
  }, [save]);
}

/** Saves what is not saved yet. Answers whether all of it was. */
export async function saveAll(): Promise<boolean> {
  const answers = await Promise.all([...savers].map((save) => save()));
  return answers.every((isSaved) => isSaved);
}

/** What closing the dialog, or leaving all that is shown, would lose. */
export function lossIn(sheet: symbol | null): Loss | null {
  return [...losses].find((one) => sheet === null || one.sheet === sheet)?.loss ?? null;
}

/** Does it; asks first if something would be lost. The question goes with what it is about. */
export function leave(now: () => Loss | null, go: () => void): void {
  const loss = now();
  if (loss === null) go();
  else asked.value = { loss, go, now };
}
