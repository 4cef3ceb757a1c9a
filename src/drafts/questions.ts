import type { DecideDraft } from "../domain/drafts/draft.ts";
import { plainText } from "../domain/plain-text.ts";
import { tellTime } from "../domain/time.ts";
import { listWaitingPosts } from "../store/queries/drafts.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { nameDraft, prepareApproval } from "./decide-draft.ts";
import { findOwnDraft } from "./drafts.ts";
import { assertCurrent } from "./save-draft.ts";

const MAX_TEXT = 200;
const MAX_NAME = 60;
const MAX_LISTED = 10;

/** What a person is asked before a draft is approved, or a series ends. Null: nothing. */
export async function askToDecide(call: CallContext, input: DecideDraft): Promise<string | null> {
  const { ctx, caller } = call;
  if (input.decision === "changes" || input.decision === "discard") return null;
  const row = await findOwnDraft(ctx.store, caller, input.id);
  if (input.decision === "stop") {
    if (row.state !== "repeating") return null;
    const waiting = (await listWaitingPosts(ctx.store, row.id)).length;
    return `End the series ${nameDraft(row)}? Its ${waiting} waiting ${waiting === 1 ? "post is" : "posts are"} cancelled.`;
  }
  await assertCurrent(ctx.store, row, input.revision);
  const { posts, checks } = await prepareApproval(call, row, input);
  const names = await namesOfAccounts(
    call,
    posts.map(({ target }) => target.accountId),
  );
  const shown = posts.slice(0, MAX_LISTED).map(({ target, prepared }) => {
    const { caption, media_url: mediaUrl, scheduled_at: at } = prepared.row;
    const text = caption ?? (mediaUrl === "" ? "no text" : mediaUrl);
    const channel = plainText(names.get(target.accountId) ?? target.accountId, MAX_NAME);
    const when = at <= ctx.clock.now() ? "now" : tellTime(at, ctx.settings.timezone);
    return `${channel}, ${when}: “${plainText(text, MAX_TEXT)}”`;
  });
  const more = posts.length > MAX_LISTED ? `; and ${posts.length - MAX_LISTED} more` : "";
  const doubts = [...new Set(checks.flatMap(({ warnings }) => warnings))].join(" ");
  const count = posts.length === 1 ? "1 post" : `${posts.length} posts`;
  return `Approve the draft ${nameDraft(row)}? It schedules ${count}. ${shown.join("; ")}${more}.${doubts === "" ? "" : ` ${doubts}`}`;
}
