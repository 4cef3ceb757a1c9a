import { dueNow, followPosts } from "../../channel/follow-posts.ts";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../../../shared/clock.ts";
import { useAddress } from "../../data/address.tsx";
import { type Decision, isPast, obstacleOf } from "../../../features/draft/readiness.ts";
import { loadStatus } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { longTime } from "../../../shared/when.ts";
import { useRefusal } from "../../../ui/use-work.ts";
import { say, sayWith } from "../../../ui/toasts.tsx";
import { CallError } from "../../data/wire.ts";
import { type DraftSnapshot, snapshotOf } from "../../../features/draft/changes.ts";
import type { ApprovalTime } from "./deciding.ts";
import { type Item, loadItem } from "./item.ts";
import { DraftSnapshots } from "./draft-snapshots.ts";
import { goesOutAtOnce, approvalResult } from "../../../features/draft/draft-words.ts";
import { sentenceOf } from "../../../shared/texts.ts";

export const snapshots = new DraftSnapshots(localStorage);

const CONFLICT = 409;

const SAID = {
  changes: "It is back with its writer, with your words.",
  discard: "The draft is discarded.",
  stop: "The series is ended.",
} as const;

/** What is on the screen, and what a person does with it. */
export interface Desk {
  readonly item: Item | null;
  readonly before: DraftSnapshot | null;
  /** Its place among those that are gone through, from 0. */
  readonly at: number;
  readonly asking: Decision | null;
  readonly isBusy: boolean;
  readonly refusal: string | null;
  /** What was changed while it was on the screen. */
  readonly notice: string | null;
  readonly heading: RefObject<HTMLHeadingElement>;
  readonly time: RefObject<HTMLInputElement>;
  go(to: Item | undefined): void;
  ask(what: Decision | null): void;
  /** Whether something is asked, or under way: keys wait for it. */
  isOccupied(): boolean;
  /** Asks first where it would be public at once. */
  approve(at?: ApprovalTime): void;
  /** Rejects with the server's sentence. */
  decide(what: Decision, more?: DecisionMore): Promise<void>;
  complain(sentence: string): void;
  showNewer(newer: Item): void;
}

type DecisionMore = ApprovalTime | { readonly note: string } | Record<string, never>;

/** `onDecided`: what is shown after a decision, with the draft as it is then. */
export function useDesk(items: readonly Item[], onDecided: (item: Item) => void): Desk {
  const { query, write, visit } = useAddress();
  const [shownItem, setShownItem] = useState<Item | null>(null);
  const [asking, setAsking] = useState<Decision | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [refusal, setRefusal] = useRefusal();
  const [notice, setNotice] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const time = useRef<HTMLInputElement>(null);
  const wantsFocus = useRef(false);
  // Known at once, where the screen follows a moment later: a letter typed in between decides nothing.
  const occupied = useRef({ isAsked: false, isBusy: false });

  const wanted = items.find(({ shown }) => shown.id === query["draft"]) ?? items[0] ?? null;
  // What is on the screen stays as it was seen, until it is decided or left.
  const item = shownItem !== null && shownItem.shown.id === wanted?.shown.id ? shownItem : wanted;
  const id = item?.shown.id ?? null;
  const revision = item?.shown.revision ?? 0;

  useEffect(() => {
    setShownItem(item);
    if (item !== null) snapshots.record(snapshotOf(item.raw));
    if (wantsFocus.current) heading.current?.focus({ preventScroll: true });
    wantsFocus.current = false;
  }, [id, revision]);

  const ask = (what: Decision | null): void => {
    occupied.current.isAsked = what !== null;
    setAsking(what);
  };
  const clear = (): void => {
    ask(null);
    setRefusal(null);
    setNotice(null);
  };
  const showNewer = (newer: Item, why: string | null): void => {
    clear();
    if (item !== null) snapshots.compareWith(snapshotOf(item.raw));
    wantsFocus.current = true;
    setShownItem(newer);
    setNotice(why);
  };
  const go = (to: Item | undefined): void => {
    if (to === undefined || to.shown.id === id) return;
    clear();
    wantsFocus.current = true;
    const more = new URLSearchParams({ ...query, draft: to.shown.id });
    write(`/app/review?${more.toString()}`);
    window.scrollTo({ top: 0 });
  };

  const decide = async (what: Decision, more: DecisionMore = {}): Promise<void> => {
    if (item === null || occupied.current.isBusy) return;
    const { raw } = item;
    occupied.current.isBusy = true;
    setIsBusy(true);
    setRefusal(null);
    try {
      const { draft } = await call("decide_draft", {
        id: raw.id,
        revision: raw.revision,
        decision: what,
        ...more,
      });
      clear();
      snapshots.forget(raw.id);
      void loadStatus();
      showResult(what, draft, visit);
      wantsFocus.current = true;
      onDecided(item);
    } catch (error) {
      const newer = await newerOf(error, item);
      if (newer === null) throw new Error(sentenceOf(error), { cause: error });
      showNewer(
        newer,
        "Nothing was done: the draft was changed while you looked. This is the new one. Look at it, then decide.",
      );
    } finally {
      occupied.current.isBusy = false;
      setIsBusy(false);
    }
  };

  return {
    item,
    before: item === null ? null : snapshots.baseOf(item.shown.id),
    at: items.findIndex(({ shown }) => shown.id === id),
    asking,
    isBusy,
    refusal,
    notice,
    heading,
    time,
    go,
    decide,
    complain: setRefusal,
    showNewer: (newer) => showNewer(newer, null),
    ask,
    isOccupied: () => occupied.current.isAsked || occupied.current.isBusy,
    approve(at) {
      if (item === null || occupied.current.isBusy || obstacleOf(item.shown) !== null) return;
      if (at === undefined && isPast(item.shown, now())) return time.current?.focus();
      if (at === undefined && goesOutAtOnce(item.shown, now())) return ask("approve");
      decide("approve", at ?? {}).catch((error: unknown) => setRefusal(sentenceOf(error)));
    },
  };
}

/** The draft as it is now, where a decision was refused because it is another than the one that was seen. */
async function newerOf(error: unknown, { shown }: Item): Promise<Item | null> {
  if (!(error instanceof CallError) || error.status !== CONFLICT) return null;
  const fresh = await loadItem(shown.id).catch(() => null);
  return fresh === null || fresh.shown.revision === shown.revision ? null : fresh;
}

function showResult(what: Decision, draft: Item["raw"] | undefined, visit: (url: string) => void): void {
  if (what !== "approve") return say(SAID[what]);
  const { posts = [], repeat = null } = draft ?? {};
  const [first] = posts;
  const due = dueNow(posts);
  if (due.length > 0) followPosts(due);
  if (due.length > 0 && due.length === posts.length) return;
  const times = posts.map(({ scheduledAt }) => Date.parse(scheduledAt));
  const told = approvalResult(repeat !== null, times, now(), longTime);
  if (first === undefined) return say(told);
  sayWith(told, "Show in plan", () => visit(`/app/plan?post=${encodeURIComponent(first.id)}`));
}
