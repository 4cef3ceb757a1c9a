import { CalendarPlus, SearchX } from "lucide-preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { App } from "../../../calendar/app.ts";
import type { Opened } from "../../../calendar/options.ts";
import { daysOf, periodDrafts, periodPosts, type State, tellComing } from "../../../calendar/state.ts";
import type { Day } from "../../../shared/zone.ts";
import { type Address, useAddress } from "../../data/address.tsx";
import { may } from "../../data/session.ts";
import { accounts, postChanges, findAccount, offline, status } from "../../data/shared-data.ts";
import { PostView } from "../../post/post-view.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { complain, say } from "../../../ui/toasts.tsx";
import { DaySection, DaySheet, writeAddress } from "./day-tiles.tsx";
import { Filters } from "./plan-filters.tsx";
import { gridView, PlanGrid } from "./plan-grid.tsx";
import { PlanList } from "./plan-list.tsx";
import {
  addressOf,
  isFiltered,
  type PlanFilters,
  type PlanQuery,
  type PlanView,
  readQuery,
} from "./plan-query.ts";
import { ListBar, PeriodBar, ViewSwitch } from "./plan-toolbar.tsx";
import { draftAddress, slotAddress } from "./tile.tsx";
import { useNarrow } from "./use-narrow.ts";

/** What went out, what will, and what could. */
export function PlanRoom() {
  const address = useAddress();
  const query = useMemo(() => readQuery(address.query), [address.query]);
  const latest = useRef(query);
  latest.current = query;
  const [app, setApp] = useState<App | null>(null);
  const [state, setState] = useState<State | null>(null);
  const [round, setRound] = useState(0);
  /** Another place in the same history entry, but for a post: back closes it. */
  const change = (changes: Partial<PlanQuery>, isReplaced = true): void => {
    // The next change may come before this one is drawn.
    latest.current = { ...latest.current, ...changes };
    const to = addressOf(latest.current);
    if (isReplaced) address.write(to);
    else address.go(to);
  };
  const refresh = (): void => {
    setRound((one) => one + 1);
    void app?.reload();
  };
  useFreshness(refresh);
  const open = (id: string, day: Day | null = latest.current.day): void => change({ post: id, day }, false);
  // Drafts are not in the list: the room for them is Review.
  const showView = (view: PlanView): void =>
    change({
      view,
      day: state?.day ?? query.day,
      states: query.states.filter((one) => view !== "list" || one !== "draft"),
    });
  return (
    <Room title="Plan" actions={<ViewSwitch view={query.view} onView={showView} />}>
      <div class="plan-bar">
        {query.view === "list" ? (
          <ListBar query={query} onChange={change} />
        ) : (
          state !== null && app !== null && <PeriodBar state={state} app={app} />
        )}
        <Filters
          filters={query}
          labels={[...new Set(state?.calendar.drafts.flatMap(({ labels }) => labels) ?? [])]}
          isList={query.view === "list"}
          onChange={change}
        />
      </div>
      {isMissing(query) ? (
        <Empty
          icon={<SearchX aria-hidden="true" />}
          title="There is no such channel"
          text="A channel of this address is not there, or you may not see it."
        >
          <Button onClick={() => change({ channels: [] })}>Show all channels</Button>
        </Empty>
      ) : query.view === "list" ? (
        <PlanList query={query} round={round} onOpen={open} />
      ) : (
        <Period
          query={query}
          latest={latest}
          address={address}
          app={app}
          state={state}
          onApp={setApp}
          onState={setState}
          onOpen={open}
          onQuery={change}
        />
      )}
      {query.post !== null && (
        <PostView id={query.post} onClose={() => change({ post: null })} onChanged={refresh} />
      )}
    </Room>
  );
}

/** Whether the plan is narrowed to a channel that is not there. */
function isMissing({ channels }: PlanQuery): boolean {
  return accounts.value !== null && channels.some((id) => findAccount(id) === null);
}

/** Looks anew when the numbers of posts say that something happened. */
function useFreshness(refresh: () => void): void {
  const counts = JSON.stringify(status.value?.counts ?? null);
  useEffect(() => {
    if (postChanges.value > 0) refresh();
  }, [postChanges.value]);
  const seen = useRef(counts);
  useEffect(() => {
    const isFirst = seen.current === "null";
    if (seen.current === counts) return;
    seen.current = counts;
    if (!isFirst) refresh();
  }, [counts]);
}

interface PeriodProps {
  readonly query: PlanQuery;
  /** As the address has it by now, also before that is drawn. */
  readonly latest: { readonly current: PlanQuery };
  readonly address: Address;
  readonly app: App | null;
  readonly state: State | null;
  onApp(app: App | null): void;
  onState(state: State): void;
  onOpen(id: string, day?: Day): void;
  onQuery(changes: Partial<PlanQuery>, isReplaced?: boolean): void;
}

