import { meantBound } from "../domain/arguments/spoken-times.ts";
import { type Said, say } from "../domain/sentences.ts";
import type { PostsChange } from "../domain/posts/post-body.ts";
import { parseBound } from "../domain/time.ts";
import type { CallContext } from "../context.ts";
import { changePosts as changeWaiting } from "../posts/change-posts.ts";
import type { DraftRow } from "../store/queries/drafts.ts";
import { askToChange as askAboutPosts, askToDisconnect as askAboutChannel } from "../posts/questions.ts";
import { nameDraft } from "./decide-draft.ts";
import { contentOf } from "./draft-content.ts";
import { listUndecided } from "./drafts.ts";

/** So many are named. */
const MAX_NAMED = 10;

/** Moves or cancels waiting posts, and names the drafts of that time that a person has not approved yet. */
export async function changePosts(call: CallContext, input: PostsChange): ReturnType<typeof changeWaiting> {
  return changeWaiting(call, input, await tellWaiting(call, input));
}

/** What a person is asked before, which names these drafts, too. Null: nothing. */
export async function askToChange(call: CallContext, input: PostsChange): Promise<string | null> {
  const question = await askAboutPosts(call, input);
  const rows = question === null ? [] : await findWaiting(call, input);
  if (rows.length === 0) return question;
  const what = input.cancel === true ? "cancelled" : "moved";
  const which =
    rows.length === 1
      ? `${nameDrafts(rows)}, which waits for approval`
      : `${rows.length} drafts that wait for approval, ${nameDrafts(rows)}`;
  return `${question}${question?.endsWith(".") === true ? "" : "."} Not ${what}: ${which}.`;
}

/** What a person is asked before a channel is disconnected, with the drafts that are meant for it. */
export async function askToDisconnect(
  call: CallContext,
  input: { readonly accountId: string },
): Promise<string | null> {
  const question = await askAboutChannel(call, input);
  const rows = question === null ? [] : await listUndecided(call, [input.accountId]);
  if (rows.length === 0) return question;
  const which = rows.length === 1 ? "1 draft is" : `${rows.length} drafts are`;
  return `${question} ${which} meant for it and cannot be approved before it is connected again: ${nameDrafts(rows)}.`;
}

function nameDrafts(rows: readonly DraftRow[]): string {
  const names = rows.slice(0, MAX_NAMED).map((row) => `the draft ${nameDraft(row)}`);
  const more = rows.length > names.length ? `; and ${rows.length - names.length} more` : "";
  return `${names.join("; ")}${more}`;
}

/** Who moves a Friday means what waits for approval, too; but that is not planned yet. */
async function findWaiting(call: CallContext, input: PostsChange): Promise<readonly DraftRow[]> {
  const { timezone } = call.ctx.settings;
  const { ids, accountId = null, label, from, to } = input;
  const isFiltered = accountId !== null || label !== undefined || from !== undefined || to !== undefined;
  if (ids !== undefined || !isFiltered) return [];
  const meant = meantBound({ now: call.ctx.clock.now(), timezone });
  const isMeant = inSpan({
    from: from === undefined ? -Infinity : parseBound("from", from, timezone, false, meant),
    to: to === undefined ? Infinity : parseBound("to", to, timezone, true, meant),
  });
  return (await listUndecided(call, accountId)).filter(
    (row) => row.state === "waiting" && isMeant(row) && hasLabel(row, label),
  );
}

async function tellWaiting(call: CallContext, input: PostsChange): Promise<Said[]> {
  const rows = await findWaiting(call, input);
  if (rows.length === 0) return [];
  const isOne = rows.length === 1;
  const what = rows.length === 1 ? "1 draft that fits waits" : `${rows.length} drafts that fit wait`;
  return [
    say(`${what} for a person and ${isOne ? "is" : "are"} not changed by this: ${nameDrafts(rows)}.`, {
      next: [{ do: "see", of: "drafts" }, { do: "move_draft" }],
    }),
  ];
}

function hasLabel(row: DraftRow, labels: readonly string[] | undefined): boolean {
  return labels === undefined || contentOf(row).labels.some((label) => labels.includes(label));
}

/** Whether a draft, or what it is on one of its channels, has its time there. Without bounds any fits. */
function inSpan({ from, to }: { from: number; to: number }): (row: DraftRow) => boolean {
  if (from === -Infinity && to === Infinity) return () => true;
  return (row) => {
    const { scheduledAt, targets } = contentOf(row);
    const own = targets.flatMap((target) =>
      target.scheduledAt === null ? [] : Date.parse(target.scheduledAt),
    );
    return [...own, scheduledAt].some((at) => at !== null && at >= from && at <= to);
  };
}
