import { formats } from "../../data/session.ts";
import { HOURS } from "./counts.ts";

export function hours(): readonly number[] {
  return Array.from({ length: HOURS }, (_, hour) => hour);
}

interface HourTableProps {
  readonly label: string;
  readonly caption: string;
  /** Of the days. */
  readonly names: readonly string[];
  /** Whether there is anything at that hour, on the day of that place. */
  isThere(hour: number, day: number): boolean;
  cell(hour: number, day: number): string | number;
}

/** A week by the hour as a table. Hours without anything are left out. */
export function HourTable({ label, caption, names, isThere, cell }: HourTableProps) {
  const shown = hours().filter((hour) => names.some((_name, day) => isThere(hour, day)));
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div class="table-place" tabIndex={0} role="group" aria-label={`${label}, as a table`}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((hour) => (
              <tr key={hour}>
                <th scope="row">{formats.value.hour(hour)}</th>
                {names.map((name, day) => (
                  <td key={name}>{cell(hour, day)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
