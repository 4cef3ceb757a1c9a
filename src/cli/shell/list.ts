import { Argument, type Command } from "commander";
import type { Post } from "../../domain/posts/post.ts";
import type { ListPostsArgs } from "../../domain/posts/post-lists.ts";
import { POST_STATUSES } from "../../domain/posts/post-states.ts";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import { listAccounts } from "../../services/accounts/accounts.ts";
import { findChannel } from "../../services/accounts/meant-channel.ts";
import { plainCall, type CallContext } from "../../services/context.ts";
import { listPosts } from "../../services/posts/list-posts.ts";
import type { Host } from "../host.ts";
import { toJsonText } from "../json.ts";
import { shellCaller } from "../local-caller.ts";
import { showPosts } from "./views.ts";

interface ListOptions {
  readonly on: readonly string[];
  readonly search?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
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

/** Where a filter was given, there may be others. */
const NOTHING_LIKE_IT = "No post matches.\n";

export function addListCommand(program: Command, host: Host): void {
  program
    .command("list")
    .description("list posts: what is planned, or what became of it")
    .addArgument(new Argument("[which]", "which posts").choices(Object.keys(KINDS)).default("upcoming"))
    .option(
      "--on <channel>",
      "only on this channel (may be repeated)",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--search <words>", "only with words that begin like these")
    .option("--from <time>", "only from this date or time on")
    .option("--to <time>", "only until this date or time")
    .option("--limit <count>", "how many", "20")
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
  const limit = readLimit(options.limit);
  await using session = await host.openSession();
  const call = plainCall(session.ctx, shellCaller(), host.stopSignal);
  const channels = options.on.length === 0 ? [] : (await listAccounts(call)).accounts;
  const filter = {
    status: [...KINDS[which]],
    accountId:
      options.on.length === 0 ? undefined : options.on.map((name) => findChannel(channels, name, "--on").id),
    search: options.search,
    from: options.from,
    to: options.to,
  };
  const { posts, isMore } =
    which === "upcoming" ? await nextOf(call, filter, limit) : await latestOf(call, filter, limit);
  if (!host.terminal.isScreen || options.json === true) return host.terminal.print(toJsonText({ posts }));
  // One for all is told by what was asked for.
  const hasStatus = which === "all" || posts.some(({ status }) => status !== KINDS[which][0]);
  const isNarrowed = [options.search, options.from, options.to, ...options.on].some(
    (one) => one !== undefined,
  );
  host.terminal.print(
    posts.length === 0
      ? isNarrowed
        ? NOTHING_LIKE_IT
        : NOTHING[which]
      : await showPosts(session.ctx, posts, { columns: host.terminal.columns, hasStatus }),
  );
  if (isMore) host.terminal.print(`There are more. --limit ${limit * 2} shows twice as many.\n`);
}

type Filter = Omit<ListPostsArgs, "limit" | "cursor">;

async function latestOf(
  call: CallContext,
  filter: Filter,
  limit: number,
): Promise<{ posts: Post[]; isMore: boolean }> {
  const { posts, nextCursor } = await listPosts(call, { ...filter, limit });
  return { posts, isMore: nextCursor !== null };
}

/** Lists begin with the latest: the next ones stand on the last page. */
async function nextOf(
  call: CallContext,
  filter: Filter,
  limit: number,
): Promise<{ posts: Post[]; isMore: boolean }> {
  let posts: Post[] = [];
  let cursor: string | undefined;
  let isMore = false;
  for (;;) {
    call.signal.throwIfAborted();
    const page = await listPosts(call, { ...filter, limit: PAGE, cursor });
    isMore ||= posts.length + page.posts.length > limit;
    posts = [...posts, ...page.posts].slice(-limit);
    if (page.nextCursor === null) return { posts: posts.toReversed(), isMore };
    cursor = page.nextCursor;
  }
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE) return limit;
  throw new AppError("invalid", `--limit: ${quote(text)} must be a number from 1 to ${PAGE}.`);
}
