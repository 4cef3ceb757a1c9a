import { readSignature, signatureOf } from "../../domain/permissions.ts";
import { readScheduledAt } from "../prepare.ts";
import { type Said, say } from "../../domain/sentences.ts";
import { writeChecks } from "./checks.ts";
import { warnOfSilence } from "../warnings.ts";
import { isDueNow, untilOut, type Waiting, warnOfWait } from "../outcomes.ts";
import type { DecideDraft, SaidDecidedDraft, SaidDraft } from "../../domain/drafts/draft.ts";
import { AppError, saidOf } from "../../domain/errors.ts";
import { describeShortMonths } from "../../domain/drafts/tell-series.ts";
import { toIso } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { Reader, Tx } from "../../store/engine/store.ts";
import { type DraftRow, endUnsure, listWaitingPosts, writeDraft } from "../../store/queries/drafts.ts";
import { findPosts } from "../../store/queries/posts.ts";
import { commitOnce } from "../../access/idempotency.ts";
import { describeNamesakes } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { assertLooked, prepareApproval } from "./approval.ts";
import { contentOf, toColumns } from "./draft-content.ts";
import { noteDraft } from "./draft-events.ts";
import { findOwnDraft, showDraft, type StoredDecision } from "./drafts.ts";
import {
  assertCurrent,
  assertUndecided,
  decidedAlready,
  noteChange,
  requireRevision,
  staleRevision,
} from "./save-draft.ts";
import { cancelWaiting, insertDraftPosts } from "./series.ts";
import { describeDiscarded, describeNoReason, describeStopped, nameDraft } from "./tell-decision.ts";

/** A decision about one draft. */
export type OneDecision = Omit<DecideDraft, "id" | "drafts"> & { readonly id: string };

/**
 * Each draft that a decision is about. Throws `invalid` where they are named in both ways, or in none, and for what
 * is wrong whatever they are.
 */
export function eachOf(call: CallContext, input: DecideDraft): OneDecision[] {
  const { id, revision, drafts, ...decision } = input;
  assertTimes(call, input);
  if (drafts === undefined) {
    if (id === undefined) throw new AppError("invalid", "id: is missing. Give it, or drafts for several.");
    if (isRevisionNeeded(input)) requireRevision(revision);
    return [{ ...decision, id, revision }];
  }
  if (id !== undefined || revision !== undefined)
    throw new AppError("invalid", "drafts: cannot be given together with id or revision. Give one.");
  const repeated = drafts.find((one, at) => drafts.findIndex(({ id: other }) => other === one.id) !== at);
  if (repeated !== undefined)
    throw new AppError("invalid", `drafts: ${quote(repeated.id)} is in the list twice. Give it once.`);
  return drafts.map((one) => ({ ...decision, ...one }));
}

/** What a person decides about a draft, or about several: each for itself, with a result each. */
export async function decideDrafts(call: CallContext, input: DecideDraft): Promise<DecisionResult> {
  const [first, ...more] = eachOf(call, input);
  if (first === undefined) throw new AppError("invalid", "drafts: is empty. Give at least one draft.");
  const doubts = readScheduledAt(call, input.scheduledAt).warnings;
  const besides = async (
    told: readonly Said[],
    drafts: readonly (SaidDraft | null)[],
  ): Promise<Pick<DecisionResult, "warnings">> => {
    const warnings = [...doubts, ...told, ...(await warnOfApproved(call, input, drafts))];
    return warnings.length === 0 ? {} : { warnings };
  };
  if (input.drafts === undefined) {
    const { draft, warnings = [] } = await decideDraft(call, first);
    const ids = input.decision === "approve" ? draft.targets.map(({ accountId }) => accountId) : [];
    return { draft, ...(await besides([...warnings, ...(await describeNamesakes(call, ids))], [draft])) };
  }
  const told: Said[] = [];
  const results: SaidDecidedDraft[] = [];
  for (const one of [first, ...more]) {
    call.signal.throwIfAborted();
    const { warnings = [], ...result } = await decideOneOf(call, one);
    results.push(result);
    told.push(...warnings);
    call.progress(results.length, more.length + 1, `Decided about ${results.length} of ${more.length + 1}.`);
  }
  const drafts = results.map(({ draft }) => draft);
  return { results, ...(await besides(told, drafts)) };
}

