import { useState } from "preact/hooks";
import type { Day } from "../../../shared/zone.ts";
import { formats } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { Button } from "../../ui/button.tsx";
import { ChannelLabel } from "../../ui/channel.tsx";
import { Bars } from "./bars.tsx";
import { type ChannelCounts, postsInWords, type Published } from "./counts.ts";
import { Part } from "./part.tsx";

const SHOWN_CHANNELS = 6;

/** What went live by day: all together, then each channel on the same scale. */
export function PublishedByDay({ published }: { readonly published: Published }) {
  const { days, totals, channels, posts } = published;
  const [pointed, setPointed] = useState<number | null>(null);
  const [isAll, setIsAll] = useState(false);
  const top = Math.max(4, ...totals);
  const laneTop = Math.max(2, ...channels.flatMap(({ counts }) => counts));
  const shown = isAll ? channels : channels.slice(0, SHOWN_CHANNELS);
  const day = pointed === null ? undefined : days[pointed];
  return (
    <Part
      title="Published by day"
      basis={`${postsInWords(posts)} on ${channels.length === 1 ? "one channel" : `${channels.length} channels`}`}
      aside={day === undefined ? "" : `${formats.value.shortDay(day)}: ${totals[pointed ?? 0] ?? 0}`}
    >
      <Bars
        days={days}
        counts={totals}
        top={top}
        height={200}
        hasAxes
        onPoint={setPointed}
        label={`All channels: ${postsInWords(posts)} in ${days.length} days, at most ${Math.max(...totals)} a day. The table below has each day.`}
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
            />
          ))}
        </ul>
      )}
      {channels.length > shown.length && (
        <div class="buttons">
          <Button isSmall onClick={() => setIsAll(true)}>
            Show {channels.length - shown.length} more channels
          </Button>
        </div>
      )}
      <DayTable published={published} />
    </Part>
  );
}

interface LaneProps {
  readonly channel: ChannelCounts;
  readonly days: readonly Day[];
  readonly top: number;
  readonly pointed: number | null;
  onPoint(at: number | null): void;
}

function Lane({ channel, days, top, pointed, onPoint }: LaneProps) {
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
        label={`${channelName(accountId)}: ${postsInWords(posts)}, at most ${most} a day.`}
      />
      <span class="lane-count">{pointed === null ? posts : (counts[pointed] ?? 0)}</span>
    </li>
  );
}

/** Days with a post. */
function DayTable({ published: { days, channels, totals } }: { readonly published: Published }) {
  const rows = days.map((day, at) => ({ day, at })).filter(({ at }) => (totals[at] ?? 0) > 0);
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div class="table-place" tabIndex={0} role="group" aria-label="Published by day, as a table">
        <table>
          <caption class="unseen">Published posts by day and channel. Days without one are left out.</caption>
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
