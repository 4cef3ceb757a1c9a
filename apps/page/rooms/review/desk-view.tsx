import { ChevronLeft, ChevronRight } from "lucide-preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isUndecided } from "../../../review/readiness.ts";
import { may } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { shortTime } from "../../data/when.ts";
import { useWork } from "../../data/use-work.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { UNSAVED } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { DecideBar, Key } from "./decide-bar.tsx";
import { actionOf } from "./deciding.ts";
import { DraftView } from "./draft-view.tsx";
import type { Item } from "./item.ts";
import { countOf, tellTimeShortly } from "./telling.ts";
import { type Desk, looks, useDesk } from "./use-desk.ts";

interface DeskViewProps {
  /** Those that are gone through one after another. */
  readonly items: readonly Item[];
  whenDecided(item: Item): void;
}

/** Drafts one after another, with what a person decides about each. */
export function DeskView({ items, whenDecided }: DeskViewProps) {
  const desk = useDesk(items, whenDecided);
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
        <DraftView
          key={item.shown.id}
          item={item}
          before={desk.before}
          isMarked={isMarked}
          setMarked={setMarked}
          heading={desk.heading}
        />
        <DecideBar
          draft={item.shown}
          isBusy={desk.isBusy}
          refusal={desk.refusal}
          time={desk.time}
          ask={desk.ask}
          approve={desk.approve}
          complain={desk.complain}
        />
      </div>
      <Questions item={item} desk={desk} />
    </div>
  );
}

/** The list at the side, and on a small screen how far one is. */
function DraftNav({ items, desk }: { readonly items: readonly Item[]; readonly desk: Desk }) {
  const { at } = desk;
  return (
    <nav class="review-nav" aria-label="Drafts, one by one">
      <div class="review-pager">
        <IconButton
          isSmall
          label="Previous draft"
          aria-keyshortcuts="k"
          disabled={at <= 0}
          onClick={() => desk.go(items[at - 1])}
        >
          <ChevronLeft aria-hidden="true" />
        </IconButton>
        <span>
          {at + 1} of {items.length}
        </span>
        <IconButton
          isSmall
          label="Next draft"
          aria-keyshortcuts="j"
          disabled={at >= items.length - 1}
          onClick={() => desk.go(items[at + 1])}
        >
          <ChevronRight aria-hidden="true" />
        </IconButton>
        <span class="review-keys note muted" aria-hidden="true">
          <Key letter="K" /> <Key letter="J" /> to go
        </span>
      </div>
      <ul class="review-list">
        {items.map((item) => (
          <li key={item.shown.id}>
            <button
              type="button"
              aria-current={item.shown.id === desk.item?.shown.id ? "true" : undefined}
              onClick={() => desk.go(item)}
            >
              <span class="title" dir="auto">
                {item.shown.title}
              </span>
              <span class="muted note">
                {tellTimeShortly(item.shown, shortTime)} · {countOf(item.shown.targets.length, "channel")}
              </span>
              <Freshness item={item} />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Freshness({ item: { shown } }: { readonly item: Item }) {
  const before = looks.baseOf(shown.id);
  if (before !== null && before.revision === shown.revision) return null;
  return <span class="review-fresh">{before === null ? "New" : "Changed"}</span>;
}

/** What is asked before it is done. */
function Questions({ item, desk }: { readonly item: Item; readonly desk: Desk }) {
  const { asking } = desk;
  const close = (): void => desk.ask(null);
  if (asking === "changes") return <ChangesSheet desk={desk} onClose={close} />;
  if (asking === "discard")
    return (
      <Ask
        question="Discard this draft?"
        text="Nothing of it goes out. It stays to be read under Decided."
        yes="Discard"
        no="Keep it"
        isDanger
        onYes={() => desk.decide("discard")}
        onClose={close}
      />
    );
  if (asking === "stop")
    return (
      <Ask
        question="End this series?"
        text="Its waiting posts are cancelled, and no more are made. What is published stays."
        yes="End the series"
        no="Let it go on"
        isDanger
        onYes={() => desk.decide("stop")}
        onClose={close}
      />
    );
  if (asking !== "approve") return null;
  const channels = item.shown.targets.map(({ accountId }) => channelName(accountId)).join(", ");
  return (
    <Ask
      question={`Publish ${countOf(item.shown.targets.length, "post")} now?`}
      text={`What goes out at once is public, and cannot be taken back here. Channels: ${channels}.`}
      yes="Publish now"
      no="Not yet"
      onYes={() => desk.decide("approve")}
      onClose={close}
    />
  );
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
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void sendBack();
        }}
      >
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
      </form>
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
