import type { AnalyticsDay, PlatformAnalytics, PlatformPost } from "../../ports/platform.ts";
import { AppError } from "../../domain/errors.ts";

/** A post as far as sums need it; `date`: its day, as YYYY-MM-DD. */
export interface CountedPost {
  readonly date: string;
  readonly counts: Readonly<Record<string, number | null | undefined>>;
}

/**
 * For platforms that count what others did with each post, and nothing by the day: the counts so far of the
 * posts of the range, by the day of the post, and how many posts there were.
 */
export async function sumByDay(
  posts: AsyncIterable<CountedPost>,
  { from, to }: { readonly from: string; readonly to: string },
  names: readonly string[],
): Promise<Pick<PlatformAnalytics, "totals" | "days">> {
  const days = new Map<string, Record<string, number>>();
  const totals = noneOf(names);
  for await (const { date, counts } of posts) {
    if (date < from || date > to) continue;
    const day = days.get(date) ?? noneOf(names);
    for (const sums of [day, totals])
      for (const name of ["posts", ...names])
        sums[name] = (sums[name] ?? 0) + (name === "posts" ? 1 : (counts[name] ?? 0));
    days.set(date, day);
  }
  const sorted: AnalyticsDay[] = [...days].map(([date, metrics]) => ({ date, metrics }));
  return { totals, days: sorted.toSorted((a, b) => (a.date < b.date ? -1 : 1)) };
}

function noneOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(["posts", ...names].map((name) => [name, 0]));
}

/** What a platform does not count, told by its title. */
export function uncounted(title: string, metrics: readonly string[]): PlatformAnalytics["unavailable"] {
  return metrics.map((metric) => ({ metric, reason: `${title} does not count this.` }));
}

/**
 * Reads the post's id on the platform. Throws `conflict` with the sentence where it has none, or one of another
 * form.
 */
export function idReader(sentence: string, form?: RegExp): (post: WithId) => string {
  return ({ platformPostId: id }) => {
    if (id !== null && id !== "" && (form === undefined || form.test(id))) return id;
    throw new AppError("conflict", `platformPostId: ${sentence}`);
  };
}

type WithId = Pick<PlatformPost, "platformPostId">;
