import { CalendarSearch } from "lucide-preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ComingLine } from "../../../features/calendar/coming-line.tsx";
import { comingSentence, type ComingSentence } from "../../../features/calendar/coming.ts";
import { readCalendar } from "../../../features/calendar/posts.ts";
import { now } from "../../../shared/clock.ts";
import { jsonOf } from "../../../shared/json.ts";
import { seriesAddress } from "../../post/series-part.tsx";
import { useLoad } from "../../data/load.ts";
import { call } from "../../data/tools.ts";
import { formats, zone } from "../../data/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { DayHeading } from "./day-tiles.tsx";
import type { PlanQuery } from "./plan-query.ts";
import { PostTile } from "./tile.tsx";
import { usePosts } from "./use-posts.ts";

/** The posts by day, more of them on scrolling. A new `round` reloads. */
export function PlanList({
  query,
  round,
  onOpen,
}: {
  readonly query: PlanQuery;
  readonly round: number;
  onOpen(id: string): void;
}) {
  const { posts, cursor, error, isLoading, more } = usePosts(query, round);
  const days = useMemo(
    () => [...Map.groupBy(posts, ({ scheduledAt }) => zone.value.read(scheduledAt).day)],
    [posts, zone.value],
  );
  if (isLoading && posts.length === 0) return <Bones rows={6} label="Loading the posts" />;
  if (error !== null && posts.length === 0) return <Problem sentence={error} onRetry={more} />;
  if (posts.length === 0)
    return (
      <>
        <NoDrafts />
        <NoPosts query={query} />
        <SeriesAhead query={query} round={round} />
      </>
    );
  return (
    <div class="plan-list">
      <NoDrafts />
      {days.map(([day, ones]) => (
        <section key={day} class="plan-day" style={{ "--rows": ones.length }}>
          <DayHeading day={day} name={formats.value.longDay(day)} />
          <div class="plan-tiles">
            {ones.map((post) => (
              <PostTile key={post.id} post={post} onOpen={onOpen} />
            ))}
          </div>
        </section>
      ))}
      {error !== null && <Problem sentence={error} onRetry={more} />}
      <SeriesAhead query={query} round={round} />
      {cursor !== null && error === null && <MoreAtEnd isLoading={isLoading} onMore={more} />}
    </div>
  );
}

/** The month shows them too. */
function NoDrafts() {
  return (
    <p class="muted note">
      Only posts are listed here. Drafts are <a href="/app/review?show=written">under Review</a>.
    </p>
  );
}

function NoPosts({ query }: { readonly query: PlanQuery }) {
  const isFiltered = query.channels.length + query.states.length > 0 || query.label !== "";
  const text =
    query.search !== ""
      ? "No post has all these words, or words that begin with them, in its title, text, labels or note. Try fewer words, or look at the latest posts."
      : isFiltered
        ? "No post fits. Take a filter away, or look at the latest ones."
        : query.isUpcoming
          ? "No post is planned from today on. Look at the latest ones, or write one."
          : "There is none yet. Write one.";
  return <Empty icon={<CalendarSearch aria-hidden="true" />} title="No posts here" text={text} />;
}

/** How far ahead series are named that have no posts there yet. */
const AHEAD_MS = 92 * 86_400_000;

/** What series will bring. Without it they seem to end where their posts do. */
function SeriesAhead({ query, round }: { readonly query: PlanQuery; readonly round: number }) {
  const { channels, states, label, search, isUpcoming } = query;
  const isNamed = isUpcoming && label === "" && (states.length === 0 || states.includes("scheduled"));
  const asked = JSON.stringify([isNamed, channels, round]);
  const { data } = useLoad((signal) => (isNamed ? loadAhead(channels, signal) : Promise.resolve([])), asked);
  if (data === null || data.length === 0) return null;
  if (search !== "")
    return (
      <p class="muted note">Only posts are searched, and series whose posts are not made yet are not.</p>
    );
  return (
    <section class="plan-day" aria-label="Series">
      {data.map((sentence) => (
        <p key={sentence.draftId} class="muted note">
          <ComingLine sentence={sentence} address={seriesAddress} />
        </p>
      ))}
    </section>
  );
}

async function loadAhead(
  channels: PlanQuery["channels"],
  signal: AbortSignal,
): Promise<readonly ComingSentence[]> {
  const args = {
    from: zone.value.read(now()).day,
    to: zone.value.read(now() + AHEAD_MS).day,
    limit: 1,
    ...(channels.length > 0 && { accountId: channels }),
  };
  const { series = [] } = readCalendar(jsonOf(await call("show_calendar", args, { signal }))) ?? {};
  return series
    .filter(({ coming }) => coming.length > 0)
    .map((one) =>
      comingSentence(
        one,
        one.coming.map((at) => zone.value.read(at).day),
        (day) => formats.value.shortDay(day),
      ),
    );
}

/** Loads on when its place comes into view; it can be pressed too. */
function MoreAtEnd({ isLoading, onMore }: { readonly isLoading: boolean; onMore(): void }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null) return undefined;
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && onMore(), {
      rootMargin: "600px",
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [onMore]);
  return (
    <div ref={end} class="plan-more">
      <Button isBusy={isLoading} onClick={onMore}>
        {isLoading ? "Loading…" : "Show more"}
      </Button>
    </div>
  );
}
