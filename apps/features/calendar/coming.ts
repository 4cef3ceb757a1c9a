import type { ComingSeries } from "./posts.ts";

/** More days than these are told by the rule alone. */
const DAYS_NAMED = 3;

/** What a series brings on these days, beside the posts that are made. */
export function comingInWords(
  { title, rule }: Pick<ComingSeries, "title" | "rule">,
  days: readonly string[],
  write: (day: string) => string,
): string {
  const on = days.length > DAYS_NAMED ? "" : ` on ${days.map(write).join(" · ")}`;
  return `And ${days.length} from the series “${title}”${on}: ${rule}. Its posts are made 14 days ahead.`;
}
