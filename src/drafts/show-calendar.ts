import type { SaidDraftCalendar } from "../domain/drafts/calendar.ts";
import type { CalendarArgs } from "../domain/posts/post-lists.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { showCalendar } from "../posts/list-posts.ts";
import { contentOf } from "./draft-content.ts";
import { firstTextOf } from "../domain/drafts/draft.ts";
import { aheadOf, occurrencesOf, textOf } from "../domain/drafts/repeat.ts";
import { plainText } from "../domain/plain-text.ts";
import { tellSeries } from "../domain/drafts/tell-series.ts";
import { toIso } from "../domain/time.ts";
import { listDraftsOf, listUndecided, showDrafts } from "./drafts.ts";
import { beginOf } from "./series.ts";

/** As many as a person decides about in a month. */
const MAX_DRAFTS = 200;

/** The calendar with the drafts of its window. With `status` it holds posts alone. */
export async function showDraftCalendar(call: CallContext, args: CalendarArgs): Promise<SaidDraftCalendar> {
  const calendar = await showCalendar(call, args);
  if (args.status !== undefined) return { ...calendar, drafts: [], series: [] };
  const { ctx, caller } = call;
  const window = { from: Date.parse(calendar.from), to: Date.parse(calendar.to) };
  const rows = (await listUndecided(call, args.accountId ?? null)).filter((row) => {
    const { scheduledAt, targets } = contentOf(row);
    const times = targets.map((target) =>
      target.scheduledAt === null ? scheduledAt : Date.parse(target.scheduledAt),
    );
    return [scheduledAt, ...times].some((at) => at !== null && at >= window.from && at <= window.to);
  });
  const drafts = await showDrafts(ctx.store, caller.ownerId, rows.slice(0, MAX_DRAFTS));
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

/** A daily one over a year would bury the posts; its rule tells the rest. */
const MAX_COMING = 62;

/** So much of each text that takes turns, to tell it from the others. */
const MAX_TEXT = 80;

/** The series with times in this window that have no post yet: without them a series seems to end where its posts do. */
export async function showComing(
  call: CallContext,
  window: { readonly from: number; readonly to: number },
  accounts: readonly string[] | null,
): Promise<Coming[]> {
  const now = call.ctx.clock.now();
  const rows = await listDraftsOf(call, ["repeating"], accounts);
  return rows.flatMap((row): Coming[] => {
    const content = contentOf(row);
    const { repeat, targets, title } = content;
    if (repeat === null || window.to <= now) return [];
    const begun = beginOf(row, now);
    const last = aheadOf(repeat, now, begun).at(-1)?.at;
    if (last === undefined) return [];
    const coming: string[] = [];
    const texts: string[] = [];
    for (const occurrence of occurrencesOf(repeat, { begun, since: Math.max(last, window.from) })) {
      const { at } = occurrence;
      if (at > window.to || coming.length === MAX_COMING) break;
      if (at <= last || at < window.from) continue;
      coming.push(toIso(at));
      texts.push(plainText(textOf(repeat, occurrence) ?? "", MAX_TEXT));
    }
    if (coming.length === 0) return [];
    return [
      {
        draftId: row.id,
        text: title ?? firstTextOf(content),
        accountIds: targets.map(({ accountId }) => accountId),
        rule: tellSeries(repeat),
        postsUntil: toIso(last),
        coming,
        ...(repeat.texts === undefined ? {} : { texts }),
      },
    ];
  });
}
