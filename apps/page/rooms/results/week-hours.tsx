import { formats, timezone } from "../../data/session.ts";
import { dayOfRow, FEW_POSTS, shadeOf, type WeekHours } from "./counts.ts";
import { HourTable, hours } from "./hour-table.tsx";
import { Part, TooFew } from "./part.tsx";
import { countPosts } from "../../../shared/texts.ts";

/** When posts went live, by day of the week and hour. Each cell has its number, so it is read without colour. */
export function WhenMap({ week }: { readonly week: WeekHours }) {
  const { posts, rows, most } = week;
  const { firstWeekday } = formats.value;
  const names = rows.map((_, row) => formats.value.weekday(dayOfRow(row, firstWeekday)));
  return (
    <Part title="When posts went live" basis={`${countPosts(posts)}, times in ${timezone.value}`}>
      {posts < FEW_POSTS ? (
        <TooFew posts={countPosts(posts)} few={FEW_POSTS} />
      ) : (
        <>
          <div
            class="week-map"
            role="img"
            aria-label={`${peakInWords(week, names)} The table below has each hour.`}
          >
            <span />
            {hours().map((hour) => (
              <span key={hour} class="hour">
                {hour}
              </span>
            ))}
            {rows.map((row, at) => [
              <span key={`day-${at}`} class="day">
                {names[at]}
              </span>,
              ...row.map((count, hour) => (
                <span key={`${at}-${hour}`} class={`cell shade-${shadeOf(count, most)}`}>
                  {count > 0 && count}
                </span>
              )),
            ])}
          </div>
          <p class="note muted">
            {peakInWords(week, names)} This says when posts went out, not how well they did.
          </p>
          <HourTable
            label="When posts went live"
            caption="Published posts by hour and day of the week. Hours without one are left out."
            names={names}
            isThere={(hour, day) => (week.rows[day]?.[hour] ?? 0) > 0}
            cell={(hour, day) => week.rows[day]?.[hour] ?? 0}
          />
        </>
      )}
    </Part>
  );
}

function peakInWords({ peak, most }: WeekHours, names: readonly string[]): string {
  if (peak === null) return `No hour stands out: the most is ${countPosts(most)} in an hour.`;
  const from = formats.value.hour(peak.hour);
  return `Most went live on ${names[peak.row] ?? ""} from ${from}: ${countPosts(most)}.`;
}
