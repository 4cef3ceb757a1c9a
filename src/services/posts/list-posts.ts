import { encodeCursor, decodeCursor, unknownCursor } from "../../domain/cursor.ts";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import type { ListPostsArgs, PostPage } from "../../domain/posts/post-lists.ts";
import { parseBound, quote } from "../../domain/time.ts";
import type { Position, PostFilter } from "../../store/engine/search.ts";
import { toPost } from "../../store/queries/posts.ts";
import { parseSearch } from "../../domain/compare-words.ts";
import { meantAccountIds } from "../accounts/meant-channel.ts";
import type { AppContext, CallContext } from "../context.ts";

/** A page of the caller's posts, newest scheduled time first. */
export async function listPosts({ ctx, caller }: CallContext, args: ListPostsArgs): Promise<PostPage> {
  const filters = await readFilters(ctx, caller, args);
  const before = args.cursor === undefined ? null : readPosition(args.cursor, filters);
  const accountIds = reachable(caller, filters.accountIds);
  const filter = { ...filters, accountIds, ownerId: caller.ownerId };
  const page = await ctx.store.search.page(filter, {
    before,
    limit: args.limit,
    now: () => ctx.clock.monotonic(),
  });
  return {
    posts: page.rows.map(toPost),
    nextCursor:
      page.next === null ? null : encodeCursor(`${page.next.at} ${page.next.id}`, fingerprinted(filters)),
  };
}

type Filters = Omit<PostFilter, "ownerId">;

async function readFilters(ctx: AppContext, caller: Caller, args: ListPostsArgs): Promise<Filters> {
  const { timezone } = ctx.settings;
  const from = args.from === undefined ? null : parseBound("from", args.from, timezone, false);
  const to = args.to === undefined ? null : parseBound("to", args.to, timezone, true);
  if (args.from !== undefined && args.to !== undefined && from !== null && to !== null && from > to) {
    throw new AppError(
      "invalid",
      `from: ${quote(args.from)} is after to (${quote(args.to)}), so no post can fit. Exchange the two, or leave one out.`,
    );
  }
  const providers = knownProviders(ctx, listOf(args.provider));
  const accountIds =
    args.accountId === undefined ? undefined : await meantAccountIds(ctx, caller, args.accountId);
  return {
    accountIds: listOf(accountIds),
    providers,
    statuses: listOf(args.status),
    terms: args.search === undefined ? [] : parseSearch(args.search),
    from,
    to,
  };
}

/** Each value once and in order, so that a cursor does not depend on how a list was written. */
function listOf<T extends string>(values: readonly T[] | undefined): readonly T[] | null {
  return values === undefined ? null : [...new Set(values)].sort();
}

function knownProviders(ctx: AppContext, providers: readonly string[] | null): readonly string[] | null {
  const unknown = providers?.find((provider) => !ctx.platforms.has(provider));
  if (unknown === undefined) return providers;
  throw new AppError(
    "invalid",
    `provider: ${quote(unknown)} is not a platform. The platforms are ${[...ctx.platforms.keys()].join(", ")}.`,
  );
}

/** A limited key sees only its accounts, whatever it asks for. */
export function reachable(
  { accountIds: allowed }: Caller,
  wanted: readonly string[] | null,
): readonly string[] | null {
  if (allowed === null || wanted === null) return wanted ?? allowed;
  return wanted.filter((id) => allowed.includes(id));
}

function fingerprinted({ terms, ...rest }: Filters): unknown {
  return [rest.accountIds, rest.providers, rest.statuses, rest.from, rest.to, terms.map((term) => term.text)];
}

const POSITION = /^(?<at>-?\d{1,15}) (?<id>\w+)$/;

function readPosition(cursor: string, filters: Filters): Position {
  const { at, id } = POSITION.exec(decodeCursor(cursor, fingerprinted(filters)))?.groups ?? {};
  if (at === undefined || id === undefined) throw unknownCursor();
  return { at: Number(at), id };
}
