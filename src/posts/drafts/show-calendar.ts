import type { SaidDraftCalendar } from "../../domain/drafts/calendar.ts";
import type { CalendarArgs } from "../../domain/posts/post-lists.ts";
import { namesOfAccounts } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { showCalendar } from "../list-posts.ts";
import { contentOf } from "./draft-content.ts";
import { firstTextOf } from "../../domain/drafts/draft.ts";
import { lateStartOf, textOf } from "../../domain/drafts/repeat.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import { describeSeries } from "../../domain/drafts/tell-series.ts";
import { toIso } from "../../domain/time.ts";
import { listUndecided, showUndecided } from "./drafts.ts";
import { findComing, type Span } from "./coming.ts";

/** As many as a person decides about in a month. */
const MAX_DRAFTS = 200;

/** The calendar with the drafts of its window. With `status` it holds posts alone, and what is still to be one. */
export async function showDraftCalendar(call: CallContext, args: CalendarArgs): Promise<SaidDraftCalendar> {
  const calendar = await showCalendar(call, args);
  if (args.status?.includes("scheduled") === false) return { ...calendar, drafts: [], series: [] };
  const window = { from: Date.parse(calendar.from), to: Date.parse(calendar.to) };
  const undecided = args.status === undefined ? await listUndecided(call, args.accountId ?? null) : [];
  const rows = undecided.filter((row) => {
    const { scheduledAt, targets } = contentOf(row);
    const times = targets.map((target) =>
      target.scheduledAt === null ? scheduledAt : Date.parse(target.scheduledAt),
    );
    return [scheduledAt, ...times].some((at) => at !== null && at >= window.from && at <= window.to);
  });
  const drafts = await showUndecided(call, rows.slice(0, MAX_DRAFTS));
  const series = await showComing(call, window, args.accountId ?? null);
  const ids = [
    ...drafts.flatMap(({ targets }) => targets.map(({ accountId }) => accountId)),
    ...series.flatMap(({ accountIds }) => accountIds),
  ];
  const all = await namesOfAccounts(call);
  const names = Object.fromEntries(ids.map((id) => [id, all.get(id) ?? id]));
  return { ...calendar, names: { ...calendar.names, ...names }, drafts, series };
}

type Coming = SaidDraftCalendar["series"][number];

/** So much of each text that takes turns, to tell it from the others. */
const MAX_TEXT = 80;

/** The series with times in this window that have no post yet: without them a series seems to end where its posts do. */
export async function showComing(
  call: CallContext,
  window: Span,
  accounts: readonly string[] | null,
): Promise<Coming[]> {
  const found = await findComing(call, window, accounts);
  return found.map(({ row, content, repeat, begun, postsUntil, times }) => ({
    draftId: row.id,
    text: content.title ?? firstTextOf(content),
    accountIds: content.targets.map(({ accountId }) => accountId),
    rule: describeSeries(repeat, lateStartOf(repeat, begun)),
    postsUntil: toIso(postsUntil),
    coming: times.map(({ at }) => toIso(at)),
    ...(repeat.texts === undefined
      ? {}
      : { texts: times.map((one) => plainText(textOf(repeat, one) ?? "", MAX_TEXT)) }),
  }));
}
