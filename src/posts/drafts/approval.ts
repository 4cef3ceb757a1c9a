import { signatureOf } from "../../domain/permissions.ts";
import type { DecideDraft } from "../../domain/drafts/draft.ts";
import { AppError } from "../../domain/errors.ts";
import { formatTime } from "../../domain/time.ts";
import { type DraftRow, endUnsure, readUnsure, writeDraft } from "../../store/queries/drafts.ts";
import type { CallContext } from "../../context.ts";
import { readScheduledAt } from "../prepare.ts";
import {
  type Cards,
  cardsOf,
  checkDraft,
  checkTarget,
  NO_TIME,
  type PostTiming,
  readChecks,
  type StoredCheck,
  writeChecks,
  withTexts,
} from "./checks.ts";
import { contentOf, type DraftContent, toColumns } from "./draft-content.ts";
import { assertReady, assertUndecided, noteChange, staleRevision, writersOf } from "./save-draft.ts";
import { type PreparedDraft, prepareSeries } from "./series.ts";
import { isNews, takeIn, type TakenIn } from "./taking-in.ts";

type WhenApproved = Pick<DecideDraft, "scheduledAt" | "slot">;

/** A draft as it is approved: with its media in the store, and its posts checked. */
interface Approval extends PreparedDraft {
  readonly row: DraftRow;
}

/**
 * The posts of a draft, checked. Throws `conflict` with every reason why one cannot be scheduled. What another wrote
 * and no person can have seen as it is now is taken into the store, and refused this once.
 */
export async function prepareApproval(
  call: CallContext,
  row: DraftRow,
  input: WhenApproved,
): Promise<Approval> {
  const ready = await prepare(call, row, input);
  const content = contentOf(row);
  const taken = await takeIn(call, content, ready.checks);
  if (taken.refused.length > 0)
    throw new AppError("conflict", [
      "The draft cannot be approved before its media are in the store.",
      ...taken.refused,
    ]);
  if (!isNews(row, content, taken)) return { ...ready, row };
  if (!isOwn(call, row)) throw await lookAgain(call, row, taken);
  const checks = writeChecks(withCards(ready.checks, taken.cards));
  const own = { ...row, ...toColumns(taken.content), checks };
  return { ...(await prepare(call, own, input)), row: own };
}

/** The same before the person is asked. Of an own draft nothing is taken in before they said yes. */
export function checkApproval(call: CallContext, row: DraftRow, input: WhenApproved): Promise<PreparedDraft> {
  return isOwn(call, row) ? prepare(call, row, input) : prepareApproval(call, row, input);
}

function isOwn({ caller }: CallContext, row: DraftRow): boolean {
  return writersOf(row).every((keyId) => keyId === caller.keyId);
}

function withCards(checks: readonly StoredCheck[], cards: Cards): StoredCheck[] {
  return checks.map((check) => {
    const card = cards.get(check.accountId);
    return card === undefined ? check : { ...check, card };
  });
}

/** The next revision, which holds what was taken in; the error that asks to look at it. */
async function lookAgain(call: CallContext, row: DraftRow, { content, cards }: TakenIn): Promise<AppError> {
  const { ctx, caller } = call;
  const checks = writeChecks(await checkDraft(call, content, cards));
  const fields = ["where its media are stored"];
  const changes = noteChange(row, { revision: row.revision + 1, keyId: signatureOf(caller), fields });
  const set = { ...toColumns(content), checks, changes, updated_at: ctx.clock.now() };
  const next = await ctx.store.write((tx) => writeDraft(tx, row, set));
  if (next === null) return staleRevision(ctx.store, row);
  return new AppError(
    "conflict",
    `revision: the pictures and other media of this draft, or what the page of its link says, could have changed since it was written. They are stored now, as revision ${next.revision}. Look at the draft once more, then decide about that.`,
  );
}

/**
 * Throws `conflict`, once, for a draft that may have been approved before in what a copy that was put back does not
 * know. Call it last, when nothing else keeps the draft from being approved and a person has agreed where one is
 * asked: a call that could not approve must not use up the warning.
 */
export async function assertLooked({ ctx }: CallContext, { id }: DraftRow): Promise<void> {
  const at = await readUnsure(ctx.store, id);
  if (at === null || !(await ctx.store.write((tx) => endUnsure(tx, id)))) return;
  const when = formatTime(at, ctx.settings.timezone);
  throw new AppError(
    "conflict",
    `The draft was not approved yet: on ${when} the database was put back from a copy, and the draft may have been approved, and published, after that copy was made. Look at its channels first. If it is not there, approve it again. If it is, discard it.`,
  );
}

async function prepare(call: CallContext, row: DraftRow, input: WhenApproved): Promise<PreparedDraft> {
  await assertUndecided(call.ctx.store, row, "approve");
  const content = contentOf(row);
  if (content.repeat !== null && (input.scheduledAt !== undefined || input.slot !== undefined))
    throw new AppError("invalid", "scheduledAt, slot: a series has times of its own. Leave them out.");
  const timing = {
    ...(input.scheduledAt === undefined ? {} : { at: readScheduledAt(call, input.scheduledAt).ms }),
    ...(input.slot === undefined ? {} : { slot: input.slot }),
  };
  const cards = cardsOf(readChecks(row));
  const ready =
    content.repeat === null
      ? await prepareOnce(call, content, { timing, cards })
      : await prepareSeries(call, { ...row, decision: null }, content.repeat);
  await assertReady(call, content, await withTexts(call, content, ready.checks));
  if (ready.posts.length === 0) throw new AppError("conflict", NO_TIME);
  return ready;
}

async function prepareOnce(
  call: CallContext,
  content: DraftContent,
  known: { readonly timing: PostTiming; readonly cards: Cards },
): Promise<PreparedDraft> {
  const checked = await Promise.all(
    content.targets.map((target) => checkTarget(call, content, { target, ...known })),
  );
  return {
    posts: checked.flatMap(({ target, prepared }) =>
      prepared === null ? [] : [{ target, occurrence: null, prepared }],
    ),
    checks: checked.map(({ check }) => check),
  };
}
