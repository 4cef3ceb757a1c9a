import type { Target } from "../../domain/drafts/draft.ts";
import { aheadOf, type Occurrence, occurrencesOf, type Series } from "../../domain/drafts/repeat.ts";
import { assert } from "../../domain/errors.ts";
import { type Caller, readSignature } from "../../domain/permissions.ts";
import { MINUTE, formatTime } from "../../domain/time.ts";
import type { Tx } from "../../store/engine/store.ts";
import {
  type DraftRow,
  listMade,
  listRepeating,
  listWaitingPosts,
  lockRepeating,
  noteChecks,
  writeDraft,
} from "../../store/queries/drafts.ts";
import { transition } from "../../store/queries/posts.ts";
import { type AppContext, type CallContext, plainCall, type MaintenanceJob } from "../../context.ts";
import type { PreparedPost } from "../prepare.ts";
import { storePosts } from "../store-posts.ts";
import { cardsOf, checkTarget, readChecks, type StoredCheck, timingAt, writeChecks } from "./checks.ts";
import { contentOf } from "./draft-content.ts";
import type { StoredDecision } from "./drafts.ts";

/** A post of a draft that may be stored. */
export interface DraftPost {
  readonly target: Target;
  /** Null: the draft is no series. */
  readonly occurrence: Occurrence | null;
  readonly prepared: PreparedPost;
}

/** Stores posts of a draft. The database refuses a second one for the same channel and occurrence. */
export async function insertDraftPosts(
  tx: Tx,
  call: CallContext,
  draft: DraftRow,
  posts: readonly DraftPost[],
): Promise<void> {
  const { what, revision } = decisionOf(draft);
  assert("approval_revision", what === "approved" && revision + 1 === draft.revision, draft.id);
  const { labels, note } = contentOf(draft);
  const planned = posts.map(({ occurrence, prepared }) => ({
    ...prepared,
    plan: { draftId: draft.id, occurrence: occurrence?.at ?? 0, labels, note },
  }));
  await storePosts(call, tx, planned);
}

/** The posts of a draft that may be stored, and what was found on the way. */
export interface PreparedDraft {
  readonly posts: readonly DraftPost[];
  readonly checks: readonly StoredCheck[];
}

/** Prepares the posts that a series is to have now and has not. */
export async function prepareSeries(
  call: CallContext,
  row: DraftRow,
  series: Series,
): Promise<PreparedDraft> {
  const { ctx } = call;
  const content = contentOf(row);
  const now = ctx.clock.now();
  const begun = beginOf(row, now);
  const made = await listMade(ctx.store, row.id, begun);
  const before = readChecks(row);
  const cards = cardsOf(before);
  const posts: DraftPost[] = [];
  const checks: StoredCheck[] = [];
  for (const target of content.targets) {
    const missing = aheadOf(series, now, begun).filter(({ at }) => !made.has(`${target.accountId} ${at}`));
    const checked = await Promise.all(
      missing.map(async (occurrence) => ({
        occurrence,
        ...(await checkTarget(call, content, { target, timing: timingAt(series, occurrence), cards })),
      })),
    );
    for (const { occurrence, prepared } of checked)
      if (prepared !== null) posts.push({ target, occurrence, prepared });
    const told = checked.find(({ prepared }) => prepared === null) ?? checked[0];
    const last = before.find(({ accountId }) => accountId === target.accountId);
    const check = told?.check ?? (last === undefined ? undefined : { ...last, error: null });
    if (check === undefined) continue;
    // Afterwards its own posts would be its doubles.
    const asked = row.decision === null ? check.warnings : [];
    checks.push({
      ...check,
      warnings: [...asked, ...describeSkipped(ctx, target, { series, made, begun, now })],
    });
  }
  return { posts, checks };
}

/** When it was approved: what came before is no occurrence of it. */
export function beginOf({ decision }: DraftRow, now: number): number {
  return decision === null ? now : Date.parse((JSON.parse(decision) as StoredDecision).at);
}

