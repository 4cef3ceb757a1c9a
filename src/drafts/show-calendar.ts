import type { SaidDraftCalendar } from "../domain/drafts/calendar.ts";
import type { CalendarArgs } from "../domain/posts/post-lists.ts";
import { namesOfAccounts } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { showCalendar } from "../posts/list-posts.ts";
import { contentOf } from "./draft-content.ts";
import { listUndecided, showDrafts } from "./drafts.ts";

/** As many as a person decides about in a month. */
const MAX_DRAFTS = 200;

/** The calendar with the drafts of its window. With `status` it holds posts alone. */
export async function showDraftCalendar(call: CallContext, args: CalendarArgs): Promise<SaidDraftCalendar> {
  const calendar = await showCalendar(call, args);
  if (args.status !== undefined) return { ...calendar, drafts: [] };
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
  const ids = drafts.flatMap(({ targets }) => targets.map(({ accountId }) => accountId));
  const all = await namesOfAccounts(call);
  const names = Object.fromEntries(ids.map((id) => [id, all.get(id) ?? id]));
  return { ...calendar, names: { ...calendar.names, ...names }, drafts };
}
