import type { Report, ReportRow } from "../../../../src/domain/posts/results.ts";

/** What platforms tell of a post, as it is called here, in the order in which it is offered. */
export const METRIC_NAMES = {
  views: "Views",
  impressions: "Impressions",
  reach: "Reach",
  likes: "Likes",
  comments: "Comments",
  shares: "Shares",
  saves: "Saves",
  clicks: "Clicks",
} as const;
export type Metric = keyof typeof METRIC_NAMES;
export const METRICS = Object.keys(METRIC_NAMES) as readonly Metric[];

export const AGES = { "1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;
export type Age = keyof typeof AGES;

export function isAge(text: string): text is Age {
  return Object.hasOwn(AGES, text);
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** `950`, `1.2K`: for a cell or an axis. */
export function shortly(value: number): string {
  return SHORT.format(value);
}

/** A post with what is known of it. */
export interface Figures {
  readonly id: string;
  readonly accountId: string;
  readonly at: number;
  readonly text: string;
  readonly mediaUrl: string;
  /** What is missing is not known. */
  readonly values: Readonly<Partial<Record<Metric, number>>>;
}

export function figuresOf(row: ReportRow): Figures | null {
  if (row.post === undefined) return null;
  const { accountId, publishedAt, text, mediaUrl } = row.post;
  const values = METRICS.flatMap((metric) => {
    const value = row.metrics[metric]?.sum;
    return value === undefined ? [] : [[metric, value] as const];
  });
  return {
    id: row.key,
    accountId,
    at: Date.parse(publishedAt),
    text,
    mediaUrl,
    values: Object.fromEntries(values),
  };
}

/** How many of the posts have each metric; those that none has are left out. */
export function knownMetrics(posts: readonly Figures[]): readonly { metric: Metric; posts: number }[] {
  return METRICS.map((metric) => ({
    metric,
    posts: posts.filter(({ values }) => values[metric] !== undefined).length,
  })).filter((one) => one.posts > 0);
}

/** The one that most posts have. */
export function usualMetric(posts: readonly Figures[]): Metric | null {
  const known = knownMetrics(posts);
  return (
    known.reduce<(typeof known)[number] | null>(
      (best, one) => (best === null || one.posts > best.posts ? one : best),
      null,
    )?.metric ?? null
  );
}

/** Those that have it, best first. */
export function ranked(
  posts: readonly Figures[],
  metric: Metric,
): readonly (Figures & { readonly value: number })[] {
  return posts
    .flatMap((post) => {
      const value = post.values[metric];
      return value === undefined ? [] : [{ ...post, value }];
    })
    .sort((a, b) => b.value - a.value || b.at - a.at);
}

/** Cells of the map: an hour of the week with the median of its posts. */
export interface HourCell {
  readonly posts: number;
  /** Null: no post of that hour has it. */
  readonly median: number | null;
}

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Seven rows from the first day of the week, each of 24 hours. */
export function weekCells(
  { rows }: Pick<Report, "rows">,
  metric: Metric,
  firstWeekday: number,
): readonly (readonly HourCell[])[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return Array.from({ length: 7 }, (_, at) => {
    const day = DAYS[(firstWeekday - 1 + at) % 7] ?? "mon";
    return Array.from({ length: 24 }, (_hour, hour) => {
      const row = byKey.get(`${day} ${String(hour).padStart(2, "0")}:00`);
      return { posts: row?.sampled ?? 0, median: row?.metrics[metric]?.median ?? null };
    });
  });
}
