import type { DecideDraft } from "../../domain/drafts/draft.ts";
import { join, type Message, type Said } from "../../domain/sentences.ts";
import { AppError, saidOf } from "../../domain/errors.ts";
import { lateStartOf, type Series } from "../../domain/drafts/repeat.ts";
import { isEndless, describeSeries } from "../../domain/drafts/tell-series.ts";
import { plainText, plural } from "../../domain/text/plain-text.ts";
import { type DraftRow, listWaitingPosts } from "../../store/queries/drafts.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import { formatTime } from "../../domain/time.ts";
import type { CallContext } from "../../context.ts";
import {
  countKept,
  isAtOnce,
  nowOrSoon,
  quoteText,
  describeDoubts,
  describePosts,
  textLimit,
  type ToldPost,
} from "../post-in-words.ts";
import { checkApproval } from "./approval.ts";
import { isPassing } from "./checks.ts";
import { assertMayDecide, eachOf, type OneDecision } from "./decide-draft.ts";
import { nameDraft } from "./tell-decision.ts";
import { contentOf, describeLeftOver } from "./draft-content.ts";
import { findOwnDraft, type StoredDecision } from "./drafts.ts";
import { isDoneAlready } from "./save-draft.ts";
import type { DraftPost } from "./series.ts";

const MAX_TEXT = 200;
const MAX_LISTED = 10;

/** What a person is asked before drafts are approved or discarded, or series end. Null: nothing. */
export async function askToDecide(call: CallContext, input: DecideDraft): Promise<string | null> {
  const [first, ...more] = eachOf(call, input);
  if (first === undefined || input.decision === "changes") return null;
  if (more.length > 0) return askAboutAll(call, [first, ...more], MANY[input.decision]);
  if (first.decision === "approve") return askToApprove(call, first);
  return first.decision === "stop" ? askToStop(call, first) : askToDiscard(call, first);
}

async function askToStop(call: CallContext, input: OneDecision): Promise<string> {
  const row = await findDecidable(call, input);
  const waiting = (await listWaitingPosts(call.ctx.store, row.id)).length;
  const posts =
    waiting === 0
      ? "No post of it waits, and no more are made."
      : `Its ${waiting} waiting ${waiting === 1 ? "post is" : "posts are"} cancelled.`;
  return `End the series ${nameDraft(row)}? ${posts}`;
}

async function askToDiscard(call: CallContext, input: OneDecision): Promise<string> {
  return `Discard the draft ${nameDraft(await findDecidable(call, input))}? It goes nowhere then, and cannot be brought back.`;
}

/** Its revision is part of what is asked about: to put a draft away, or to end a series, a call need not name one. */
async function findDecidable(call: CallContext, input: OneDecision): Promise<DraftRow> {
  const { ctx, caller, noteShown } = call;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  await assertMayDecide(ctx.store, row, input);
  noteShown?.([row.id, row.revision]);
  return row;
}

async function askToApprove(call: CallContext, input: OneDecision): Promise<string> {
  const row = await findDecidable(call, input);
  const { posts, checks } = await checkApproval(call, row, input);
  const told = await describeOutcome(call, row, { posts, input });
  const doubts = describeDoubts(
    call,
    checks.flatMap(({ warnings }) => warnings.filter((one) => !isPassing(one))),
  );
  return `Approve the draft ${nameDraft(row)}? ${told}${await describeSentBack(call, row)}${doubts}`;
}

/** Of one that a person sent back for changes, and that was not submitted again: it may be what they refused. */
async function describeSentBack(
  { ctx }: CallContext,
  { state, decision, revision, owner_id: ownerId }: DraftRow,
): Promise<string> {
  const made = decision === null ? null : (JSON.parse(decision) as StoredDecision);
  if (state !== "open" || made?.what !== "changes") return "";
  const by = plainText((await namesOfKeys(ctx.store, ownerId))(made.keyId), MAX_TEXT);
  const when = formatTime(Date.parse(made.at), ctx.settings.timezone);
  const note = made.note === null ? "without a note" : `with the note ${quoteText(made.note, MAX_TEXT)}`;
  const since =
    revision === made.revision + 1 ? "was not changed since" : "was changed since, but not submitted again";
  return ` It was sent back for changes by ${by} on ${when}, ${note}, and ${since}.`;
}

/** What an approval brings about: the whole series, or each post. */
async function describeOutcome(
  call: CallContext,
  row: DraftRow,
  { posts, input }: { readonly posts: readonly DraftPost[]; readonly input: OneDecision },
): Promise<string> {
  const { repeat } = contentOf(row);
  const told = posts.map((post) => toTold(row, post, input));
  if (repeat !== null) {
    const [first] = told.toSorted((a, b) => a.content.scheduledAt - b.content.scheduledAt);
    const next = told.filter(({ content }) => content.scheduledAt === first?.content.scheduledAt);
    return `It starts a series. ${seriesInWords(call, repeat, 1)} It begins with: ${await describePosts(call, next)}.`;
  }
  const due = told.filter(({ content }) => isAtOnce(call.ctx, content.scheduledAt));
  const { paused, cut, waits, now } = await countKept(call, due);
  const later = told.length - due.length;
  const soon = nowOrSoon(
    call.ctx,
    due.map(({ content }) => content.scheduledAt),
  );
  const verbs = [
    ...(paused === 0 ? [] : [`keeps ${countPosts(paused)} until the channel is resumed`]),
    ...(cut === 0 ? [] : [`keeps ${countPosts(cut)} until the channel is reconnected`]),
    ...(waits === 0 ? [] : [`keeps ${countPosts(waits)} until the channel may send more`]),
    ...(now === 0 ? [] : [`publishes ${countPosts(now)} ${soon}`]),
    ...(later === 0 ? [] : [`schedules ${due.length === 0 ? countPosts(later) : later}`]),
  ];
  return `It ${verbs.join(" and ")}. ${await describePosts(call, told)}.`;
}

