import type { DecideDraft } from "../domain/drafts/draft.ts";
import { AppError, sentenceOf } from "../domain/errors.ts";
import { plainText } from "../domain/plain-text.ts";
import { tellTime } from "../domain/time.ts";
import { listWaitingPosts } from "../store/queries/drafts.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { checkApproval } from "./approval.ts";
import { assertDecidable, eachOf, nameDraft, type OneDecision } from "./decide-draft.ts";
import { findOwnDraft } from "./drafts.ts";
import { assertCurrent } from "./save-draft.ts";
import type { DraftPost } from "./series.ts";

const MAX_TEXT = 200;
const MAX_NAME = 120;
const MAX_LISTED = 10;

/** Of one of several drafts. */
const SHORT = { text: 80, posts: 3 };

/** What a person is asked before drafts are approved, or series end. Null: nothing. */
export async function askToDecide(call: CallContext, input: DecideDraft): Promise<string | null> {
  const [first, ...more] = eachOf(call, input);
  if (first === undefined || input.decision === "changes" || input.decision === "discard") return null;
  if (more.length > 0) return askAboutAll(call, [first, ...more]);
  return first.decision === "stop" ? askToStop(call, first) : askToApprove(call, first);
}

async function askToStop({ ctx, caller }: CallContext, { id }: OneDecision): Promise<string | null> {
  const row = await findOwnDraft(ctx.store, caller, id);
  if (row.state !== "repeating") return null;
  const waiting = (await listWaitingPosts(ctx.store, row.id)).length;
  return `End the series ${nameDraft(row)}? Its ${waiting} waiting ${waiting === 1 ? "post is" : "posts are"} cancelled.`;
}

async function askToApprove(call: CallContext, input: OneDecision): Promise<string> {
  const { ctx, caller } = call;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  assertDecidable(row, input.decision);
  await assertCurrent(ctx.store, row, input.revision);
  const { posts, checks } = await checkApproval(call, row, input);
  const shown = await tellPosts(call, posts, { text: MAX_TEXT, posts: MAX_LISTED });
  const doubts = [...new Set(checks.flatMap(({ warnings }) => warnings))].join(" ");
  const count = posts.length === 1 ? "1 post" : `${posts.length} posts`;
  return `Approve the draft ${nameDraft(row)}? It schedules ${count}. ${shown}.${doubts === "" ? "" : ` ${doubts}`}`;
}

/** One question for all of them. Throws `conflict` where nothing can be done about any. */
async function askAboutAll(call: CallContext, drafts: readonly OneDecision[]): Promise<string> {
  const told: string[] = [];
  const refused: string[] = [];
  for (const one of drafts) {
    const line = await tellOne(call, one).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
      refused.push(`${one.id}: ${sentenceOf(error)}`);
      return `${one.id}: not as it is now. ${plainText(sentenceOf(error), MAX_TEXT)}`;
    });
    told.push(line);
  }
  if (refused.length === drafts.length) throw new AppError("conflict", refused.join(" "));
  const what = drafts[0]?.decision === "stop" ? "End these series" : "Approve these drafts";
  return [`${what} (${drafts.length})?`, ...told.map((line, at) => `${at + 1}. ${line}`)].join("\n");
}

/** As little as tells what is agreed to. */
async function tellOne(call: CallContext, input: OneDecision): Promise<string> {
  const { ctx, caller } = call;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  assertDecidable(row, input.decision);
  if (input.decision === "stop") return nameDraft(row);
  await assertCurrent(ctx.store, row, input.revision);
  const { posts } = await checkApproval(call, row, input);
  return tellPosts(call, posts, SHORT);
}

async function tellPosts(
  call: CallContext,
  posts: readonly DraftPost[],
  most: { readonly text: number; readonly posts: number },
): Promise<string> {
  const { ctx } = call;
  const names = await namesOfAccounts(call);
  const shown = posts.slice(0, most.posts).map(({ target, prepared }) => {
    const { caption, media_url: mediaUrl, scheduled_at: at } = prepared.row;
    const text = caption ?? (mediaUrl === "" ? "no text" : mediaUrl);
    const channel = plainText(names.get(target.accountId) ?? target.accountId, MAX_NAME);
    const when = at <= ctx.clock.now() ? "now" : tellTime(at, ctx.settings.timezone);
    return `${channel}, ${when}: “${plainText(text, most.text)}”`;
  });
  const more = posts.length > most.posts ? `; and ${posts.length - most.posts} more` : "";
  return `${shown.join("; ")}${more}`;
}
