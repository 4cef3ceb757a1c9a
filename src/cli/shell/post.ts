import * as z from "zod";
import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { BatchResult, type Post } from "../../domain/posts/post.ts";
import type { Preview } from "../../domain/posts/preview.ts";
import { listAccounts, findChannel, sayChannels } from "../../accounts/accounts.ts";
import { plainCall } from "../../context.ts";
import { REFUSED_WITH_OTHERS } from "../../posts/schedule-post.ts";
import type { Host, Session } from "../host.ts";
import { collect, toJsonText } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { alwaysAsked, findDue, untilOut, whyNotOut } from "./outcomes.ts";
import { addContentOptions, bringMedia, type ContentOptions, readMetadata } from "./content.ts";
import { forShell } from "./shell-words.ts";
import { showPosts, showPreview } from "./views.ts";
import { readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";

interface PostOptions extends ContentOptions {
  readonly on: readonly string[];
  readonly at?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

interface Posting {
  readonly host: Host;
  readonly session: Session;
  readonly options: PostOptions;
}

export function addPostCommand(program: Command, host: Host): void {
  const command = program
    .command("post")
    .description("post now or later, on one channel or several")
    .argument("[text]", "what it says, or - to read that from standard input")
    .option("--on <channel>", "name, handle, id or platform of a channel (may be repeated)", collect, [])
    .option("--at <when>", 'when, such as "tomorrow 9:00" or "next slot" (default: now)');
  addContentOptions(command)
    .option("--dry-run", "only check it, and show every warning and what the channel will show")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
Times are in this machine's time zone, or in POSTHORN_TIMEZONE. Without --at the command waits until the post is out,
and ends with status 1 if it is not. On several channels the post is scheduled on all of them or on none.

Examples:
  posthorn post "Hello" --on bluesky
  posthorn post "Look" --on "My feed" --at "friday 18:30" --media lake.jpg --alt "A lake at dawn"
  posthorn post "News" --on bluesky --on @alice@example.social --at 2026-12-01T09:00:00+01:00
  posthorn post - --on news --title "A title" --set visibility=unlisted --set 'tags=["a","b"]' < text.txt
  ${WHEN_HELP}`,
    )
    .action((text: string | undefined, options: PostOptions) => post(host, text, options));
}

async function post(host: Host, text: string | undefined, options: PostOptions): Promise<void> {
  const { terminal } = host;
  const caption = text === "-" ? (await terminal.readAll()).trimEnd() : text;
  if ((caption === undefined || caption === "") && options.media.length === 0)
    throw new AppError(
      "invalid",
      'There is nothing to post. Give a text, for example posthorn post "Hello" --on NAME, or --media.',
    );
  await using session = await host.openSession();
  const posting = { host, session, options };
  const results = await schedule(posting, caption);
  const planned = results.flatMap((result) => result.post ?? []);
  const due = options.dryRun === true ? [] : await findDue({ host, session }, planned);
  // Another process may publish it as well. The person wants to know what came of it.
  if (due.length > 0) await session.startPublishing();
  const ended = due.length > 0 ? await untilOut({ host, session }, due) : [];
  const posts = planned.map((one) => ended.find(({ id }) => id === one.id) ?? one);
  await print(
    posting,
    posts,
    results.flatMap(({ warnings }) => warnings),
    results.flatMap(({ preview }) => preview ?? []),
  );
  host.stopSignal.throwIfAborted();
  const trouble = await whyNotOut({ host, session }, ended, options.json);
  if (trouble !== null) throw new AppError("unavailable", trouble);
}

/** What `--at` says for it: see the command `slots`. */
const NEXT_SLOT = "next slot";

async function schedule(posting: Posting, caption: string | undefined): Promise<readonly BatchResult[]> {
  const { host, session, options } = posting;
  const { ctx, toolbox } = session;
  const call = plainCall(ctx, shellCaller(), host.stopSignal);
  const { accounts } = await listAccounts(call);
  if (options.on.length === 0)
    throw new AppError("invalid", `--on: say which channel. ${sayChannels(ctx, accounts)}`);
  const accountIds = new Set(
    options.on.map((wanted) => findChannel(ctx, accounts, { wanted, field: "--on" }).id),
  );
  const { timezone } = ctx.settings;
  const isInSlot = options.at?.trim().toLowerCase() === NEXT_SLOT;
  const now = ctx.clock.now();
  const given = options.at === undefined || isInSlot ? null : readWhen(options.at, { now, timezone });
  const at = isInSlot ? {} : { scheduledAt: given ?? new Date(now).toISOString() };
  await using media = await bringMedia(host, session, options.media);
  const content = {
    ...(caption === undefined ? {} : { caption }),
    ...at,
    ...(isInSlot ? { slot: "next" } : {}),
    ...(options.dryRun === true ? { dryRun: true } : {}),
    ...readMetadata(options, media.urls),
  };
  const posts = [...accountIds].map((accountId) => ({ accountId, ...content }));
  const args = { posts, atomic: true };
  const { result } = await toolbox.call("schedule_posts", args, shellCaller(), {
    signal: host.stopSignal,
    ...alwaysAsked(host, session),
  });
  const { results } = z.object({ results: z.array(BatchResult) }).parse(result);
  assertPlanned(results);
  if (options.dryRun !== true) media.keep();
  return results;
}

/** Throws `invalid` with each reason why something was not planned. */
function assertPlanned(results: readonly BatchResult[]): void {
  const errors = results.flatMap(({ error }) => error ?? []);
  const own = errors.filter((error) => !error.startsWith(REFUSED_WITH_OTHERS));
  if (errors.length > 0) throw new AppError("invalid", [...new Set(own)].join("\n"));
}

async function print(
  { host, session, options }: Posting,
  posts: readonly Post[],
  warnings: string[],
  previews: readonly Preview[],
): Promise<void> {
  const { terminal } = host;
  const told = [...new Set(warnings)];
  if (!terminal.isScreen || options.json === true)
    return terminal.print(
      toJsonText({ posts, warnings: told, ...(options.dryRun === true ? { previews } : {}) }),
    );
  if (options.dryRun === true) terminal.print("Nothing is scheduled. This is how it would be:\n");
  terminal.print(await showPosts(session.ctx, posts, terminal));
  for (const [at, preview] of previews.entries())
    terminal.print(showPreview(preview, posts[at]?.provider ?? ""));
  for (const warning of told) terminal.print(`${forShell(warning)}\n`);
}
