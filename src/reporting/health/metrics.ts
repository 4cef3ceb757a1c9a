import type { Attempt } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { MINUTE } from "../../domain/time.ts";
import type { WebhookStatus } from "../../domain/webhooks/webhook.ts";
import {
  countByStatus,
  countOverdue,
  countWebhooks,
  readAttemptTotals,
  readOutbox,
  type AttemptTotal,
} from "../../store/queries/status.ts";
import type { AppContext } from "../../context.ts";
import { OVERDUE_AFTER_MS, readPublisherStatus } from "./status.ts";

/** Counting all posts takes longer than everything else together, and a minute changes little. */
const COUNTS_KEPT_MS = MINUTE;

/** The ranges in which the store counts how late posts went live, by their upper bounds in milliseconds. */
const LATENESS_BOUNDS_MS: readonly number[] = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
];

/** How late posts of a platform went live. */
export interface LatenessSum {
  readonly provider: string;
  /** How many were at most that late, in order. */
  readonly upTo: readonly { readonly boundMs: number; readonly posts: number }[];
  readonly count: number;
  readonly sumMs: number;
}

/** How the instance is doing, over all owners and without a trace of any. */
export interface Measurements {
  readonly posts: Record<PostStatus, number>;
  readonly overdue: number;
  readonly publishers: number;
  readonly attempts: readonly {
    readonly provider: string;
    readonly outcome: Attempt["outcome"];
    readonly count: number;
  }[];
  readonly lateness: readonly LatenessSum[];
  readonly outbox: { readonly pending: number; readonly oldestMs: number };
  readonly webhooks: Record<WebhookStatus, number>;
}

/** Reads them anew at each call, except for the counts of posts, which may be a minute old. */
export function createMeasurements(ctx: AppContext): () => Promise<Measurements> {
  let counted: { readonly at: number; readonly posts: Promise<Record<PostStatus, number>> } | null = null;
  const countPosts = async (): Promise<Record<PostStatus, number>> => {
    const now = ctx.clock.monotonic();
    if (counted === null || now - counted.at >= COUNTS_KEPT_MS)
      counted = { at: now, posts: countByStatus(ctx.store) };
    try {
      return await counted.posts;
    } catch (error) {
      counted = null;
      throw error;
    }
  };
  return async () => {
    const { store } = ctx;
    const now = ctx.clock.now();
    const totals = await readAttemptTotals(store);
    const outbox = await readOutbox(store);
    const webhooks = await countWebhooks(store);
    const countWebhooksThat = (status: WebhookStatus): number => webhooks.get(status) ?? 0;
    return {
      posts: await countPosts(),
      overdue: await countOverdue(store, now - OVERDUE_AFTER_MS),
      publishers: (await readPublisherStatus(ctx, now)).workers,
      attempts: sumAttempts(totals),
      lateness: sumLateness(totals),
      outbox: {
        pending: outbox.pending,
        oldestMs: outbox.firstDueAt === null ? 0 : Math.max(0, now - outbox.firstDueAt),
      },
      webhooks: {
        active: countWebhooksThat("active"),
        failing: countWebhooksThat("failing"),
        disabled: countWebhooksThat("disabled"),
      },
    };
  };
}

function countOf(totals: readonly AttemptTotal[]): number {
  return totals.reduce((sum, total) => sum + total.attempts, 0);
}

function sumAttempts(totals: readonly AttemptTotal[]): Measurements["attempts"] {
  const sums = new Map<string, { provider: string; outcome: Attempt["outcome"]; count: number }>();
  for (const { provider, outcome, attempts } of totals) {
    const key = `${provider} ${outcome}`;
    sums.set(key, { provider, outcome, count: (sums.get(key)?.count ?? 0) + attempts });
  }
  return [...sums.values()];
}

function sumLateness(totals: readonly AttemptTotal[]): LatenessSum[] {
  const published = totals.filter((total) => total.outcome === "published");
  return [...new Set(published.map((total) => total.provider))].map((provider) => {
    const own = published.filter((total) => total.provider === provider);
    return {
      provider,
      upTo: LATENESS_BOUNDS_MS.map((boundMs) => ({
        boundMs,
        posts: countOf(own.filter((total) => total.bucket_ms > 0 && total.bucket_ms <= boundMs)),
      })),
      count: countOf(own),
      sumMs: own.reduce((sum, total) => sum + total.lateness_ms, 0),
    };
  });
}
