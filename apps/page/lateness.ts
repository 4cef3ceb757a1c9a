import type { Status } from "../../src/domain/health/status.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Below this there is nothing to say of half and of nearly all posts. */
const FEW_POSTS = 20;

/** How late posts went live, in sentences, with how many posts that rests on. */
export function latenessInWords({ p50Ms, p95Ms, maxMs, sampleSize, days }: Status["lateness"]): string {
  if (sampleSize === 0 || p50Ms === null || p95Ms === null || maxMs === null)
    return `No post went live in the last ${days} days.`;
  if (sampleSize === 1)
    return `The one post of the last ${days} days went live within ${spanInWords(maxMs)} of its time.`;
  if (sampleSize < FEW_POSTS)
    return `All ${sampleSize} posts of the last ${days} days went live within ${spanInWords(maxMs)} of their time.`;
  return `Of the ${sampleSize} posts of the last ${days} days, half went live within ${spanInWords(p50Ms)} of their time, and 95 of 100 within ${spanInWords(p95Ms)}. The latest was ${spanInWords(maxMs)} late.`;
}

/** Rounded up, so that it is never said to be shorter than it was. */
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

function plural(count: number, unit: string): string {
  return count === 1 ? `${count} ${unit}` : `${count} ${unit}s`;
}
