import type { AnalyticsDay, PlatformAnalytics, PlatformPost } from "../../ports/platform.ts";
import { AppError } from "../../domain/errors.ts";
import type { Metrics } from "../../domain/posts/post.ts";

/** A post as far as sums need it; `date`: its day, as YYYY-MM-DD. */
export interface CountedPost {
  readonly date: string;
  readonly counts: Partial<Metrics>;
}

const SUMMED = ["posts", "likes", "comments", "shares"] as const;
const NONE = { posts: 0, likes: 0, comments: 0, shares: 0 };

interface CountContext {
  /** As they are now; undefined where the platform does not tell. */
  readonly followers: number | undefined;
  readonly title: string;
  readonly uncounted: readonly string[];
}

/**
 * For platforms that count what others did with each post, and nothing by the day: followers, and the counts so
 * far of the posts of the range by the day of the post, with how many posts there were.
 */
export async function countByPost(
  posts: AsyncIterable<CountedPost>,
  { from, to }: { readonly from: string; readonly to: string },
  { followers, title, uncounted: missing }: CountContext,
): Promise<PlatformAnalytics> {
  const days = new Map<string, Record<string, number>>();
  const totals: Record<string, number> = { ...NONE };
  for await (const { date, counts } of posts) {
    if (date < from || date > to) continue;
    const day = days.get(date) ?? { ...NONE };
    for (const sums of [day, totals])
      for (const name of SUMMED)
        sums[name] = (sums[name] ?? 0) + (name === "posts" ? 1 : (counts[name] ?? 0));
    days.set(date, day);
  }
  const sorted: AnalyticsDay[] = [...days].map(([date, metrics]) => ({ date, metrics }));
  return {
    totals: { ...(followers === undefined ? {} : { followers }), ...totals },
    days: sorted.toSorted((a, b) => (a.date < b.date ? -1 : 1)),
    unavailable: uncounted(title, missing),
  };
}

/** For platforms that count followers only. */
export function onlyFollowers(title: string, followers: number | undefined): PlatformAnalytics {
  const unavailable = uncounted(title, ["views", "impressions", "reach", "clicks"]);
  return { totals: followers === undefined ? {} : { followers }, days: [], unavailable };
}

/** What a platform does not count. */
export function uncounted(title: string, metrics: readonly string[]): PlatformAnalytics["unavailable"] {
  return metrics.map((metric) => ({ metric, reason: `${title} does not count this.` }));
}

/** Reads the post's id on the platform. Throws `conflict` with the sentence for none, or one of another form. */
export function idReader(
  sentence: string,
  form?: RegExp,
): (post: Pick<PlatformPost, "platformPostId">) => string {
  return ({ platformPostId: id }) => {
    if (id !== null && id !== "" && (form === undefined || form.test(id))) return id;
    throw new AppError("conflict", `platformPostId: ${sentence}`);
  };
}
