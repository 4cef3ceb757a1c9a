import { Argument, type Command } from "commander";
import type { Post } from "../../domain/posts/post.ts";
import type { ListPostsArgs } from "../../domain/posts/post-lists.ts";
import { POST_STATUSES } from "../../domain/posts/post-states.ts";
import { listAccounts, findChannel } from "../../accounts/accounts.ts";
import { type CallContext, plainCall } from "../../context.ts";
import { listLatePosts, listPosts } from "../../posts/list-posts.ts";
import type { Host } from "../host.ts";
import { collect, toJsonText, wholeNumber } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { cutText } from "../../domain/cut-text.ts";
import { parseBound } from "../../domain/time.ts";
import { showComing } from "../../drafts/show-calendar.ts";
import { readBounds } from "./bounds.ts";
import { forShell } from "./shell-words.ts";
import { oneLine } from "./table.ts";
import { showPosts, toClock } from "./views.ts";

interface ListOptions {
  readonly on: readonly string[];
  readonly search?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly json?: true;
}

const KINDS = {
  upcoming: ["scheduled", "publishing", "uploaded"],
  failed: ["failed"],
  published: ["published"],
  cancelled: ["cancelled"],
  all: POST_STATUSES,
} as const satisfies Record<string, readonly Post["status"][]>;

const PAGE = 500;

const NOTHING: Readonly<Record<keyof typeof KINDS, string>> = {
  upcoming: 'Nothing is planned. Plan a post with posthorn post "Hello" --on NAME --at "tomorrow 9:00".\n',
  failed: "No post has failed.\n",
  published: "No post is out.\n",
  cancelled: "No post is cancelled.\n",
  all: 'There are no posts. Make one with posthorn post "Hello" --on NAME.\n',
};

export function addListCommand(program: Command, host: Host): void {
  program
    .command("list")
    .description("list posts: what is planned, or what became of it")
    .addArgument(new Argument("[which]", "which posts").choices(Object.keys(KINDS)).default("upcoming"))
    .option("--on <channel>", "only on this channel (may be repeated)", collect, [])
    .option("--search <words>", "only with words that begin like these")
    .option("--from <time>", "only from this date or time on")
    .option("--to <time>", "only until this date or time")
    .option("--limit <count>", `how many, up to ${PAGE}`, wholeNumber(PAGE), 20)
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
Planned posts begin with the next one, all others with the latest.

Examples:
  posthorn list
  posthorn list failed
  posthorn list published --on bluesky --from 2026-11-01 --limit 50`,
    )
    .action((which: keyof typeof KINDS, options: ListOptions) => list(host, which, options));
}

async function list(host: Host, which: keyof typeof KINDS, options: ListOptions): Promise<void> {
  const { limit } = options;
  await using session = await host.openSession();
  const call = plainCall(session.ctx, shellCaller(), host.stopSignal);
  const channels = options.on.length === 0 ? [] : (await listAccounts(call)).accounts;
  const filter = {
    status: [...KINDS[which]],
    accountId:
      options.on.length === 0
        ? undefined
        : options.on.map((wanted) => findChannel(session.ctx, channels, { wanted, field: "--on" }).id),
    search: options.search,
    ...readBounds(session, options),
  };
  const {
    posts,
    isMore,
    warnings = [],
  } = which === "upcoming" ? await nextOf(call, filter, limit) : await latestOf(call, filter, limit);
  if (!host.terminal.isScreen || options.json === true)
    return host.terminal.print(toJsonText({ posts, ...(warnings.length === 0 ? {} : { warnings }) }));
  // One for all is told by what was asked for.
  const hasStatus = which === "all" || posts.some(({ status }) => status !== KINDS[which][0]);
  const { search, from, to, on } = options;
  const isNarrowed = [search, from, to, ...on].some((one) => one !== undefined);
  const told = warnings.map((warning) => `${forShell(warning)}\n`).join("");
  const isNothing = told === "" && !isNarrowed;
  if (posts.length === 0) host.terminal.print(isNothing ? NOTHING[which] : "No post matches.\n");
  else
    host.terminal.print(await showPosts(session.ctx, posts, { columns: host.terminal.columns, hasStatus }));
  if (told !== "") host.terminal.print(told);
  if (which === "upcoming" && search === undefined) await tellComing(host, call, filter);
  if (isMore) host.terminal.print(`There are more. --limit ${limit * 2} shows twice as many.\n`);
}

/** What no post stands for yet: the list would seem to end with the series' last one. */
async function tellComing(host: Host, call: CallContext, { from, to, accountId }: Filter): Promise<void> {
  const { clock, settings } = call.ctx;
  const { timezone } = settings;
  const window = {
    from: from === undefined ? clock.now() : parseBound("--from", from, timezone, false),
    to: to === undefined ? Infinity : parseBound("--to", to, timezone, true),
  };
  for (const { rule, text, draftId, postsUntil } of await showComing(call, window, accountId ?? null)) {
    const what = text === null ? "" : ` (${oneLine(cutText(text, { maxChars: MAX_TEXT }))})`;
    host.terminal.print(
      `And so on: ${rule}${what}. Its posts are made 14 days ahead, now until ${toClock(postsUntil, timezone)}. To end it: posthorn approve ${draftId.slice(-6)} --stop\n`,
    );
  }
}

const MAX_TEXT = 40;

type Filter = Omit<ListPostsArgs, "limit" | "cursor">;

interface Found {
  readonly posts: readonly Post[];
  readonly isMore: boolean;
  /** Of what goes out within the bounds and does not stand there. */
  readonly warnings?: readonly string[] | undefined;
}

async function latestOf(call: CallContext, filter: Filter, limit: number): Promise<Found> {
  const { posts, nextCursor, warnings } = await listPosts(call, { ...filter, limit });
  return { posts, isMore: nextCursor !== null, warnings };
}

/** Lists begin with the latest: the next ones stand on the last page. */
async function nextOf(call: CallContext, filter: Filter, limit: number): Promise<Found> {
  let posts: Post[] = [];
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
async function withLate(call: CallContext, filter: Filter, found: Found, limit: number): Promise<Found> {
  const { search, from, to } = filter;
  if (search !== undefined || (from === undefined && to === undefined)) return found;
  const known = new Set(found.posts.map(({ id }) => id));
  const late = (await listLatePosts(call, filter)).filter(({ id }) => !known.has(id));
  const posts = [...late, ...found.posts].toSorted((a, b) => a.scheduledAt.localeCompare(b.scheduledAt));
  return { posts: posts.slice(0, limit), isMore: found.isMore || posts.length > limit };
}
