import { type Said, say } from "../../domain/sentences.ts";
import type { PostsChange } from "../../domain/posts/post-body.ts";
import { withFullStop } from "../../domain/text/plain-text.ts";
import { formatTime } from "../../domain/time.ts";
import { readWallClock } from "../../domain/wall-clock.ts";
import type { CallContext } from "../../context.ts";
import { changePosts as changeWaiting, planChange, type PlannedChange } from "../change-posts.ts";
import { describeDoubts } from "../post-in-words.ts";
import type { DraftRow } from "../../store/queries/drafts.ts";
import { askToChange as askAboutPosts, askToDisconnect as askAboutChannel } from "../questions.ts";
import { nameDraft } from "./tell-decision.ts";
import { findComing, spanOf, describeComing } from "./coming.ts";
import { contentOf } from "./draft-content.ts";
import { listDraftsOf, listUndecided } from "./drafts.ts";

/** So many are named. */
const MAX_NAMED = 10;

/**
 * Moves or cancels waiting posts. Names the drafts of that time that a person has not approved yet, and the series that
 * post in it, or on a day that is moved to, and have no posts there yet.
 */
export async function changePosts(call: CallContext, input: PostsChange): ReturnType<typeof changeWaiting> {
  return changeWaiting(call, input, async (planned) => [
    ...(await describeWaiting(call, input)),
    ...(await describeSeries(call, input, planned)),
  ]);
}

/** What a person is asked before, which names these drafts, too. Null: nothing. */
export async function askToChange(call: CallContext, input: PostsChange): Promise<string | null> {
  const question = await askAboutPosts(call, input);
  if (question === null) return null;
  const series = await describeSeries(call, input, await planChange(call, input));
  const told = describeDoubts(call, series);
  const rows = await findWaiting(call, input);
  if (rows.length === 0) return told === "" ? question : `${withFullStop(question)}${told}`;
  const what = input.cancel === true ? "cancelled" : "moved";
  const which =
    rows.length === 1
      ? `${nameDrafts(rows)}, which waits for approval`
      : `${rows.length} drafts that wait for approval, ${nameDrafts(rows)}`;
  return `${withFullStop(question)} Not ${what}: ${which}.${told}`;
}

/** What a person is asked before a channel is disconnected, with the drafts that are meant for it. */
export async function askToDisconnect(
  call: CallContext,
  input: { readonly accountId: string },
): Promise<string | null> {
  const question = await askAboutChannel(call, input);
  if (question === null) return null;
  const rows = await listUndecided(call, [input.accountId]);
  const which = rows.length === 1 ? "1 draft is" : `${rows.length} drafts are`;
  const drafts =
    rows.length === 0
      ? ""
      : ` ${which} meant for it and cannot be approved before it is connected again: ${nameDrafts(rows)}.`;
  return `${question}${drafts}${await describeRunning(call, input.accountId)}`;
}

/** What goes on by itself goes on failing there. */
async function describeRunning(call: CallContext, accountId: string): Promise<string> {
  const rows = await listDraftsOf(call, ["repeating"], [accountId]);
  if (rows.length === 0) return "";
  const names = rows.slice(0, MAX_NAMED).map((row) => nameDraft(row));
  const more = rows.length > names.length ? `; and ${rows.length - names.length} more` : "";
  return ` ${rows.length} series ${rows.length === 1 ? "is" : "are"} meant for it and cannot post before that: ${names.join("; ")}${more}.`;
}

function nameDrafts(rows: readonly DraftRow[]): string {
  const names = rows.slice(0, MAX_NAMED).map((row) => `the draft ${nameDraft(row)}`);
  const more = rows.length > names.length ? `; and ${rows.length - names.length} more` : "";
  return `${names.join("; ")}${more}`;
}

function isFiltered({ ids, accountId, label, from, to }: PostsChange): boolean {
  return ids === undefined && [accountId, label, from, to].some((one) => one !== undefined);
}

/** What goes on is neither moved nor cancelled by this: it has no posts there yet. */
async function describeSeries(
  call: CallContext,
  input: PostsChange,
  planned: readonly PlannedChange[],
): Promise<readonly Said[]> {
  const within = isFiltered(input)
    ? await findComing(call, spanOf(call, input), input.accountId ?? null)
    : [];
  const fitting = within.filter(({ row }) => hasLabel(row, input.label));
  return [
    ...describeComing(call, fitting, "not changed by this"),
    ...(await describeFilledDays(call, planned)),
  ];
}

/** The series that post on a day, and on the channel, that posts move to. */
async function describeFilledDays(
  call: CallContext,
  planned: readonly PlannedChange[],
): Promise<readonly Said[]> {
  const moved = planned.flatMap(({ row, scheduledAt: at }) =>
    at === null || at === row.scheduled_at ? [] : [{ accountId: row.account_id, at }],
  );
  if (moved.length === 0) return [];
  const { timezone } = call.ctx.settings;
  const dayOf = (at: number): string => readWallClock(at, timezone).date;
  const days = [...new Set(moved.map(({ at }) => dayOf(at)))].toSorted();
  const whole = spanOf(call, { from: days[0], to: days.at(-1) });
  const all = moved.map(({ accountId }) => accountId);
  if ((await findComing(call, whole, all)).length === 0) return [];
  const told: Said[] = [];
  for (const day of days) {
    const accounts = new Set(moved.flatMap(({ accountId, at }) => (dayOf(at) === day ? [accountId] : [])));
    const coming = await findComing(call, spanOf(call, { from: day, to: day }), [...accounts]);
    for (const { row, times } of coming.slice(0, MAX_NAMED - told.length))
      told.push(
        say(
          `The series ${nameDraft(row)} posts on ${formatTime(times[0]?.at ?? 0, timezone)} as well, a day that is moved to. Its post is not made yet.`,
          { next: [{ do: "stop_series", draftIds: [row.id] }] },
        ),
      );
  }
  return told;
}

/** Who moves a Friday means what waits for approval, too; but that is not planned yet. */
async function findWaiting(call: CallContext, input: PostsChange): Promise<readonly DraftRow[]> {
  if (!isFiltered(input)) return [];
  const { accountId = null, label } = input;
  const isMeant = inSpan(spanOf(call, input));
  return (await listUndecided(call, accountId)).filter(
    (row) => row.state === "waiting" && isMeant(row) && hasLabel(row, label),
  );
}

async function describeWaiting(call: CallContext, input: PostsChange): Promise<Said[]> {
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
