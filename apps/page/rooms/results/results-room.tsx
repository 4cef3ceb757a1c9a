import { ChartNoAxesColumn, PenLine } from "lucide-preact";
import { useMemo, useState } from "preact/hooks";
import { latenessInWords } from "../../data/lateness.ts";
import { useLoad } from "../../data/load.ts";
import { formats, may, zone } from "../../data/session.ts";
import { status } from "../../data/shared-data.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { ChannelFigures } from "./channel-figures.tsx";
import { countByDay, countByWeekHour, lastDays } from "./counts.ts";
import { loadPublished, type LivePosts } from "./load-published.ts";
import { FiguresPart } from "./figures-part.tsx";
import { Part } from "./part.tsx";
import { PublishedByDay } from "./published.tsx";
import { Suggestions } from "./suggestions.tsx";
import { WhenMap } from "./week-hours.tsx";
import { countPosts } from "../../../shared/texts.ts";

const SPANS = [30, 90] as const;
type Span = (typeof SPANS)[number];

/** What went out, and when. Each part rests on one answer, so that figures of posts can stand beside these. */
export function ResultsRoom() {
  const [span, setSpan] = useState<Span>(30);
  const today = zone.value.read(Date.now()).day;
  const days = useMemo(() => lastDays(today, span), [today, span]);
  const first = days[0] ?? today;
  const { data, error, again } = useLoad(
    (signal) => loadPublished(zone.value.toMs({ day: first, minutes: 0 }), signal),
    `${first} ${zone.value.name}`,
  );
  return (
    <Room
      title="Results"
      lead="What went live, and what came of it."
      actions={<SpanChoice span={span} onChange={setSpan} />}
    >
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={5} label="Results are loading" />}
      {data !== null && <Answers live={data} days={days} />}
      <Suggestions />
      <ChannelFigures from={first} to={today} />
    </Room>
  );
}

function SpanChoice({ span, onChange }: { readonly span: Span; onChange(span: Span): void }) {
  return (
    <fieldset class="choices spans">
      <legend class="unseen">How far back</legend>
      <div class="segments">
        {SPANS.map((one) => (
          <label key={one}>
            <input type="radio" name="span" checked={one === span} onChange={() => onChange(one)} />
            <span>{one} days</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Answers({ live, days }: { readonly live: LivePosts; readonly days: readonly string[] }) {
  const published = useMemo(() => countByDay(live.posts, days, zone.value), [live, days]);
  const week = useMemo(
    () => countByWeekHour(live.posts, zone.value, formats.value.firstWeekday),
    [live, zone.value],
  );
  if (published.posts === 0) return <NothingYet days={days.length} />;
  return (
    <>
      <FiguresPart days={days} />
      {live.isCut && (
        <p class="hint">
          These are the latest {countPosts(live.posts.length)}. Older ones are not counted here.
        </p>
      )}
      <PublishedByDay published={published} />
      <WhenMap week={week} />
      {status.value !== null && (
        <Part title="Punctuality" basis={countPosts(status.value.lateness.sampleSize)}>
          <p>{latenessInWords(status.value.lateness)}</p>
        </Part>
      )}
    </>
  );
}

function NothingYet({ days }: { readonly days: number }) {
  return (
    <Empty
      icon={<ChartNoAxesColumn aria-hidden="true" />}
      title="Nothing went live yet"
      text={`No post was published in the last ${days} days. What goes out is counted here by day, hour and channel.`}
    >
      {may("draft") && (
        <ButtonLink href="/app/write" kind="main">
          <PenLine aria-hidden="true" />
          New post
        </ButtonLink>
      )}
    </Empty>
  );
}