/** Of the posts that an approval made: its answer else reads as if all went by itself. */
async function warnOfApproved(
  call: CallContext,
  { decision }: DecideDraft,
  drafts: readonly (SaidDraft | null)[],
): Promise<Said[]> {
  if (decision !== "approve") return [];
  const times = drafts.flatMap((draft) => draft?.posts ?? []).map((post) => Date.parse(post.scheduledAt));
  return warnOfSilence(call, times);
}

/** The answer for all is kept at the end: what this very call decided before it broke off is told as done. */
async function decideOneOf(
  call: CallContext,
  input: OneDecision,
): Promise<SaidDecidedDraft & Pick<DecidedOne, "warnings">> {
  const { ctx, caller, idempotency } = call;
  const { id } = input;
  try {
    const row = await findOwnDraft(ctx.store, caller, id);
    const isDone = idempotency !== null && isDecidedSo(row, input, caller.keyId);
    const decided = isDone
      ? { draft: await showDraft(ctx.store, row) }
      : await decideDraft({ ...call, idempotency: null }, input);
    return { id, ...decided, error: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
    return { id, draft: null, error: saidOf(error) };
  }
}

const DONE: Readonly<Record<DecideDraft["decision"], StoredDecision["what"]>> = {
  approve: "approved",
  changes: "changes",
  discard: "discarded",
  stop: "stopped",
};

function isDecidedSo(row: DraftRow, { decision, revision, note }: OneDecision, keyId: string): boolean {
  if (row.decision === null || row.revision !== (revision ?? 0) + 1) return false;
  const made = JSON.parse(row.decision) as StoredDecision;
  const isSame =
    made.what === DONE[decision] && made.revision === revision && readSignature(made.keyId).keyId === keyId;
  return isSame && (made.note ?? "") === (note ?? "");
}

/**
 * What a person decides about a draft. `approve` schedules every post or none, together with the decision. Throws
 * `not_found`, and `conflict` for a stale revision, a draft that is decided, and with every reason why a post
 * cannot be scheduled.
 */
export async function decideDraft(call: CallContext, input: OneDecision): Promise<DecidedOne> {
  const { ctx, caller } = call;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  await assertMayDecide(ctx.store, row, input);
  if (input.decision === "approve") return approve(call, row, input);
  if (input.decision === "stop") return stop(call, row, input);
  return decide(call, row, input, {
    what: DONE[input.decision],
    set: { state: input.decision === "changes" ? "open" : "discarded" },
    effect: async (tx) =>
      input.decision === "changes" ? describeNoReason(input) : [await describeDiscarded(tx, row)],
  });
}

/** Throws `conflict` for a draft about which this cannot be decided, and for a stale revision. */
export async function assertMayDecide(reader: Reader, row: DraftRow, input: OneDecision): Promise<void> {
  await assertDecidable(reader, row, input.decision);
  const isOpen = input.decision === "stop" ? isRepeating : undefined;
  if (isRevisionNeeded(input)) await assertCurrent(reader, row, input.revision, isOpen);
}

function isRepeating({ state }: DraftRow): boolean {
  return state === "repeating";
}

async function assertDecidable(
  reader: Reader,
  row: DraftRow,
  decision: OneDecision["decision"],
): Promise<void> {
  if (decision !== "stop") return assertUndecided(reader, row, decision);
  const { state } = row;
  if (state === "repeating") return;
  if (state !== "open" && state !== "waiting") throw await decidedAlready(reader, row, decision);
  throw new AppError(
    "conflict",
    say(`The draft is ${state}, and only a series that goes on can be stopped.`, {
      next: [{ do: "discard_draft" }],
    }),
  );
}

function assertTimes(call: CallContext, { decision, scheduledAt, slot }: DecideDraft): void {
  const given = [
    ...(scheduledAt === undefined ? [] : ["scheduledAt"]),
    ...(slot === undefined ? [] : ["slot"]),
  ];
  if (given.length > 1) throw new AppError("invalid", "scheduledAt, slot: give one of the two.");
  if (given.length === 1 && decision !== "approve")
    throw new AppError("invalid", `${given.join("")}: goes with approve. Leave it out.`);
  if (scheduledAt !== undefined) readScheduledAt(call, scheduledAt);
}

/** A person agrees only to what they have seen. To put a draft away needs no such care. */
function isRevisionNeeded({ decision, revision }: Pick<OneDecision, "decision" | "revision">): boolean {
  return decision === "approve" || decision === "changes" || revision !== undefined;
}

async function approve(call: CallContext, row: DraftRow, input: OneDecision): Promise<DecidedOne> {
  const { posts, checks, row: ready } = await prepareApproval(call, row, input);
  await assertLooked(call, row);
  const content = contentOf(ready);
  const answer = await decide(call, row, input, {
    what: "approved",
    set: {
      ...toColumns(content),
      state: content.repeat === null ? "scheduled" : "repeating",
      checks: writeChecks(checks),
    },
    effect: async (tx, decided) => {
      await insertDraftPosts(tx, call, decided, posts);
      return content.repeat === null
        ? []
        : describeShortMonths(content.repeat, `The series ${nameDraft(ready)}`);
    },
  });
  call.ctx.wakePublisher();
  return answer;
}

interface DecidedOne {
  readonly draft: SaidDraft;
  readonly warnings?: Said[];
}

interface DecisionResult {
  readonly draft?: SaidDraft | undefined;
  readonly results?: SaidDecidedDraft[] | undefined;
  readonly warnings?: Said[] | undefined;
}

/** The answer once the posts that were due at once are out. */
export async function awaitDrafts(
  answer: DecisionResult,
  call: CallContext,
  waiting: Waiting,
): Promise<DecisionResult> {
  const decided = [answer.draft, ...(answer.results ?? []).map(({ draft }) => draft)];
  const due = decided.flatMap((draft) => draft?.posts ?? []).filter((post) => isDueNow(call, post));
  if (due.length === 0) return answer;
  const ids = due.map(({ id }) => id);
  const warnings = await warnOfWait(call, await untilOut(call, ids, waiting), answer.warnings);
  const { ctx, caller } = call;
  const fresh = async ({ id }: SaidDraft): Promise<SaidDraft> =>
    showDraft(ctx.store, await findOwnDraft(ctx.store, caller, id));
  const told = warnings.length === 0 ? {} : { warnings };
  if (answer.draft !== undefined) return { draft: await fresh(answer.draft), ...told };
  const results: SaidDecidedDraft[] = [];
  for (const one of answer.results ?? [])
    results.push(one.draft === null ? one : { ...one, draft: await fresh(one.draft) });
  return { results, ...told };
}

async function stop(call: CallContext, row: DraftRow, input: OneDecision): Promise<DecidedOne> {
  let cancelled: readonly string[] = [];
  const answer = await decide(call, row, input, {
    what: "stopped",
    set: { state: "ended" },
    effect: async (tx, decided) => {
      const before = await listWaitingPosts(tx, row.id);
      const posts = before.length === 0 ? [] : await findPosts(tx, row.owner_id, before);
      cancelled = await cancelWaiting(tx, decided, call.ctx.clock.now());
      return [
        describeStopped(
          row,
          posts.filter(({ id }) => cancelled.includes(id)),
        ),
      ];
    },
  });
  for (const id of cancelled) await call.ctx.media.release(id);
  return answer;
}

interface Deciding {
  readonly what: StoredDecision["what"];
  readonly set: Partial<DraftRow>;
  /** What it brings about, in the same transaction, and what is to be said of that. */
  readonly effect: (tx: Tx, decided: DraftRow) => Promise<readonly Said[]>;
}

/** Writes the decision and what it brings about, all or nothing. */
function decide(
  call: CallContext,
  row: DraftRow,
  input: OneDecision,
  { what, set, effect }: Deciding,
): Promise<DecidedOne> {
  const { clock } = call.ctx;
  const keyId = signatureOf(call.caller);
  const now = clock.now();
  const note = input.note === undefined || input.note === "" ? null : input.note;
  const wasAsked = row.state === "waiting";
  const decision: StoredDecision = { what, keyId, at: toIso(now), note, revision: row.revision, wasAsked };
  const changes = noteChange(row, { revision: row.revision + 1, keyId, fields: [`the decision (${what})`] });
  return commitOnce(call, async (tx) => {
    const decided = await writeDraft(tx, row, {
      ...set,
      decision: JSON.stringify(decision),
      changes,
      updated_at: now,
    });
    if (decided === null) throw await staleRevision(tx, row);
    await endUnsure(tx, row.id);
    const warnings = [...(await effect(tx, decided))];
    await noteDraft(tx, "draft.decided", decided, { at: now });
    return { draft: await showDraft(tx, decided), ...(warnings.length === 0 ? {} : { warnings }) };
  });
}
