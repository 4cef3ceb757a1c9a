import { plural } from "../text/plain-text.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A span of time as people say it. Rounded up, so that it is never said to be shorter than it was. */
export function spanInWords(ms: number): string {
  if (ms <= SECOND) return "a second";
  const seconds = Math.ceil(ms / SECOND);
  if (seconds < 60) return plural(seconds, "second");
  const minutes = Math.ceil(ms / MINUTE);
  if (minutes < 60) return plural(minutes, "minute");
  const rest = minutes % 60;
  const hours = plural(Math.floor(minutes / 60), "hour");
  return rest === 0 ? hours : `${hours} ${plural(rest, "minute")}`;
}
