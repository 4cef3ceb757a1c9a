import type { DecideDraft, Draft } from "../domain/drafts/draft.ts";
import { AppError } from "../domain/errors.ts";
import { quote, toIso } from "../domain/time.ts";
import type { Tx } from "../store/engine/store.ts";
import { type DraftRow, writeDraft } from "../store/queries/drafts.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { CallContext } from "../context.ts";
import { readScheduledAt } from "../posts/post-checks.ts";
import { checkTarget, contentOf, type DraftContent, NO_TIME, type PostTiming } from "./draft-content.ts";
import { noteDraft } from "./draft-events.ts";
import { findOwnDraft, showDraft, type StoredDecision } from "./drafts.ts";
import { assertCurrent, assertReady, assertUndecided, noteChange, staleRevision } from "./save-draft.ts";
import { cancelWaiting, insertDraftPosts, type PreparedDraft, prepareSeries } from "./series.ts";

/**
 * What a person decides about a draft. `approve` schedules every post or none, together with the decision. Throws
 * `not_found`, and `conflict` for a stale revision, a draft that is decided, and with every reason why a post
 * cannot be scheduled.
 */
export async function decideDraft(call: CallContext, input: DecideDraft): Promise<{ draft: Draft }> {
  const { ctx, caller } = call;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  assertTimes(input);
  if (isRevisionNeeded(input)) await assertCurrent(ctx.store, row, input.revision);
  if (input.decision === "approve") return approve(call, row, input);
  if (input.decision === "stop") return stop(call, row, input);
  assertUndecided(row);
  const isChanges = input.decision === "changes";
  return decide(call, row, input, {
    what: isChanges ? "changes" : "discarded",
    set: { state: isChanges ? "open" : "discarded" },
  });
}

function assertTimes({ decision, scheduledAt, slot }: DecideDraft): void {
  const given = [
    ...(scheduledAt === undefined ? [] : ["scheduledAt"]),
    ...(slot === undefined ? [] : ["slot"]),
  ];
  if (given.length > 1) throw new AppError("invalid", "scheduledAt, slot: give one of the two.");
  if (given.length === 1 && decision !== "approve")
    throw new AppError("invalid", `${given.join("")}: goes with approve. Leave it out.`);
}

/** A person agrees only to what they have seen. To put a draft away needs no such care. */
function isRevisionNeeded({ decision, revision }: DecideDraft): boolean {
  return decision === "approve" || decision === "changes" || revision !== undefined;
}

/** The posts of a draft, checked. Throws `conflict` with every reason why one cannot be scheduled. */
export async function prepareApproval(
  call: CallContext,
  row: DraftRow,
  input: Pick<DecideDraft, "scheduledAt" | "slot">,
): Promise<PreparedDraft> {
  assertUndecided(row);
  const content = contentOf(row);
  if (content.repeat !== null && (input.scheduledAt !== undefined || input.slot !== undefined))
    throw new AppError("invalid", "scheduledAt, slot: a series has times of its own. Leave them out.");
  const timing = {
    ...(input.scheduledAt === undefined ? {} : { at: readScheduledAt(call.ctx, input.scheduledAt).ms }),
    ...(input.slot === undefined ? {} : { slot: input.slot }),
  };
  const ready =
    content.repeat === null
      ? await prepareOnce(call, content, timing)
      : await prepareSeries(call, { ...row, decision: null }, content.repeat);
  await assertReady(call, content, ready.checks);
  if (ready.posts.length === 0) throw new AppError("conflict", NO_TIME);
  return ready;
}

async function prepareOnce(
  call: CallContext,
  content: DraftContent,
  timing: PostTiming,
): Promise<PreparedDraft> {
  const checked = await Promise.all(
    content.targets.map((target) => checkTarget(call, content, target, timing)),
  );
  return {
    posts: checked.flatMap(({ target, prepared }) =>
      prepared === null ? [] : [{ target, occurrence: null, prepared }],
    ),
    checks: checked.map(({ check }) => check),
  };
}

async function approve(call: CallContext, row: DraftRow, input: DecideDraft): Promise<{ draft: Draft }> {
  const { posts, checks } = await prepareApproval(call, row, input);
  const isSeries = contentOf(row).repeat !== null;
  const answer = await decide(call, row, input, {
    what: "approved",
    set: {
      state: isSeries ? "repeating" : "scheduled",
      checks: JSON.stringify(checks),
    },
    effect: (tx, decided) => insertDraftPosts(tx, call, decided, posts),
  });
  call.ctx.wakePublisher();
  return answer;
}

async function stop(call: CallContext, row: DraftRow, input: DecideDraft): Promise<{ draft: Draft }> {
  if (row.state !== "repeating")
    throw new AppError(
      "conflict",
      `The draft is ${row.state}, and only a series that goes on can be stopped. Cancel single posts with cancel_post.`,
    );
  let cancelled: readonly string[] = [];
  const answer = await decide(call, row, input, {
    what: "stopped",
    set: { state: "ended" },
    effect: async (tx, decided) => {
      cancelled = await cancelWaiting(tx, decided, call.ctx.clock.now());
    },
  });
  for (const id of cancelled) await call.ctx.media.release(id);
  return answer;
}

interface Deciding {
  readonly what: StoredDecision["what"];
  readonly set: Partial<DraftRow>;
  /** What it brings about, in the same transaction. */
  readonly effect?: (tx: Tx, decided: DraftRow) => Promise<void>;
}

/** Writes the decision and what it brings about, all or nothing. */
function decide(
  call: CallContext,
  row: DraftRow,
  input: DecideDraft,
  { what, set, effect }: Deciding,
): Promise<{ draft: Draft }> {
  const { clock } = call.ctx;
  const { keyId } = call.caller;
  const now = clock.now();
  const note = input.note === undefined || input.note === "" ? null : input.note;
  const decision: StoredDecision = { what, keyId, at: toIso(now), note, revision: row.revision };
  const changes = noteChange(row, { revision: row.revision + 1, keyId, fields: [`the decision (${what})`] });
  return commitOnce(call, async (tx) => {
    const decided = await writeDraft(tx, row, {
      ...set,
      decision: JSON.stringify(decision),
      changes,
      updated_at: now,
    });
    if (decided === null) throw await staleRevision(tx, row);
    await effect?.(tx, decided);
    await noteDraft(tx, "draft.decided", decided, { at: now });
    return { draft: await showDraft(tx, decided) };
  });
}

/** How a draft is named to people. */
export function nameDraft(row: DraftRow): string {
  const { title, caption, targets } = contentOf(row);
  const text = title ?? caption ?? targets.find((target) => target.caption !== null)?.caption ?? null;
  return text === null ? row.id : quote(text);
}
