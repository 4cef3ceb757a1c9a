import type { Said } from "../../domain/sentences.ts";
import type { SaidPost } from "../../domain/posts/post.ts";
import type { ListPostsArgs } from "../../domain/posts/post-lists.ts";
import { POST_STATUSES } from "../../domain/posts/post-states.ts";
import { listAccounts, findChannel } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { listLatePosts, listPosts } from "../../posts/list-posts.ts";
import { JSON_TOO, many, oneOf, type Row, whole } from "../command.ts";
import { cutText } from "../../domain/text/cut-text.ts";
import { parseBound } from "../../domain/parse-time.ts";
import { showComing } from "../../posts/drafts/show-calendar.ts";
import { readBounds } from "./channels.ts";
import { shellRow } from "./shell.ts";
import { forShell } from "./words.ts";
import { oneLine } from "./table.ts";
import { showPosts, toClock } from "./views.ts";

const KINDS = {
  upcoming: ["scheduled", "publishing", "uploaded"],
  failed: ["failed"],
  published: ["published"],
  cancelled: ["cancelled"],
  all: POST_STATUSES,
} as const satisfies Record<string, readonly SaidPost["status"][]>;

const WHICH = [
  "upcoming",
  "failed",
  "published",
  "cancelled",
  "all",
] as const satisfies readonly (keyof typeof KINDS)[];

const PAGE = 500;

const NOTHING: Readonly<Record<keyof typeof KINDS, string>> = {
  upcoming: 'Nothing is planned. Plan a post with posthorn post "Hello" --on NAME --at "tomorrow 9:00".\n',
  failed: "No post has failed.\n",
  published: "No post is out.\n",
  cancelled: "No post is cancelled.\n",
  all: 'There are no posts. Make one with posthorn post "Hello" --on NAME.\n',
};

export const LIST: Row = shellRow({
  name: "list",
  about: "list posts: what is planned, or what became of it",
  takes: {
    "[which]": oneOf("which posts", WHICH, "upcoming"),
    "--on <channel>": many("only on this channel (may be repeated)"),
    "--search <words>": "only with words that begin like these",
    "--from <time>": "only from this date or time on",
    "--to <time>": "only until this date or time",
    "--limit <count>": whole(`how many, up to ${PAGE}`, PAGE, 20),
    "--json": JSON_TOO,
  },
  help: `
Planned posts begin with the next one, all others with the latest.

Examples:
  posthorn list
  posthorn list failed
  posthorn list published --on bluesky --from 2026-11-01 --limit 50`,
  async answer(at, { which, on, search, limit, ...bounds }) {
    const channels = on.length === 0 ? [] : (await listAccounts(at.call)).accounts;
    const ids = on.map((wanted) => findChannel(at.ctx, channels, { wanted, field: "--on" }).id);
    const filter = {
      status: [...KINDS[which]],
      accountId: on.length === 0 ? undefined : ids,
      search,
      ...readBounds(at, bounds),
    };
    return { filter, ...(await (which === "upcoming" ? nextOf : latestOf)(at.call, filter, limit)) };
  },
  data: ({ posts, warnings = [] }) => ({ posts, ...(warnings.length > 0 && { warnings }) }),
  async view(at, { posts, warnings = [], filter, isMore }, { which, on, search, from, to, limit }) {
    // One for all is told by what was asked for.
    const hasStatus = which === "all" || posts.some(({ status }) => status !== KINDS[which][0]);
    const isNarrowed = [search, from, to, ...on].some((one) => one !== undefined);
    const nothing = warnings.length === 0 && !isNarrowed ? NOTHING[which] : "No post matches.\n";
    const { columns } = at.terminal;
    return [
      posts.length === 0 ? nothing : await showPosts(at.ctx, posts, { columns, hasStatus }),
      ...warnings.map((warning) => `${forShell(warning)}\n`),
      which === "upcoming" && search === undefined ? await describeComing(at.call, filter) : "",
      isMore ? `There are more. --limit ${limit * 2} shows twice as many.\n` : "",
    ].join("");
  },
});

/** What no post stands for yet: the list would seem to end with the series' last one. */
async function describeComing(call: CallContext, { from, to, accountId }: Filter): Promise<string> {
  const { clock, settings } = call.ctx;
  const { timezone } = settings;
  const window = {
    from: from === undefined ? clock.now() : parseBound("--from", from, timezone, false),
    to: to === undefined ? Infinity : parseBound("--to", to, timezone, true),
  };
  const coming = await showComing(call, window, accountId ?? null);
  return coming
    .map(({ rule, text, draftId, postsUntil }) => {
      const what = text === null ? "" : ` (${oneLine(cutText(text, { maxChars: MAX_TEXT }))})`;
      return `And so on: ${rule}${what}. Its posts are made 14 days ahead, now until ${toClock(postsUntil, timezone)}. To end it: posthorn approve ${draftId.slice(-6)} --stop\n`;
    })
    .join("");
}

const MAX_TEXT = 40;

type Filter = Omit<ListPostsArgs, "limit" | "cursor">;

interface PostListing {
  readonly posts: readonly SaidPost[];
  readonly isMore: boolean;
  /** Of what goes out within the bounds and does not stand there. */
  readonly warnings?: readonly Said[] | undefined;
}

async function latestOf(call: CallContext, filter: Filter, limit: number): Promise<PostListing> {
  const { posts, nextCursor, warnings } = await listPosts(call, { ...filter, limit });
  return { posts, isMore: nextCursor !== null, warnings };
}

/** Lists begin with the latest: the next ones stand on the last page. */
async function nextOf(call: CallContext, filter: Filter, limit: number): Promise<PostListing> {
  let posts: SaidPost[] = [];
  let cursor: string | undefined;
  let isMore = false;
  for (;;) {
    call.signal.throwIfAborted();
    const page = await listPosts(call, { ...filter, limit: PAGE, cursor });
    isMore ||= posts.length + page.posts.length > limit;
    posts = [...posts, ...page.posts].slice(-limit);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return withLate(call, filter, { posts: posts.toReversed(), isMore }, limit);
}

/** With those whose time has passed and that go out within the bounds all the same. */
async function withLate(
  call: CallContext,
  filter: Filter,
  found: PostListing,
  limit: number,
): Promise<PostListing> {
  const { search, from, to } = filter;
  if (search !== undefined || (from === undefined && to === undefined)) return found;
  const known = new Set(found.posts.map(({ id }) => id));
  const late = (await listLatePosts(call, filter)).filter(({ id }) => !known.has(id));
  const posts = [...late, ...found.posts].toSorted((a, b) => a.scheduledAt.localeCompare(b.scheduledAt));
  return { posts: posts.slice(0, limit), isMore: found.isMore || posts.length > limit };
}
