import { ChartNoAxesColumn } from "lucide-preact";
import { useMemo, useState } from "preact/hooks";
import { useLoad } from "../../data/load.ts";
import { zone } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { countByDay } from "./counts.ts";
import { loadFigures, type LoadedFigures } from "./load-figures.ts";
import {
  AGES,
  type Age,
  type Figures,
  isAge,
  knownMetrics,
  METRIC_NAMES,
  type Metric,
  usualMetric,
} from "./metrics.ts";
import { PublishedByDay } from "./published.tsx";
import { RankedPosts } from "./ranked-posts.tsx";
import { WeekFigures } from "./week-figures.tsx";

interface FiguresPartProps {
  readonly days: readonly string[];
}

/** What platforms told of the posts, at the same age of each. */
export function FiguresPart({ days }: FiguresPartProps) {
  const [age, setAge] = useState<Age>("24h");
  const [wanted, setWanted] = useState<Metric | null>(null);
  const from = zone.value.toMs({ day: days[0] ?? "", minutes: 0 });
  const to = zone.value.toMs({ day: days.at(-1) ?? "", minutes: 24 * 60 - 1 });
  const { data, error, again } = useLoad(
    (signal) => loadFigures({ from, to, at: age }, signal),
    `${from} ${to} ${age}`,
  );
  const posts = data?.posts ?? [];
  const known = knownMetrics(posts);
  const metric = known.some((one) => one.metric === wanted) ? wanted : usualMetric(posts);
  return (
    <section class="stack" aria-label="What platforms tell of posts">
      <div class="figure-choices">
        <label>
          <span>Figure</span>
          <select
            class="input"
            value={metric ?? ""}
            disabled={known.length === 0}
            onChange={({ currentTarget: { value } }) =>
              setWanted(known.find((one) => one.metric === value)?.metric ?? null)
            }
          >
            {known.length === 0 && <option value="">None yet</option>}
            {known.map((one) => (
              <option key={one.metric} value={one.metric}>
                {METRIC_NAMES[one.metric]} ({one.posts})
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>After</span>
          <select
            class="input"
            value={age}
            onChange={({ currentTarget: { value } }) => isAge(value) && setAge(value)}
          >
            {Object.entries(AGES).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={5} label="Figures are loading" />}
      {data !== null && metric === null && <NothingKnown age={AGES[age]} />}
      {metric !== null && <Answers posts={posts} metric={metric} age={age} days={days} span={{ from, to }} />}
      {data !== null && <UnknownFigures loaded={data} />}
    </section>
  );
}

function NothingKnown({ age }: { readonly age: string }) {
  return (
    <Empty
      icon={<ChartNoAxesColumn aria-hidden="true" />}
      title="No figures yet"
      text={`What a platform tells of a post is written down 1 hour, 24 hours, 7 days and 30 days after it went live. Nothing is known ${age} after a post of these days.`}
    />
  );
}

interface AnswersProps {
  readonly posts: readonly Figures[];
  readonly metric: Metric;
  readonly age: Age;
  readonly days: readonly string[];
  readonly span: { readonly from: number; readonly to: number };
}

function Answers({ posts, metric, age, days, span }: AnswersProps) {
  const published = useMemo(() => {
    const having = posts.flatMap(({ accountId, at, values }) => {
      const value = values[metric];
      return value === undefined ? [] : [{ accountId, at, value }];
    });
    return countByDay(having, days, zone.value);
  }, [posts, metric, days, zone.value]);
  return (
    <>
      <PublishedByDay published={published} metric={metric} age={AGES[age]} />
      <WeekFigures {...span} at={age} metric={metric} />
      <RankedPosts posts={posts} metric={metric} at={age} />
    </>
  );
}

/** What is missing, once for each channel. */
function UnknownFigures({ loaded: { unavailable, isCut } }: { readonly loaded: LoadedFigures }) {
  if (unavailable.length === 0 && !isCut) return null;
  return (
    <ul class="note muted unknown">
      {isCut && <li>Older posts of this time are not drawn here.</li>}
      {unavailable.map(({ accountId, metric, reason }) => (
        <li key={accountId}>
          No {metric} of {channelName(accountId)}: {reason}
        </li>
      ))}
    </ul>
  );
}