function Period({ query, latest, address, app, state, onApp, onState, onOpen, onQuery }: PeriodProps) {
  const isNarrow = useNarrow();
  const [day, setDay] = useState<Day | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isLoaded = state !== null && state.calendar.to >= state.calendar.from;
  useLayoutEffect(() => {
    // The address was changed from elsewhere: by a link, or by going back.
    if (app === null || app.state === null) return;
    const wanted = wantedIn(latest.current, app.state);
    if (!isShown(wanted, app.state)) void app.show(wanted.view, wanted.day);
  }, [query.view, query.day]);
  const takeState = (next: State): void => {
    // Only what came: where it does not come, the one before is shown again.
    const isThere = !next.isLoading && next.calendar.to >= next.calendar.from;
    if (isThere && !isShown(wantedIn(latest.current, next), next))
      onQuery({ view: next.view, day: next.day });
    onState(next);
    if (next.calendar.to >= next.calendar.from) setProblem(null);
  };
  const openWhat = (opened: Opened): void => {
    if (opened.kind === "post") return onOpen(opened.id, opened.day);
    if (opened.kind === "slot") return may("draft") ? address.go(slotAddress(opened)) : undefined;
    if (opened.kind === "day") return isNarrow ? undefined : setDay(opened.day);
    const draft = app?.state?.calendar.drafts.find(({ id }) => id === opened.id);
    if (draft !== undefined) address.go(draftAddress(draft));
  };
  useEffect(() => {
    if (offline.value === null && problem !== null) void app?.reload();
  }, [offline.value === null]);
  const told = {
    onOpen: openWhat,
    onChange: takeState,
    onMoved: (_: unknown, sentence: string, undo: () => void) => say(sentence, undo),
    onHint: say,
    onComplaint: (sentence: string) => (isLoaded ? complain(sentence) : setProblem(sentence)),
  };
  return (
    <>
      {!isLoaded &&
        (problem === null ? (
          <Bones rows={6} label="Loading the plan" />
        ) : (
          <Problem sentence={problem} onRetry={() => void app?.reload()} />
        ))}
      {isLoaded && !state.isLoading && <EmptyPeriod state={state} filters={query} onQuery={onQuery} />}
      <PlanGrid
        query={query}
        isNarrow={isNarrow}
        isHidden={!isLoaded || (isNarrow && query.view === "week")}
        told={told}
        onReady={onApp}
      />
      {isLoaded && isNarrow && <NarrowDays state={state} onOpen={onOpen} />}
      {isLoaded && day !== null && (
        <DaySheet state={state} day={day} onOpen={onOpen} onClose={() => setDay(null)} />
      )}
    </>
  );
}

/** The part of the plan that an address asks for. */
function wantedIn(query: PlanQuery, { zone, now }: State): Pick<State, "view" | "day"> {
  return { view: gridView(query), day: query.day ?? zone.read(now).day };
}

/** Whether it is the same view with the same day chosen. */
function isShown(wanted: Pick<State, "view" | "day">, { view, day }: Pick<State, "view" | "day">): boolean {
  return wanted.view === view && wanted.day === day;
}

function NarrowDays({ state, onOpen }: { readonly state: State; onOpen(id: string): void }) {
  const days = state.view === "week" ? daysOf(state) : [state.day];
  return (
    <>
      {days.map((day) => (
        <DaySection key={day} state={state} day={day} onOpen={onOpen} />
      ))}
    </>
  );
}

function EmptyPeriod({
  state,
  filters,
  onQuery,
}: {
  readonly state: State;
  readonly filters: PlanFilters;
  onQuery(changes: Partial<PlanQuery>): void;
}) {
  if (periodPosts(state).length + periodDrafts(state).length > 0) return null;
  if (isFiltered(filters))
    return (
      <Empty
        icon={<SearchX aria-hidden="true" />}
        title={`Nothing fits in this ${state.view}`}
        text="The filters leave nothing to show."
      >
        <Button onClick={() => onQuery({ channels: [], states: [], label: "" })}>Show all</Button>
      </Empty>
    );
  const coming = tellComing(state);
  return (
    <Empty
      icon={<CalendarPlus aria-hidden="true" />}
      title={`${coming.length === 0 ? "Nothing is planned" : "No post is made yet"} in this ${state.view}`}
      text={coming.join(" ") || "Your posts, drafts and free slots are shown here."}
    >
      {may("draft") && (
        <ButtonLink href={writeAddress(state, state.day)} kind="main">
          Write a post
        </ButtonLink>
      )}
    </Empty>
  );
}
