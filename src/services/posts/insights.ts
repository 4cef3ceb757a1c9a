import { deadline } from "../../domain/deadline.ts";
import { AppError } from "../../domain/errors.ts";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import { plainText } from "../../domain/plain-text.ts";
import { SECOND, toIso } from "../../domain/time.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { PostRow } from "../../store/engine/schema.ts";
import { findAccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { createPlatformIo } from "../platforms/platform-io.ts";
import { platformOf, toPlatformPost } from "../publishing/publish-io.ts";
import { readStepResults } from "../publishing/step-results.ts";

const ASK_TIMEOUT_MS = 15 * SECOND;

/** A word of the platform's. */
const MAX_VISIBILITY_CHARS = 60;

/**
 * A post's live status on its platform. A platform out of reach is an answer too: `available: false` and the
 * reason.
 */
export async function readInsights(ctx: AppContext, row: PostRow): Promise<Insights> {
  const unavailable = (reason: string): Insights => ({
    available: false,
    reason,
    fetchedAt: toIso(ctx.clock.now()),
    state: "unknown",
    visibility: null,
    metrics: metricsOf({}),
  });
  if (row.platform_post_id === null) return unavailable(`The post is not on the platform (${row.status}).`);
  const platform = platformOf(ctx, row.provider);
  if (platform.insights === undefined) return unavailable(`${platform.title} offers no insights.`);
  const account = await findAccountRow(ctx.store, row.owner_id, row.account_id);
  if (account === undefined) return unavailable("Its channel is not there any more.");
  try {
    const platformIo = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
    const io = { ...platformIo, ...(await readStepResults(ctx, row)) };
    const { state, visibility, metrics } = await platform.insights(toPlatformPost(platform, row), io);
    return {
      available: true,
      reason: null,
      fetchedAt: toIso(ctx.clock.now()),
      state,
      visibility: visibility === null ? null : plainText(visibility, MAX_VISIBILITY_CHARS),
      metrics: metricsOf(metrics),
    };
  } catch (error) {
    ctx.log.warn({ postId: row.id, err: error }, "insights could not be read");
    const isTold = error instanceof PlatformFault || error instanceof AppError;
    return unavailable(isTold ? error.message : `${platform.title} could not be asked.`);
  }
}

/** Field by field: a platform may answer more than anybody asked for. */
function metricsOf(given: Partial<Metrics>): Metrics {
  return {
    views: given.views ?? null,
    impressions: given.impressions ?? null,
    reach: given.reach ?? null,
    likes: given.likes ?? null,
    comments: given.comments ?? null,
    shares: given.shares ?? null,
    saves: given.saves ?? null,
    clicks: given.clicks ?? null,
  };
}
