import type { ComingSeries } from "./posts.ts";

/** More days than these are told by the rule alone. */
const DAYS_NAMED = 3;

/** What a series brings, in a sentence that its name stands in: a page can make a link of it. */
export interface ComingSentence {
  readonly draftId: string;
  readonly before: string;
  readonly title: string;
  readonly after: string;
}

/** What a series brings on these days, beside the posts that are made. */
export function comingSentence(
  { draftId, title, rule }: Pick<ComingSeries, "draftId" | "title" | "rule">,
  days: readonly string[],
  write: (day: string) => string,
): ComingSentence {
  const on = days.length > DAYS_NAMED ? "" : ` on ${days.map(write).join(" · ")}`;
  const after = `${on}: ${rule}. Its posts are made 14 days ahead.`;
  return { draftId, before: `And ${days.length} from the series `, title, after };
}

export function comingInWords({ before, title, after }: ComingSentence): string {
  return `${before}“${title}”${after}`;
}
