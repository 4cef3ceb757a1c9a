import { spanInWords } from "../../../src/domain/health/span-in-words.ts";
import type { Status } from "../../../src/domain/health/status.ts";

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
