import { meantBound } from "../../domain/arguments/meant-times.ts";
import { aheadOf, type Occurrence, occurrencesOf, type Series } from "../../domain/drafts/repeat.ts";

import { type Said, say } from "../../domain/sentences.ts";
import { formatTime } from "../../domain/time.ts";
import { parseBound } from "../../domain/parse-time.ts";
import type { CallContext } from "../../context.ts";
import type { DraftRow } from "../../store/queries/drafts.ts";
import { contentOf, type DraftContent } from "./draft-content.ts";
import { listDraftsOf } from "./drafts.ts";
import { beginOf } from "./series.ts";
import { nameDraft } from "./tell-decision.ts";

/* The times of series that have no post yet. In a list of posts alone a series seems to end where its posts do. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A series with times in a span that have no post yet. */
export interface Coming {
  readonly row: DraftRow;
  readonly content: DraftContent;
  readonly repeat: Series;
  /** When it was approved. */
  readonly begun: number;
  /** Its last time that has a post. */
  readonly postsUntil: number;
  readonly times: readonly Occurrence[];
  /** There are more in the span than these. */
  readonly hasMore: boolean;
}

/** A daily one over a year would bury the posts; its rule tells the rest. */
const MAX_COMING = 62;

/** `accounts`: null: any. */
export async function findComing(
  call: CallContext,
  span: Span,
  accounts: readonly string[] | null,
): Promise<Coming[]> {
  const now = call.ctx.clock.now();
  if (span.to <= now) return [];
  const rows = await listDraftsOf(call, ["repeating"], accounts);
  return rows.flatMap((row) => comingOf(row, span, now) ?? []);
}

function comingOf(row: DraftRow, { from, to }: Span, now: number): Coming | null {
  const content = contentOf(row);
  const { repeat } = content;
  if (repeat === null) return null;
  const begun = beginOf(row, now);
  const postsUntil = aheadOf(repeat, now, begun).at(-1)?.at;
  if (postsUntil === undefined) return null;
  const times: Occurrence[] = [];
  for (const occurrence of occurrencesOf(repeat, { begun, since: Math.max(postsUntil, from) })) {
    const { at } = occurrence;
    if (at > to || times.length > MAX_COMING) break;
    if (at > postsUntil && at >= from) times.push(occurrence);
  }
  if (times.length === 0) return null;
  const hasMore = times.length > MAX_COMING;
  return { row, content, repeat, begun, postsUntil, times: times.slice(0, MAX_COMING), hasMore };
}

/** The span that bounds of a call mean. */
export function spanOf(
  { ctx: { clock, settings } }: CallContext,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Span {
  const { timezone } = settings;
  const meant = meantBound({ now: clock.now(), timezone });
  return {
    from: from === undefined ? -Infinity : parseBound("from", from, timezone, false, meant),
    to: to === undefined ? Infinity : parseBound("to", to, timezone, true, meant),
  };
}

/** So many are named. */
const MAX_NAMED = 5;

/** Of series that go on in a span: `isNot` says what they are not part of. */
export function describeComing({ ctx }: CallContext, coming: readonly Coming[], isNot: string): Said[] {
  if (coming.length === 0) return [];
  const { timezone } = ctx.settings;
  const named = coming.slice(0, MAX_NAMED).map((one) => {
    const first = formatTime(one.times[0]?.at ?? 0, timezone);
    const count = one.times.length;
    if (count === 1 && !one.hasMore) return `${nameDraft(one.row)}, on ${first}`;
    return `${nameDraft(one.row)}, ${one.hasMore ? "more than " : ""}${count} times, the first on ${first}`;
  });
  const more = coming.length > MAX_NAMED ? `; and ${coming.length - MAX_NAMED} more` : "";
  const [which, posts] =
    coming.length === 1 ? ["1 series posts", "Its posts"] : [`${coming.length} series post`, "Those posts"];
  return [
    say(
      `${which} in this time as well: ${named.join("; ")}${more}. ${posts} are not made yet, and ${isNot}.`,
      { next: [{ do: "stop_series", draftIds: coming.map(({ row }) => row.id) }] },
    ),
  ];
}
