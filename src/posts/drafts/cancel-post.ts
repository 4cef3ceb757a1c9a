import { occurrencesOf } from "../../domain/drafts/repeat.ts";
import { type Said, say } from "../../domain/sentences.ts";
import { formatTime } from "../../domain/time.ts";
import type { CallContext } from "../../context.ts";
import { findDraftRow, listDraftPosts } from "../../store/queries/drafts.ts";
import { findPlan } from "../../store/queries/plans.ts";
import { describeDoubts } from "../post-in-words.ts";
import { cancelPost as cancelOne, findOwnPost } from "../posts.ts";
import { askToCancel as askAboutPost } from "../questions.ts";
import { contentOf } from "./draft-content.ts";
import { beginOf } from "./series.ts";
import { nameDraft } from "./tell-decision.ts";

type Cancelling = Parameters<typeof cancelOne>[1];

/** Cancels a post. Who cancels one of a series is told of the others, which still come. */
export async function cancelPost(call: CallContext, input: Cancelling): ReturnType<typeof cancelOne> {
  return cancelOne(call, input, await describeOthers(call, input));
}

/** What a person is asked before, with the same. Null: nothing. */
export async function askToCancel(call: CallContext, input: Cancelling): Promise<string | null> {
  const question = await askAboutPost(call, input);
  const others = question === null ? [] : await describeOthers(call, input);
  return others.length === 0 ? question : `${question}${describeDoubts(call, others)} ${INSTEAD}`;
}

const INSTEAD = "Say no where the whole series is to end: it is stopped instead.";

/** So many posts of a series are looked through: more than it has ahead. */
const MAX_POSTS = 100;

async function describeOthers(call: CallContext, { id }: Cancelling): Promise<Said[]> {
  const { store, clock, settings } = call.ctx;
  const post = await findOwnPost(call.ctx, call.caller, id);
  const draftId = (await findPlan(store, id))?.draft_id ?? null;
  const row = draftId === null ? null : await findDraftRow(store, post.owner_id, draftId);
  const repeat = row?.state === "repeating" ? contentOf(row).repeat : null;
  if (row === null || repeat === null) return [];
  const posts = (await listDraftPosts(store, [row.id], MAX_POSTS)).get(row.id) ?? [];
  // A time whose post was cancelled, or moved, does not come as the series has it.
  const made = new Map(
    posts
      .filter(({ account_id: account }) => account === post.account_id)
      .map((one) => [one.occurrence, one]),
  );
  const now = clock.now();
  for (const { at } of occurrencesOf(repeat, { begun: beginOf(row, now), since: now })) {
    const one = made.get(at);
    const goesOutAt = one === undefined ? at : one.scheduled_at;
    const isOther = one === undefined || (one.id !== id && one.status === "scheduled");
    if (!isOther || goesOutAt <= now) continue;
    return [
      say(
        `It is one of the series ${nameDraft(row)}. The others still come, the next on ${formatTime(goesOutAt, settings.timezone)}.`,
        { next: [{ do: "stop_series", draftIds: [row.id] }] },
      ),
    ];
  }
  return [];
}