/** So many of the skipped are named. */
const MAX_TOLD = 3;

/** What was missed is never made up for, and said. */
function describeSkipped(
  { settings }: AppContext,
  { accountId }: Target,
  at: {
    readonly series: Series;
    readonly made: ReadonlySet<string>;
    readonly begun: number;
    readonly now: number;
  },
): string[] {
  const skipped: number[] = [];
  for (const occurrence of occurrencesOf(at.series, { begun: at.begun })) {
    if (occurrence.at > at.now) break;
    if (!at.made.has(`${accountId} ${occurrence.at}`)) skipped.push(occurrence.at);
  }
  if (skipped.length === 0) return [];
  const last = skipped.slice(-MAX_TOLD).map((ms) => formatTime(ms, settings.timezone));
  const times = skipped.length === 1 ? "1 time was" : `${skipped.length} times were`;
  return [
    `${times} skipped, because no post could be made before: ${last.join("; ")}. What was missed is not made up for.`,
  ];
}

export const SERIES_JOB: MaintenanceJob = { name: "series", everyMs: MINUTE, run: makeSeriesPosts };

/** Makes the posts of every series that come within two weeks, and ends those that are over. */
export async function makeSeriesPosts(ctx: AppContext, signal: AbortSignal): Promise<void> {
  for (const row of await listRepeating(ctx.store)) {
    signal.throwIfAborted();
    await makePosts(ctx, row, signal).catch((err: unknown) => {
      if (signal.aborted || !ctx.store.isPresent()) throw err;
      ctx.log.error(
        { err, draftId: row.id },
        "posts of a series could not be made, and the next pass tries again",
      );
    });
  }
}

async function makePosts(ctx: AppContext, row: DraftRow, signal: AbortSignal): Promise<void> {
  const { repeat } = contentOf(row);
  if (repeat === null) return;
  const call = plainCall(ctx, approverOf(row), signal);
  const now = ctx.clock.now();
  const isOver = aheadOf(repeat, now, beginOf(row, now)).length === 0;
  const { posts, checks } = await prepareSeries(call, row, repeat);
  const text = writeChecks(checks);
  if (posts.length === 0 && !isOver && text === row.checks) return;
  await ctx.store.write(async (tx) => {
    const locked = await lockRepeating(tx, row);
    if (locked === null) return;
    // Another process may have made some of them since.
    const made = await listMade(tx, row.id, 0);
    const missing = posts.filter(
      ({ target, occurrence }) => !made.has(`${target.accountId} ${occurrence?.at ?? 0}`),
    );
    await insertDraftPosts(tx, call, row, missing);
    if (isOver) await writeDraft(tx, row, { state: "ended", updated_at: ctx.clock.now(), checks: text });
    else await noteChecks(tx, row, text);
  });
  if (posts.length > 0) ctx.wakePublisher();
}

/** In whose name a series goes on: the one who approved it said yes to all of it. */
function approverOf(row: DraftRow): Caller {
  const { keyId } = decisionOf(row);
  return {
    ownerId: row.owner_id,
    permissions: ["read", "publish"],
    accountIds: null,
    keyId: readSignature(keyId).keyId,
    isLocal: false,
  };
}

function decisionOf({ id, decision }: DraftRow): StoredDecision {
  assert("approval_given", decision !== null, id);
  return JSON.parse(decision ?? "") as StoredDecision;
}

/** Ends a series. Its posts that wait are cancelled; their ids. */
export async function cancelWaiting(tx: Tx, row: DraftRow, now: number): Promise<string[]> {
  const ids = await listWaitingPosts(tx, row.id);
  for (const id of ids)
    await transition(tx, { ownerId: row.owner_id, id }, "cancel", {
      next_at: null,
      error: null,
      updated_at: now,
    });
  return ids;
}
