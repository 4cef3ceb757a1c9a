import { useRef, useState } from "preact/hooks";
import type { Day } from "../../../shared/zone.ts";
import { formats } from "../../data/session.ts";
import { channelName, nameOnPlatform } from "../../data/shared-data.ts";
import { Button } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { Bars } from "./bars.tsx";
import { type ChannelCounts, type DailyCounts, sum } from "./counts.ts";
import { Downloads, drawPlots } from "./downloads.tsx";
import { METRIC_NAMES, type Metric, shortly } from "./metrics.ts";
import { Part } from "./part.tsx";
import { countPosts } from "../../../shared/texts.ts";

const SHOWN_CHANNELS = 6;

interface ByDayProps {
  readonly published: DailyCounts;
  /** What is added up, where that is not the posts themselves. */
  readonly metric?: Metric;
  /** At which age of each post. */
  readonly age?: string;
}

/** What went live by day, or what it has of a metric: all together, then each channel on the same scale. */
export function PublishedByDay({ published, metric, age = "" }: ByDayProps) {
  const { days, totals, channels, posts } = published;
  const title = metric === undefined ? "Published by day" : `${METRIC_NAMES[metric]} by day`;
  const amount = (value: number, of: number): string =>
    metric === undefined ? countPosts(of) : `${value.toLocaleString("en")} ${metric} of ${countPosts(of)}`;
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const [isAll, setIsAll] = useState(false);
  const top = Math.max(4, ...totals);
  const laneTop = Math.max(2, ...channels.flatMap(({ counts }) => counts));
  const shown = isAll ? channels : channels.slice(0, SHOWN_CHANNELS);
  const day = pointed === null ? undefined : days[pointed];
  return (
    <Part
      title={title}
      basis={`${countPosts(posts)} on ${channels.length === 1 ? "one channel" : `${channels.length} channels`}${age === "" ? "" : `, ${age} after each`}`}
      actions={
        <Downloads
          title={title}
          rows={() => dayRows(published)}
          draw={() =>
            drawPlots(
              title,
              place.current,
              channels.map(({ accountId }) => nameOnPlatform(accountId)),
            )
          }
        />
      }
      aside={
        day === undefined
          ? ""
          : `${formats.value.shortDay(day)}: ${(totals[pointed ?? 0] ?? 0).toLocaleString("en")}`
      }
    >
      <div ref={place} class="stack">
        <Bars
          days={days}
          counts={totals}
          top={top}
          height={200}
          hasAxes
          onPoint={setPointed}
          label={`All channels: ${amount(sum(totals), posts)} in ${days.length} days, at most ${Math.max(...totals).toLocaleString("en")} a day. The table below has each day.`}
        />
        {channels.length > 1 && (
          <ul class="lanes">
            {shown.map((channel) => (
              <Lane
                key={channel.accountId}
                channel={channel}
                days={days}
                top={laneTop}
                pointed={pointed}
                onPoint={setPointed}
                amount={amount}
              />
            ))}
          </ul>
        )}
      </div>
      {channels.length > shown.length && (
        <div class="buttons">
          <Button isSmall onClick={() => setIsAll(true)}>
            Show {channels.length - shown.length} more channels
          </Button>
        </div>
      )}
      <DayTable published={published} title={title} />
    </Part>
  );
}

function dayRows({ days, channels, totals }: DailyCounts): readonly (readonly (string | number)[])[] {
  const head = ["day", ...channels.map(({ accountId }) => nameOnPlatform(accountId)), "all"];
  return [
    head,
    ...days.map((day, at) => [day, ...channels.map(({ counts }) => counts[at] ?? 0), totals[at] ?? 0]),
  ];
}

interface LaneProps {
  readonly channel: ChannelCounts;
  readonly days: readonly Day[];
  readonly top: number;
  readonly pointed: number | null;
  onPoint(at: number | null): void;
  /** In words. */
  amount(value: number, posts: number): string;
}

function Lane({ channel, days, top, pointed, onPoint, amount }: LaneProps) {
  const { accountId, counts, posts } = channel;
  const most = Math.max(...counts);
  return (
    <li>
      <ChannelLabel accountId={accountId} />
      <Bars
        days={days}
        counts={counts}
        top={top}
        height={40}
        hasAxes={false}
        onPoint={onPoint}
        label={`${channelName(accountId)}: ${amount(sum(counts), posts)}, at most ${most.toLocaleString("en")} a day.`}
      />
      <span class="lane-count">{shortly(pointed === null ? sum(counts) : (counts[pointed] ?? 0))}</span>
    </li>
  );
}

/** Days with a post. */
function DayTable({
  published: { days, channels, totals },
  title,
}: {
  readonly published: DailyCounts;
  readonly title: string;
}) {
  const rows = days.map((day, at) => ({ day, at })).filter(({ at }) => (totals[at] ?? 0) > 0);
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div class="table-place" tabIndex={0} role="group" aria-label={`${title}, as a table`}>
        <table>
          <caption class="unseen">{title} and channel. Days without anything are left out.</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {channels.map(({ accountId }) => (
                <th key={accountId} scope="col">
                  <ChannelLabel accountId={accountId} />
                </th>
              ))}
              <th scope="col">All</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ day, at }) => (
              <tr key={day}>
                <th scope="row">{formats.value.shortDay(day)}</th>
                {channels.map(({ accountId, counts }) => (
                  <td key={accountId}>{counts[at] ?? 0}</td>
                ))}
                <td>{totals[at] ?? 0}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
