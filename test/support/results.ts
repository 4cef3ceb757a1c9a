import { DateTime } from "luxon";
import { METRICS, type Metric, packFigures } from "../../src/domain/posts/results.ts";
import type { AppContext } from "../../src/context.ts";
import type { PostRow, Tables } from "../../src/store/schema/tables.ts";
import { queryOf } from "./handles.ts";
import { addPost } from "./publishing.ts";

export interface KnownPost {
  readonly id: string;
  readonly accountId: string;
  readonly at: number;
  readonly media: string;
  readonly labels: readonly string[];
  readonly figures: Partial<Record<Metric, number>> | null;
}

/** A live post with what its platform told of it after 24 hours. */
export async function addResult(
  ctx: AppContext,
  account: Tables["accounts"],
  post: Omit<KnownPost, "accountId">,
  more: Partial<PostRow> = {},
): Promise<KnownPost> {
  const { id, at, media, labels, figures } = post;
  await addPost(ctx, account, {
    ...{ id, scheduled_at: at, published_at: at, status: "published", next_at: null, platform_post_id: id },
    ...more,
  });
  const db = queryOf(ctx.store);
  await db
    .insertInto("results")
    .values({
      ...{
        account_id: account.id,
        at,
        post_id: id,
        provider: account.provider,
        media,
        next_at: null,
        step: 4,
      },
      h24: figures === null ? null : packFigures(figures),
    })
    .execute();
  if (labels.length > 0)
    await db
      .insertInto("post_labels")
      .values(labels.map((label) => ({ owner_id: account.owner_id, label, post_id: id })))
      .execute();
  return { ...post, accountId: account.id };
}

/** What a report of these posts says, worked out without any of its code. */
export function naiveReport(
  posts: readonly KnownPost[],
  { keysOf, metric }: { keysOf: (post: KnownPost) => readonly string[]; metric: Metric },
) {
  const groups = new Map<string, KnownPost[]>();
  for (const post of posts)
    for (const key of keysOf(post)) groups.set(key, [...(groups.get(key) ?? []), post]);
  const valuesOf = (group: readonly KnownPost[], name: Metric): number[] =>
    group.flatMap(({ figures }) => figures?.[name] ?? []).sort((a, b) => a - b);
  const median = (values: readonly number[]): number =>
    (values[Math.ceil(values.length / 2) - 1]! + values[Math.floor(values.length / 2)]!) / 2;
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  const known = METRICS.filter((name) => name === metric || valuesOf(posts, name).length > 0);
  const rows = [...groups].map(([key, group]) => ({
    key,
    posts: group.length,
    sampled: valuesOf(group, metric).length,
    metrics: Object.fromEntries(
      known.map((name) => {
        const values = valuesOf(group, name);
        return [
          name,
          values.length === 0 ? null : { sum: sum(values), median: median(values), posts: values.length },
        ];
      }),
    ),
  }));
  return rows.sort((a, b) => {
    const [x, y] = [a.metrics[metric], b.metrics[metric]];
    return (y?.median ?? -1) - (x?.median ?? -1) || (y?.sum ?? 0) - (x?.sum ?? 0) || (a.key < b.key ? -1 : 1);
  });
}

export function weekdayHour(at: number, zone: string): string {
  return DateTime.fromMillis(at, { zone, locale: "en" }).toFormat("ccc HH':00'").toLowerCase();
}
