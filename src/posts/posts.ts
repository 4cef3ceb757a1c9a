import { warnOfHeldChannels, withWaits } from "./waits.ts";
import { fromStoredOrNull, join, type Said, say } from "../domain/sentences.ts";
import {
  canReconcile,
  conflictSentence,
  isDismissed,
  isTakenDown,
  isUnknown,
  MAY_BE_OUT,
  DISMISSED,
  TRANSITIONS,
  type Trigger,
  wasGone,
} from "../domain/posts/post-states.ts";
import type { Resolution } from "../domain/posts/post-body.ts";
import { AppError } from "../domain/errors.ts";
import { type Caller, canReachAccount } from "../domain/permissions.ts";
import type { SaidAttempt, Metrics, SaidInsights, SaidPost, Preparing } from "../domain/posts/post.ts";
import { deadline, SECOND, toIso, toIsoOrNull } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import {
  findPost,
  postNotFound,
  toPost,
  transition,
  type TransitionSet,
  readAttempts,
  readMetadata,
  readWarnings,
} from "../store/queries/posts.ts";
import { standingOf, type Standing } from "../store/queries/publishing/standing.ts";
import { findPlan, labelsOf, type PlanRow } from "../store/queries/plans.ts";
import type { AppContext, CallContext } from "../context.ts";
import { filmsOf, howFar } from "../files/films.ts";
import { type FileUse, placesOf, requireFiles } from "../files/media-places.ts";
import { commitOnce } from "../access/idempotency.ts";
import { plainText } from "../domain/text/plain-text.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import { findAccountRow, type AccountRow } from "../store/queries/accounts.ts";
import { createPlatformIo } from "../channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../publishing/publish-io.ts";
import { capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";
import type { AnyPlatform, PostInsights } from "../ports/platform.ts";
import {
  canReach,
  forgetDeletion,
  isLostDeletion,
  isOnPlatform,
  takeDown,
  describeNoPlace,
  describeTakenDown,
} from "../publishing/take-down.ts";

/** The caller's own post; throws `not_found` for every other. */
export async function findOwnPost(ctx: AppContext, caller: Caller, id: string): Promise<PostRow> {
  const row = await findPost(ctx.store, caller.ownerId, id);
  if (row === null || !canReachAccount(caller, row.account_id)) throw postNotFound(id);
  return row;
}

/** With what a refusal tells of it: see `conflictSentence`. */
export function readStanding({ store, clock, settings }: AppContext, row: PostRow): Promise<Standing> {
  return standingOf(store, row, { now: clock.now(), timezone: settings.timezone });
}

/** What a plan says of a post. */
interface PostPlan {
  readonly draftId: string | null;
  readonly labels: string[];
  readonly note: string | null;
}

/** Only of a post that a plan says something of. */
export function showPlan(plan: PlanRow | undefined): Partial<PostPlan> {
  return plan === undefined ? {} : { draftId: plan.draft_id, labels: labelsOf(plan), note: plan.note };
}

export async function getPost(
  { ctx, caller }: CallContext,
  input: {
    readonly id: string;
    readonly insights?: boolean | undefined;
    readonly history?: boolean | undefined;
  },
): Promise<
  {
    post: SaidPost;
    preparing?: Preparing;
    insights?: SaidInsights;
    warnings?: Said[];
    history?: SaidAttempt[];
  } & Partial<PostPlan>
> {
  const found = await findOwnPost(ctx, caller, input.id);
  const plan = await findPlan(ctx.store, found.id);
  const seen = input.insights === true ? await showInsights(ctx, found) : null;
  const row = seen?.insights.state === "live" ? await forgetDeletion(ctx, found) : found;
  const [shown = row] = await withWaits(ctx, [row]);
  const held = await warnOfHeldChannels({ ctx, caller }, [row]);
  return {
    post: toPost(shown),
    ...showPlan(plan ?? undefined),
    ...(await showPreparing(ctx, row)),
    ...(isTakenDown(row) && !wasGone(row) ? { warnings: [describeTakenDown(ctx, row)] } : readWarnings(row)),
    ...(isDismissed(row) ? { warnings: [describeDismissed(row)] } : {}),
    ...(held.length === 0 ? {} : { warnings: held }),
    ...seen,
    ...(input.history === true ? { history: await readHistory(ctx, row) } : {}),
  };
}

function describeDismissed(row: PostRow): Said {
  if (isUnknown(row)) return say(MAY_BE_OUT, { next: [{ do: "settle", postId: row.id, of: "presence" }] });
  return say(DISMISSED, { next: [{ do: "schedule" }] });
}

/** With a word on what the post's own state cannot tell, beside those it has. */
async function showInsights(
  ctx: AppContext,
  row: PostRow,
): Promise<{ insights: SaidInsights; warnings?: string[] }> {
  const insights = await readInsights(ctx, row);
  if (row.status !== "published" || insights.state !== "removed") return { insights };
  const gone = `It is not on ${findPlatform(ctx, row.provider).title} any more: it was removed there.`;
  return { insights, warnings: [...(readWarnings(row).warnings ?? []), gone] };
}

/** Of a post whose films are made what its platform takes. */
async function showPreparing(ctx: AppContext, row: PostRow): Promise<{ preparing?: Preparing }> {
  if (row.next_at === null && row.lease_worker === null) return {};
  const account = await findAccountRow(ctx.store, row.owner_id, row.account_id);
  if (row.is_light === 1 || account === undefined) return {};
  const platform = findPlatform(ctx, row.provider);
  const post = toPlatformPost(platform, row);
  const { accepts } = capabilitiesFor(ctx, account, post).media;
  const urls = placesOf(platform, { mediaUrl: row.media_url, metadata: readMetadata(row) }).filter(
    ({ isShown }) => isShown,
  );
  const films = await filmsOf(ctx, row.owner_id, { urls: urls.map(({ url }) => url), accepts });
  const preparing = await howFar(ctx, { postId: row.id, films });
  return preparing === null ? {} : { preparing };
}

/**
 * Cancels a waiting post; with `fromPlatform` also one that is uploaded or live, by deleting it on the platform. `told`:
 * what is to be said of it once that is done.
 */
export async function cancelPost(
  call: CallContext,
  input: { readonly id: string; readonly fromPlatform?: boolean | undefined },
  told: readonly Said[] = [],
): Promise<{ post: SaidPost; warnings?: Said[] }> {
  const { ctx, caller } = call;
  const row = await findOwnPost(ctx, caller, input.id);
  if (input.fromPlatform === true && isOnPlatform(row)) return takeDown(call, row, told);
  if (input.fromPlatform === true && row.status === "publishing")
    throw notOutYet(await readStanding(ctx, row));
  assertMove("cancel", await readStanding(ctx, row));
  const answer = await movePost(call, row, "cancel", { next_at: null, error: null }, told);
  await ctx.media.release(row.id);
  return answer;
}

/** There is nothing to take down yet, and nothing to cancel any more. */
function notOutYet(row: Standing): AppError {
  const once = say("Once it is out, it can be taken down.", { next: [{ do: "take_down", postId: row.id }] });
  return new AppError("conflict", join(conflictSentence("take_down", row), once));
}

/** Throws `conflict` where the post is in no state for it. */
function assertMove(trigger: Trigger, post: Standing): void {
  if (TRANSITIONS[trigger].from.every((status) => status !== post.status))
    throw new AppError("conflict", conflictSentence(trigger, post));
}

/** How an outcome is settled of a post that failed, and of one on whose channel nothing is tried. */
const SETTLED = {
  open: { published: "confirm", not_published: "deny", dismissed: "dismiss" },
  held: { published: "published", not_published: "fail", dismissed: "give_up" },
} as const satisfies Record<string, Record<Resolution["outcome"], Trigger>>;

/**
 * What a settlement does to a post. Beside an unknown outcome it adds the id of one that was settled without, puts right
 * one that was settled as not published, and tells what became of a deletion. Null: nothing of that is unknown.
 */
export function settlementOf(
  row: Standing,
  { outcome, platformPostId, platformUrl }: Resolution,
): Trigger | null {
  const isHeld = !isUnknown(row) && canReconcile(row);
  if (outcome === "dismissed" || canReconcile(row)) return SETTLED[isHeld ? "held" : "open"][outcome];
  if (isLostDeletion(row)) return outcome === "published" ? "edit_live" : "take_down";
  if (outcome !== "published") return null;
  if (row.status === "failed" && row.error === NOT_PUBLISHED) return "confirm";
  const hasPlace = (platformPostId ?? platformUrl) !== undefined;
  return row.status === "published" && row.platform_post_id === null && hasPlace ? "edit_live" : null;
}

const NOT_PUBLISHED = "It was settled as not published. Send it again.";

/**
 * A person reconciles what is unknown of a post, having looked at the channel, or dismisses any failed post: it is never
 * sent again, and its error stays to be read.
 */
export async function resolvePost(
  call: CallContext,
  input: Resolution,
): Promise<{ post: SaidPost; warnings?: Said[] }> {
  const { ctx, caller } = call;
  const row = await readStanding(ctx, await findOwnPost(ctx, caller, input.id));
  const trigger = settlementOf(row, input);
  if (trigger === null) throw nothingToReconcile(row);
  if (input.outcome === "dismissed") return dismiss(call, row, trigger);
  if (trigger === "take_down") return movePost(call, row, trigger, { next_at: null, error: null });
  if (input.outcome === "published") {
    const { attempts } = await readAttempts(ctx.store, row);
    const last = attempts.at(-1);
    const place = {
      platform_post_id: input.platformPostId ?? row.platform_post_id,
      platform_url: input.platformUrl ?? row.platform_url,
    };
    // It went out when it was sent, and not when a person says so.
    const sentAt = row.published_at ?? last?.finished_at ?? last?.started_at ?? ctx.clock.now();
    const set = { error: null, in_doubt: 0, next_at: null, published_at: sentAt, ...place };
    const answer = await movePost(call, row, trigger, set);
    return place.platform_post_id === null && canReach(ctx, row)
      ? { ...answer, warnings: [describeNoPlace(ctx, row)] }
      : answer;
  }
  const error = row.status === "cancelled" ? "It was settled as not published." : NOT_PUBLISHED;
  return movePost(call, row, trigger, { error, in_doubt: 0, next_at: null, run: row.run + 1 });
}

/** Of one whose outcome is unknown that stays so: it may be live. */
async function dismiss(
  call: CallContext,
  row: Standing,
  trigger: Trigger,
): Promise<{ post: SaidPost; warnings?: Said[] }> {
  assertMove(trigger, row);
  const isOpen = canReconcile(row);
  const error = isOpen ? { error: row.error ?? NEVER_KNOWN } : {};
  const answer = await movePost(call, row, trigger, { next_at: null, ...error });
  await call.ctx.media.release(row.id);
  return isOpen ? { ...answer, warnings: [describeDismissed({ ...row, status: "cancelled" })] } : answer;
}

const NEVER_KNOWN = "outcome unknown: it was on its way when its channel could not be used any more.";

function nothingToReconcile(row: Standing): AppError {
  if (row.status === "publishing") return new AppError("conflict", conflictSentence("confirm", row));
  const is = `Nothing to settle: the outcome of this post is known (${row.status}).`;
  const wrong =
    row.status === "published"
      ? say("If it is not there after all, it can be sent only as a new post.", {
          next: [{ do: "schedule" }],
        })
      : say("", { next: [{ do: "read", postId: row.id }] });
  return new AppError("conflict", join(is, wrong));
}

/** Moves a post along and answers with it. `files`: what it uses from now on (`requireFiles`). */
export function movePost(
  call: CallContext,
  { owner_id: ownerId, id }: PostRow,
  trigger: Trigger,
  { files = [], ...set }: Omit<TransitionSet, "updated_at"> & { readonly files?: readonly FileUse[] },
  told: readonly Said[] = [],
): Promise<{ post: SaidPost; warnings?: Said[] }> {
  return commitOnce(call, async (tx) => {
    await requireFiles(tx, call.caller, files);
    const changes = { ...set, updated_at: call.ctx.clock.now() };
    const post = toPost(await transition(tx, { ownerId, id }, trigger, changes));
    return { post, ...(told.length === 0 ? {} : { warnings: [...told] }) };
  });
}

/** Each attempt with the steps of its run, oldest first. */
export async function readHistory(ctx: AppContext, row: PostRow): Promise<SaidAttempt[]> {
  const { attempts, steps } = await readAttempts(ctx.store, row);
  return attempts.map((attempt) => ({
    id: attempt.id,
    number: attempt.number,
    startedAt: toIso(attempt.started_at),
    finishedAt: toIsoOrNull(attempt.finished_at),
    outcome: attempt.outcome,
    error: fromStoredOrNull(attempt.error),
    latenessMs: attempt.lateness_ms,
    lateCause: attempt.late_cause,
    steps: steps
      .filter((step) => step.run === attempt.run && step.started_at >= attempt.started_at)
      .filter((step) => attempt.finished_at === null || step.started_at <= attempt.finished_at)
      .map((step) => ({
        step: step.step,
        state: step.state,
        startedAt: toIso(step.started_at),
        finishedAt: toIsoOrNull(step.finished_at),
      })),
  }));
}

const ASK_TIMEOUT_MS = 15 * SECOND;

/** A word of the platform's. */
const MAX_VISIBILITY_CHARS = 60;

/**
 * A post's live status on its platform. A platform out of reach is an answer too: `available: false` and the
 * reason.
 */
export async function readInsights(ctx: AppContext, row: PostRow): Promise<SaidInsights> {
  const unavailable = (reason: Said): SaidInsights => ({
    available: false,
    reason,
    fetchedAt: toIso(ctx.clock.now()),
    state: "unknown",
    visibility: null,
    metrics: metricsOf({}),
  });
  const platform = findPlatform(ctx, row.provider);
  const isLive = row.status === "published";
  if (isLive && platform.insights === undefined) return unavailable(`${platform.title} offers no insights.`);
  if (row.platform_post_id === null)
    return unavailable(
      isLive ? describeNoPlace(ctx, row) : `The post is not on the platform (${row.status}).`,
    );
  if (platform.insights === undefined) return unavailable(`${platform.title} offers no insights.`);
  const account = await findAccountRow(ctx.store, row.owner_id, row.account_id);
  if (account === undefined) return unavailable("Its channel is not there any more.");
  try {
    const { state, visibility, metrics } = await askInsights(ctx, platform, { row, account });
    return {
      available: true,
      reason: null,
      fetchedAt: toIso(ctx.clock.now()),
      state,
      visibility: visibility === null ? null : plainText(visibility, MAX_VISIBILITY_CHARS),
      metrics,
    };
  } catch (error) {
    ctx.log.warn({ postId: row.id, err: error }, "insights could not be read");
    const isTold = error instanceof PlatformFault || error instanceof AppError;
    return unavailable(isTold ? error.message : `${platform.title} could not be asked.`);
  }
}

/** What the platform tells of a live post now. Throws what the platform's file throws. */
export async function askInsights(
  ctx: AppContext,
  platform: AnyPlatform,
  { row, account }: { readonly row: PostRow; readonly account: AccountRow },
): Promise<Omit<PostInsights, "metrics"> & { readonly metrics: Metrics }> {
  const platformIo = await createPlatformIo(ctx, account, deadline(ASK_TIMEOUT_MS));
  const io = { ...platformIo, ...(await readStepResults(ctx, row)) };
  const told = await platform.insights?.(toPlatformPost(platform, row), io);
  return { state: "unknown", visibility: null, ...told, metrics: metricsOf(told?.metrics ?? {}) };
}

/** Field by field: a platform may answer more than was asked for. */
function metricsOf(given: Partial<Metrics>): Metrics {
  const { views = null, impressions = null, reach = null, likes = null } = given;
  const { comments = null, shares = null, saves = null, clicks = null } = given;
  return { views, impressions, reach, likes, comments, shares, saves, clicks };
}
