import { useLayoutEffect, useState } from "preact/hooks";
import { Key } from "../../../features/draft/decide-buttons.tsx";
import { DraftItems, DraftPager } from "../../../features/draft/draft-items.tsx";
import { isUndecided } from "../../../features/draft/readiness.ts";
import { timeInShort } from "../../../features/draft/draft-words.ts";
import { may } from "../../data/session.ts";
import { AskToSend } from "../../post/post-questions.tsx";
import { shortTime } from "../../../shared/when.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { Form, Field } from "../../../ui/field.tsx";
import { UNSAVED } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { DeskBar } from "./decide-bar.tsx";
import { actionOf } from "./deciding.ts";
import type { Item } from "./item.ts";
import { ItemView } from "./item-view.tsx";
import { type Desk, snapshots, useDesk } from "./use-desk.ts";
import { countOf } from "../../../shared/texts.ts";

interface DeskViewProps {
  /** Those that are gone through one after another. */
  readonly items: readonly Item[];
  onDecided(item: Item): void;
}

/** Drafts one after another, with what a person decides about each. */
export function DeskView({ items, onDecided }: DeskViewProps) {
  const desk = useDesk(items, onDecided);
  const [isMarked, setMarked] = useState(true);
  useKeys(items, desk);
  const { item } = desk;
  if (item === null) return null;
  const latest = items[desk.at];
  return (
    <div class={items.length > 1 ? "review-desk with-list" : "review-desk"}>
      {items.length > 1 && <DraftNav items={items} desk={desk} />}
      <div class="review-main">
        {desk.notice !== null && (
          <p class="hint" role="alert">
            {desk.notice}
          </p>
        )}
        {latest !== undefined && latest.shown.revision > item.shown.revision && (
          <div class="hint" role="status">
            <span>This draft was changed while you looked.</span>
            <Button isSmall onClick={() => desk.showNewer(latest)}>
              Show the new one
            </Button>
          </div>
        )}
        <ItemView
          key={item.shown.id}
          item={item}
          before={desk.before}
          isMarked={isMarked}
          setMarked={setMarked}
          heading={desk.heading}
        />
        <DeskBar item={item} desk={desk} />
      </div>
      <Questions item={item} desk={desk} />
    </div>
  );
}

/** The list at the side, and on a small screen how far one is. */
function DraftNav({ items, desk }: { readonly items: readonly Item[]; readonly desk: Desk }) {
  return (
    <nav class="review-nav" aria-label="Drafts, one by one">
      <div class="review-pager">
        <DraftPager at={desk.at} count={items.length} hasKeys go={(to) => desk.go(items[to])} />
        <span class="review-keys note muted" aria-hidden="true">
          <Key letter="K" /> <Key letter="J" /> to go
        </span>
      </div>
      <DraftItems
        drafts={items.map(({ shown }) => shown)}
        selected={desk.item?.shown.id ?? null}
        go={(id) => desk.go(items.find(({ shown }) => shown.id === id))}
        renderFacts={(draft) => (
          <>
            <span class="muted note">
              {timeInShort(draft, shortTime)} · {countOf(draft.targets.length, "channel")}
            </span>
            <Freshness draft={draft} />
          </>
        )}
      />
    </nav>
  );
}

function Freshness({ draft: { id, revision } }: { readonly draft: Item["shown"] }) {
  const before = snapshots.baseOf(id);
  if (before !== null && before.revision === revision) return null;
  return <span class="review-fresh">{before === null ? "New" : "Changed"}</span>;
}

const QUESTIONS = {
  discard: {
    question: "Discard this draft?",
    text: "Nothing of it goes out. It stays to be read under Decided.",
    yes: "Discard",
    no: "Keep it",
    isDanger: true,
  },
  stop: {
    question: "End this series?",
    text: "Its waiting posts are cancelled, and no more are made. What is published stays.",
    yes: "End the series",
    no: "Let it go on",
    isDanger: true,
  },
} as const;

/** What is asked before it is done. */
function Questions({ item: { shown }, desk }: { readonly item: Item; readonly desk: Desk }) {
  const { asking } = desk;
  const close = (): void => desk.ask(null);
  if (asking === null) return null;
  if (asking === "changes") return <ChangesSheet desk={desk} onClose={close} />;
  const onYes = (): Promise<void> => desk.decide(asking);
  const accountIds = shown.targets.map(({ accountId }) => accountId);
  if (asking === "approve") return <AskToSend {...{ accountIds, onYes }} onClose={close} />;
  return <Ask {...QUESTIONS[asking]} onYes={onYes} onClose={close} />;
}

function ChangesSheet({ desk, onClose }: { readonly desk: Desk; onClose(): void }) {
  const [note, setNote] = useState("");
  const { isBusy, error, setError, run } = useWork();
  const sendBack = async (): Promise<void> => {
    if (note.trim() === "") return setError("Say what should change, so that the writer knows.");
    if (await run(() => desk.decide("changes", { note: note.trim() }))) onClose();
  };
  return (
    <Sheet title="Ask for changes" loss={note.trim() === "" ? null : UNSAVED} onClose={onClose}>
      <Form class="stack" onSubmit={sendBack}>
        <Field
          label="What should change?"
          help="The draft goes back to its writer with these words. Nothing goes out."
          error={error}
        >
          {(control) => (
            <textarea
              {...control}
              autofocus
              rows={4}
              maxLength={2_000}
              dir="auto"
              value={note}
              onInput={({ currentTarget }) => setNote(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void sendBack();
              }}
            />
          )}
        </Field>
        <div class="sheet-foot">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit" isBusy={isBusy}>
            Send back
          </Button>
        </div>
      </Form>
    </Sheet>
  );
}

/** The whole review by keys. They do nothing while someone types or is asked. */
function useKeys(items: readonly Item[], desk: Desk): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const { target } = event;
      const isTyping =
        (target instanceof Element &&
          target.closest("input, textarea, select, [contenteditable]") !== null) ||
        document.querySelector("dialog[open]") !== null ||
        desk.isOccupied();
      const action = event.defaultPrevented ? null : actionOf(event, isTyping);
      if (action === null) return;
      const shown = desk.item?.shown;
      const mayDecide = may("publish") && shown !== undefined && isUndecided(shown);
      if (action === "next") desk.go(items[desk.at + 1]);
      else if (action === "previous") desk.go(items[desk.at - 1]);
      else if (!mayDecide) return;
      else if (action === "approve") desk.approve();
      else desk.ask(action);
      event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
}
