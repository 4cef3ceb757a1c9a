import { useSignalEffect } from "@preact/signals";
import { CalendarPlus, SearchX } from "lucide-preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ComingLine } from "../../../features/calendar/coming-line.tsx";
import { Calendar } from "../../../features/calendar/calendar.tsx";
import {
  daysOf,
  isInPeriod,
  periodDrafts,
  periodPosts,
  type State,
  comingLines,
} from "../../../features/calendar/state.ts";
import type { Day } from "../../../shared/zone.ts";
import { useAddress } from "../../data/address.tsx";
import { useLookAgain } from "../../data/look-again.ts";
import { may, timezone } from "../../data/session.ts";
import { accounts, postChanges, findAccount, status } from "../../data/shared-data.ts";
import { seriesAddress } from "../../post/series-part.tsx";
import { PostView } from "../../post/post-view.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { DaySection, DaySheet, writeAddress } from "./day-tiles.tsx";
import { Filters } from "./plan-filters.tsx";
import { createPlan, isLoaded, type Plan } from "./plan-app.tsx";
import { PlanList } from "./plan-list.tsx";
import { learnedRows } from "./use-posts.ts";
import {
  addressOf,
  isFiltered,
  isMisread,
  type PlanFilters,
  type PlanQuery,
  type PlanView,
  readQuery,
} from "./plan-query.ts";
import { ListBar, PeriodBar, ViewSwitch } from "./plan-toolbar.tsx";
import { useNarrow } from "./use-narrow.ts";
import { offline } from "../../../shared/reach.ts";

/** What went out, what will, and what could. */
export function PlanRoom() {
  const address = useAddress();
  const query = useMemo(() => readQuery(address.query), [address.query]);
  useEffect(() => {
    if (isMisread(address.query, query)) address.write(addressOf(query));
  }, [query]);
  const [round, setRound] = useState(0);
  const refresh = (): void => setRound((one) => one + 1);
  /** Another place in the same history entry, but for a post: back closes it. */
  const change = (changes: Partial<PlanQuery>, isReplaced = true): void => {
    // The next change may come before this one is drawn.
    latest.current = { ...latest.current, query: { ...latest.current.query, ...changes } };
    const to = addressOf(latest.current.query);
    if (isReplaced) address.write(to);
    else address.go(to);
  };
  const open = (id: string, day: Day | null = latest.current.query.day): void =>
    change({ post: id, day }, false);
  const latest = useRef({ query, open, go: address.go });
  latest.current = { query, open, go: address.go };
  const [plan] = useState(() => createPlan(() => latest.current));
  const { state } = plan.app;
  useFreshness(refresh);
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
          state !== null && !isMissing(query) && <PeriodBar state={state} app={plan.app} />
        )}
        <Filters
          filters={query}
          labels={[...new Set(state?.calendar.drafts.flatMap(({ labels }) => labels) ?? [])]}
          isList={query.view === "list"}
          onChange={change}
        />
      </div>
      {timezone.value !== Intl.DateTimeFormat().resolvedOptions().timeZone && (
        <p class="muted note">Times are in the time zone {timezone.value}.</p>
      )}
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
        <Period plan={plan} query={query} latest={latest} round={round} onOpen={open} onQuery={change} />
      )}
      {query.post !== null && (
        <PostView id={query.post} round={round} onClose={() => change({ post: null })} onChanged={refresh} />
      )}
    </Room>
  );
}

/** Whether the plan is narrowed to a channel that is not there. */
function isMissing({ channels }: PlanQuery): boolean {
  return accounts.value !== null && channels.some((id) => findAccount(id) === null);
}

/** Looks anew when the numbers of posts say that something happened, and now and then. */
function useFreshness(refresh: () => void): void {
  useLookAgain(refresh);
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
  readonly plan: Plan;
  readonly query: PlanQuery;
  /** As the address has it by now, also before that is drawn. */
  readonly latest: { readonly current: { readonly query: PlanQuery } };
  /** Another one asks anew. */
  readonly round: number;
  onOpen(id: string): void;
  onQuery(changes: Partial<PlanQuery>, isReplaced?: boolean): void;
}