/** With every text, since each of them goes out without another question. */
function seriesInWords(call: CallContext, repeat: Series, among: number): string {
  const { texts = [] } = repeat;
  const end = isEndless(repeat) ? " It goes on until a person ends it." : "";
  const limit = textLimit(among * texts.length);
  const shown = texts.slice(0, MAX_LISTED).map((text, at) => `${at + 1}. ${quoteText(text, limit)}`);
  const more = texts.length > MAX_LISTED ? `; and ${texts.length - MAX_LISTED} more` : "";
  const now = call.ctx.clock.now();
  const list = texts.length === 0 ? "" : ` The texts: ${shown.join("; ")}${more}.`;
  return `${describeSeries(repeat, lateStartOf(repeat, now))}.${end}${list}${describeDoubts(call, describeLeftOver(repeat, now))}`;
}

function toTold(row: DraftRow, { target, prepared, occurrence }: DraftPost, input: OneDecision): ToldPost {
  const { accountId, scheduledAt: own } = target;
  const isOther = occurrence !== null || input.scheduledAt !== undefined || input.slot !== undefined;
  const planned = own === null ? contentOf(row).scheduledAt : Date.parse(own);
  return { accountId, content: prepared.content, planned: isOther ? null : planned };
}

function countPosts(posts: number): string {
  return posts === 1 ? "1 post" : `${posts} posts`;
}

interface AboutMany {
  ask(count: number): string;
  /** What those are about which the decision was made before. */
  readonly done: string;
}

const MANY: Readonly<Record<"approve" | "discard" | "stop", AboutMany>> = {
  approve: { ask: (count) => `Approve ${plural(count, "draft")}?`, done: "approved" },
  discard: { ask: (count) => `Discard ${plural(count, "draft")} for good?`, done: "discarded" },
  stop: { ask: (count) => `End ${count} series?`, done: "ended" },
};

/** One question for all of them. Throws `conflict` where nothing can be done about any. */
async function askAboutAll(
  call: CallContext,
  drafts: readonly OneDecision[],
  what: AboutMany,
): Promise<string> {
  const told: string[] = [];
  const due: ToldPost[] = [];
  const leftOut: string[] = [];
  const refused: Said[] = [];
  for (const one of drafts) {
    try {
      const { line, posts } = await describeOne(call, one, drafts.length);
      told.push(line);
      due.push(...posts.filter(({ content }) => isAtOnce(call.ctx, content.scheduledAt)));
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
      const said = saidOf(error);
      refused.push(join(`${one.id}:`, said));
      const row = await findRow(call, one);
      const isDone = row !== null && isDoneAlready(row, one.decision);
      const why = isDone ? `${what.done} already.` : plainText(describeRefusal(call, said), MAX_TEXT);
      leftOut.push(`${nameOf(row)}: ${why}`);
    }
  }
  if (told.length === 0) throw new AppError("conflict", refused);
  const lines = [...told, ...leftOut].map((line, at) => `${at + 1}. ${line}`);
  return [`${what.ask(told.length)}${await countNow(call, due)}`, ...lines].join("\n");
}

/** Among many drafts it is overlooked that some are published by the yes. */
async function countNow(call: CallContext, due: readonly ToldPost[]): Promise<string> {
  const { now } = await countKept(call, due);
  if (now === 0) return "";
  const soon = nowOrSoon(
    call.ctx,
    due.map(({ content }) => content.scheduledAt),
  );
  return ` ${plural(now, "post goes", "posts go")} out ${soon}.`;
}

/** A person knows drafts by their texts, not by revisions. */
function describeRefusal(call: CallContext, said: Message): string {
  if (said.sentences[0]?.field === "revision") return "left out, as it is not what it was when it was read.";
  return `not as it is now.${describeDoubts(call, [said])}`;
}

function nameOf(row: DraftRow | null): string {
  return row === null ? "A draft" : `The draft ${nameDraft(row)}`;
}

function findRow({ ctx, caller }: CallContext, { id }: OneDecision): Promise<DraftRow | null> {
  return findOwnDraft(ctx.store, caller, id).catch(() => null);
}

/** As little as tells what is agreed to. */
async function describeOne(
  call: CallContext,
  input: OneDecision,
  among: number,
): Promise<{ readonly line: string; readonly posts: readonly ToldPost[] }> {
  const row = await findDecidable(call, input);
  if (input.decision !== "approve") return { line: nameDraft(row), posts: [] };
  const { posts, checks } = await checkApproval(call, row, input);
  const { repeat } = contentOf(row);
  const told = posts.map((post) => toTold(row, post, input));
  const next = await describePosts(call, told, { among: among * posts.length, most: 3 });
  const doubts = describeDoubts(
    call,
    checks.flatMap(({ warnings }) => warnings.filter((one) => !isPassing(one))),
  );
  const before = `${await describeSentBack(call, row)}${doubts}`;
  const series =
    repeat === null
      ? ""
      : `The series ${nameDraft(row)}. ${seriesInWords(call, repeat, among)} It begins with: `;
  return { line: `${series}${next}.${before}`, posts: told };
}
