import type { ListPostsArgs, SaidPostPage } from "../../domain/posts/post-lists.ts";
import type { CallContext } from "../../context.ts";
import { listPosts as listMade } from "../list-posts.ts";
import { listAccountRows } from "../../store/queries/accounts.ts";
import { findOwnDraft } from "./drafts.ts";
import { findComing, spanOf, describeComing } from "./coming.ts";

/** A page of posts. Who asks for a time is told of the series that post in it, and have no post there yet. */
export async function listPosts(call: CallContext, args: ListPostsArgs): Promise<SaidPostPage> {
  const page = await listMade(call, args);
  if (args.draftId !== undefined && page.posts.length === 0)
    await findOwnDraft(call.ctx.store, call.caller, args.draftId, "draftId");
  const { from, to, status, cursor, search } = args;
  const isForTime = (from !== undefined || to !== undefined) && cursor === undefined && search === undefined;
  if (!isForTime || status?.includes("scheduled") === false) return page;
  const coming = await findComing(call, spanOf(call, args), args.accountId ?? null);
  const fits = await fitting(call, args);
  const told = describeComing(call, coming.filter(fits), "not in this list");
  return told.length === 0 ? page : { ...page, warnings: [...(page.warnings ?? []), ...told] };
}

type SeriesFilter = Pick<ListPostsArgs, "draftId" | "label" | "provider">;
type RepeatingDraft = Awaited<ReturnType<typeof findComing>>[number];

async function fitting(
  { ctx, caller }: CallContext,
  { draftId, label, provider }: SeriesFilter,
): Promise<(series: RepeatingDraft) => boolean> {
  const rows = provider === undefined ? [] : await listAccountRows(ctx.store, caller.ownerId);
  const providers = new Map(rows.map((row) => [row.id, row.provider]));
  return ({ row, content: { labels, targets } }) =>
    (draftId === undefined || draftId === row.id) &&
    (label === undefined || labels.some((one) => label.includes(one))) &&
    (provider === undefined ||
      targets.some(({ accountId }) => provider.includes(providers.get(accountId) ?? "")));
}