function Period({ plan, query, latest, round, onOpen, onQuery }: PeriodProps) {
  const { app, day, problem } = plan;
  const state = isLoaded(app.state) ? app.state : null;
  const isNarrow = useNarrow();
  useShown(plan, { query, latest, round, isNarrow, onQuery });
  return (
    <>
      {state === null &&
        (problem.value === null ? (
          <Bones rows={6} label="Loading the plan" />
        ) : (
          <Problem sentence={problem.value} onRetry={() => void app.reload()} />
        ))}
      {state !== null && !state.isLoading && <EmptyPeriod state={state} filters={query} onQuery={onQuery} />}
      <Calendar
        app={app}
        class="plan-grid"
        isHidden={state === null || (isNarrow && query.view === "week")}
      />
      {state !== null && isNarrow && <NarrowDays state={state} onOpen={onOpen} />}
      {state !== null && day.value !== null && (
        <DaySheet state={state} day={day.value} onOpen={onOpen} onClose={() => (day.value = null)} />
      )}
    </>
  );
}

/** Keeps what the calendar shows and the address at one, and looks again when that may have changed. */
function useShown(
  { app, day, problem }: Plan,
  {
    query,
    latest,
    round,
    isNarrow,
    onQuery,
  }: Omit<PeriodProps, "plan" | "onOpen"> & { readonly isNarrow: boolean },
): void {
  useLayoutEffect(() => app.takeOptions({ hasDots: isNarrow }), [isNarrow]);
  useLayoutEffect(() => {
    day.value = null;
    problem.value = null;
    void app.start(timezone.value, gridView(query), query.day);
  }, []);
  useLayoutEffect(() => {
    // The address was changed from elsewhere: by a link, or by going back.
    if (app.state === null) return;
    const wanted = wantedIn(latest.current.query, app.state);
    if (!isShown(wanted, app.state)) void app.show(wanted.view, wanted.day);
  }, [query.view, query.day]);
  useSignalEffect(() => app.takePosts(learnedRows.value));
  useSignalEffect(() => {
    const { state } = app;
    // Only what came: where it does not come, the one before is shown again.
    if (!isLoaded(state)) return;
    problem.value = null;
    const wanted = wantedIn(latest.current.query, state);
    if (state.isLoading || isShown(wanted, state)) return;
    // Back leads to the month or week before, and past days that were chosen in it.
    const isOther = wanted.view === state.view && !isInPeriod(state, wanted.day);
    onQuery({ view: state.view, day: state.day }, !isOther);
  });
  useEffect(() => {
    if (offline.value === null && problem.value !== null) void app.reload();
  }, [offline.value === null]);
  const asked = JSON.stringify([query.channels, query.states, query.label]);
  const loaded = useRef({ asked, round });
  useEffect(() => {
    const { current: before } = loaded;
    loaded.current = { asked, round };
    if (before.asked !== asked) void app.reload();
    else if (before.round !== round) void app.reload(true);
  }, [asked, round]);
}

function gridView({ view }: PlanQuery): "month" | "week" {
  return view === "week" ? "week" : "month";
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
  const coming = comingLines(state);
  return (
    <Empty
      icon={<CalendarPlus aria-hidden="true" />}
      title={`${coming.length === 0 ? "Nothing is planned" : "No post is made yet"} in this ${state.view}`}
      text={
        coming.length === 0
          ? "Your posts, drafts and free slots are shown here."
          : coming.map((sentence) => (
              <ComingLine
                key={`${sentence.draftId}${sentence.after}`}
                sentence={sentence}
                address={seriesAddress}
              />
            ))
      }
    >
      {may("draft") && (
        <ButtonLink href={writeAddress(state, state.day)} kind="main">
          Write a post
        </ButtonLink>
      )}
    </Empty>
  );
}
