import { useRef } from "preact/hooks";
import { useLoad } from "../../data/load.ts";
import { formats } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { Bones, Problem } from "../../../ui/states.tsx";
import { dayOfRow, FEW_POSTS, HOURS, shadeOf } from "./counts.ts";
import { HourTable, hours } from "./hour-table.tsx";
import { Downloads, openCanvas } from "./downloads.tsx";
import { AGES, type Age, type HourCell, METRIC_NAMES, type Metric, shortly, weekCells } from "./metrics.ts";
import { Part, TooFew } from "./part.tsx";
import { countPosts } from "../../../shared/texts.ts";

/** An hour with fewer posts is hatched: what it shows may be chance. */
const FEW_IN_HOUR = 3;

interface WeekFiguresProps {
  readonly from: number;
  readonly to: number;
  readonly at: Age;
  readonly metric: Metric;
}

/** Which hours of the week did how well, each channel by its own clock. */
export function WeekFigures({ from, to, at, metric }: WeekFiguresProps) {
  const args = {
    by: "weekdayHour",
    metric,
    at,
    limit: 168,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
  const { data, error, again } = useLoad(
    (signal) => call("get_report", args, { signal }),
    JSON.stringify(args),
  );
  const title = `Usual ${METRIC_NAMES[metric].toLowerCase()} by hour of the week`;
  const { firstWeekday } = formats.value;
  const rows = data === null ? [] : weekCells(data, metric, firstWeekday);
  const names = rows.map((_, row) => formats.value.weekday(dayOfRow(row, firstWeekday)));
  const posts = rows.flat().reduce((all, one) => all + one.posts, 0);
  const place = useRef<HTMLDivElement>(null);
  const isDrawn = posts >= FEW_POSTS;
  return (
    <Part
      title={title}
      basis={`${countPosts(posts)}, ${AGES[at]} after each, in the time zone of each channel`}
      actions={
        isDrawn && (
          <Downloads
            title={title}
            rows={() => [
              ["from", ...names.flatMap((name) => [`${name} median`, `${name} posts`])],
              ...hourRows(rows),
            ]}
            draw={() => drawWeek(title, place.current, rows, names)}
          />
        )
      }
    >
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={4} label="The week is loading" />}
      {data !== null && !isDrawn && <TooFew posts={countPosts(posts)} few={FEW_POSTS} />}
      {isDrawn && (
        <>
          <div
            ref={place}
            class="week-map"
            role="img"
            aria-label={`${bestInWords(rows, names, metric)} The table below has each hour.`}
          >
            <span />
            {hours().map((hour) => (
              <span key={hour} class="hour">
                {hour}
              </span>
            ))}
            {rows.map((row, day) => [
              <span key={`day-${day}`} class="day">
                {names[day]}
              </span>,
              ...row.map((cell, hour) => (
                <span key={`${day}-${hour}`} class={classOf(cell, mostOf(rows))}>
                  {cell.median !== null && shortly(cell.median)}
                </span>
              )),
            ])}
          </div>
          <p class="note muted">
            {bestInWords(rows, names, metric)} Each cell is the median of its posts. Hatched ones rest on
            fewer than {FEW_IN_HOUR}.
          </p>
          <HourTable
            label={title}
            caption={`${title}, with how many posts each rests on. Hours without one are left out.`}
            names={names}
            isThere={(hour, day) => (rows[day]?.[hour]?.posts ?? 0) > 0}
            cell={(hour, day) => inCell(rows[day]?.[hour])}
          />
        </>
      )}
    </Part>
  );
}

type Rows = readonly (readonly HourCell[])[];

const isFew = ({ posts }: HourCell): boolean => posts > 0 && posts < FEW_IN_HOUR;

function mostOf(rows: Rows): number {
  return Math.max(1, ...rows.flat().map(({ median }) => median ?? 0));
}

function classOf(cell: HourCell, most: number): string {
  return `cell shade-${shadeOf(cell.median ?? 0, most)} ${isFew(cell) ? "few" : ""}`;
}

/** Of the hours that rest on enough posts. */
function bestInWords(rows: Rows, names: readonly string[], metric: Metric): string {
  const cells = rows.flatMap((row, day) => row.map((cell, hour) => ({ ...cell, day, hour })));
  const [best] = cells
    .filter(({ posts, median }) => posts >= FEW_IN_HOUR && median !== null)
    .sort((a, b) => (b.median ?? 0) - (a.median ?? 0));
  if (best === undefined) return `No hour has ${FEW_IN_HOUR} posts or more yet.`;
  const when = `${names[best.day] ?? ""} from ${formats.value.hour(best.hour)}`;
  return `Most ${metric} had posts on ${when}: a median of ${(best.median ?? 0).toLocaleString("en")}, of ${countPosts(best.posts)}.`;
}

function hourRows(rows: Rows): readonly (readonly (string | number | null)[])[] {
  return hours().map((hour) => [
    formats.value.hour(hour),
    ...rows.flatMap((row) => [row[hour]?.median ?? null, row[hour]?.posts ?? 0]),
  ]);
}

function inCell(cell: HourCell | undefined): string {
  if (cell === undefined || cell.median === null) return "–";
  return `${cell.median.toLocaleString("en")} (${cell.posts})`;
}

const CELL = { width: 40, height: 30 } as const;

/** The map as a picture, with its numbers. */
function drawWeek(
  title: string,
  place: HTMLElement | null,
  rows: Rows,
  names: readonly string[],
): HTMLCanvasElement | null {
  if (place === null) return null;
  const opened = openCanvas(title, place, { width: 48 + HOURS * CELL.width, height: 8 * CELL.height });
  if (opened === null) return null;
  const { canvas, pen, top, left } = opened;
  const cells = [...place.querySelectorAll(".cell")];
  const { color } = getComputedStyle(place);
  pen.textBaseline = "middle";
  for (const hour of hours()) pen.fillText(String(hour), left + 56 + hour * CELL.width, top + 10);
  for (const [day, row] of rows.entries()) {
    const y = top + (day + 1) * CELL.height;
    pen.fillStyle = color;
    pen.fillText(names[day] ?? "", left, y + 10);
    for (const [hour, cell] of row.entries()) {
      const { median } = cell;
      const seen = cells[day * HOURS + hour];
      if (seen === undefined) continue;
      const looks = getComputedStyle(seen);
      const x = left + 48 + hour * CELL.width;
      pen.fillStyle = looks.backgroundColor;
      pen.fillRect(x, y - 4, CELL.width - 2, CELL.height - 2);
      if (isFew(cell)) {
        pen.setLineDash([3, 3]);
        pen.strokeStyle = color;
        pen.strokeRect(x + 1, y - 3, CELL.width - 4, CELL.height - 4);
      }
      pen.fillStyle = looks.color;
      if (median !== null) pen.fillText(shortly(median), x + 4, y + 10);
    }
  }
  return canvas;
}
