import * as z from "zod";
import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { Post } from "../../domain/posts/post.ts";
import { ChangedPost } from "../../domain/posts/post-body.ts";
import { plainCall } from "../../context.ts";
import { getPost } from "../../posts/posts.ts";
import type { Host, Session } from "../host.ts";
import { toJsonText } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { consentOf, publishDue, whyNotOut } from "./outcomes.ts";
import { addContentOptions, bringMedia, type ContentOptions, readMetadata } from "./content.ts";
import { findPostId } from "./find-post.ts";
import { forShell } from "./shell-words.ts";
import { showPost, showPosts } from "./views.ts";
import { readDate, readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";

interface Common {
  readonly json?: true;
  readonly yes?: true;
}

interface Changes extends Common, ContentOptions {
  readonly text?: string;
  readonly at?: string;
}

const ID_HELP = "its id, or as much of its end as list shows";

interface Move extends Common {
  readonly toDay?: string;
}

export function addChangeCommands(program: Command, host: Host): void {
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .argument("<id>", ID_HELP)
      .option("--json", "print JSON on a terminal, too");
  const addAsking = (name: string, description: string): Command =>
    add(name, description).option("--yes", "do not ask");

  add("show", "show a post, and what became of it").action(async (given: string, { json }: Common) => {
    await using session = await host.openSession();
    const call = plainCall(session.ctx, shellCaller(), host.stopSignal);
    const found = await getPost(call, { id: await findPostId(call, given), history: true });
    const isTable = host.terminal.isScreen && json !== true;
    host.terminal.print(isTable ? await showPost(session.ctx, found) : toJsonText(found));
  });
  addAsking("move", "plan a waiting post for another time")
    .argument("[when...]", "when, as --at of post; with --to-day: more posts")
    .option("--to-day <day>", "to that day, each at its time of day: monday, tomorrow, 2026-12-01")
    .addHelpText("after", MOVE_EXAMPLES)
    .action((id: string, when: readonly string[], options: Move) =>
      options.toDay === undefined
        ? change({ host, id, options }, async ({ session, post }) => ({
            tool: "update_post",
            args: { id: post.id, ...timeOf(session, when.join(" "), "when") },
          }))
        : moveToDay(host, [id, ...when], { ...options, toDay: options.toDay }),
    );
  withContent(addAsking("edit", "change a waiting post, or a live one where its platform can"))
    .addHelpText("after", EDIT_EXAMPLES)
    .action((id: string, options: Changes) => change({ host, id, options }, (at) => edit(at, options)));
  addAsking("cancel", "cancel a waiting post, or take one down")
    .option("--from-platform", "delete it on the platform, where that is possible")
    .action((id: string, options: Common & { fromPlatform?: true }) =>
      change({ host, id, options }, async ({ post }) => ({
        tool: "cancel_post",
        args: { id: post.id, fromPlatform: options.fromPlatform },
      })),
    );
  withContent(addAsking("retry", "send a failed post again, changed if need be"))
    .option("--at <when>", "when (default: now)")
    .addHelpText("after", RETRY_EXAMPLES)
    .action((id: string, options: Changes) => change({ host, id, options }, (at) => retry(at, options)));
  addAsking("dismiss", "put a failed post away, so that it is not shown as failed any more").action(
    (id: string, options: Common) =>
      change({ host, id, options }, async ({ post }) => ({
        tool: "resolve_post",
        args: { id: post.id, outcome: "dismissed" },
      })),
  );
}

const MOVE_EXAMPLES = `
${WHEN_HELP}

Examples:
  posthorn move 4kq2zt friday 18:30
  posthorn move 4kq2zt 7m1xa9 --to-day monday`;

const EDIT_EXAMPLES = `
Examples:
  posthorn edit 4kq2zt --text "Better"
  posthorn edit 4kq2zt --set visibility=unlisted --set title=null`;

const RETRY_EXAMPLES = `
${WHEN_HELP}

Examples:
  posthorn retry 4kq2zt
  posthorn retry 4kq2zt --text "Without the forbidden word" --at "tomorrow 9:00"`;

function withContent(command: Command): Command {
  return addContentOptions(
    command.option("--caption, --text <text>", "its new text, or - to read that from standard input"),
  );
}

interface At {
  readonly host: Host;
  readonly session: Session;
  readonly post: Post;
}

/** A tool's call, and what is to be undone unless it succeeds. */
interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly media?: Awaited<ReturnType<typeof bringMedia>>;
}

const Answer = z.looseObject({ post: Post, warnings: z.array(z.string()).optional() });

/** What was asked for by these is not done before the post is out. */
const SENDING = ["retry_post", "update_post"];

interface Change {
  readonly host: Host;
  readonly id: string;
  readonly options: Common;
}

/** Calls the tool that changes the post, waits for one that is due now, and shows what it became. */
async function change({ host, id, options }: Change, toCall: (at: At) => Promise<Call>): Promise<void> {
  await using session = await host.openSession();
  const call = plainCall(session.ctx, shellCaller(), host.stopSignal);
  const { post: before } = await getPost(call, { id: await findPostId(call, id) });
  const { tool, args, media } = await toCall({ host, session, post: before });
  await using brought = media ?? null;
  const { result } = await session.toolbox.call(tool, args, shellCaller(), {
    signal: host.stopSignal,
    ...consentOf(host, session, options.yes === true),
  });
  brought?.keep();
  const { post, warnings = [] } = Answer.parse(await publishDue({ host, session }, result));
  const { terminal } = host;
  if (!terminal.isScreen || options.json === true) terminal.print(toJsonText({ post, warnings }));
  else {
    terminal.print(await showPosts(session.ctx, [post], terminal));
    for (const warning of warnings) terminal.print(`${forShell(warning)}\n`);
  }
  host.stopSignal.throwIfAborted();
  const isDue = post.status === "failed" || Date.parse(post.scheduledAt) <= session.ctx.clock.now();
  const trouble =
    SENDING.includes(tool) && isDue ? await whyNotOut({ host, session }, [post], options.json) : null;
  if (trouble !== null) throw new AppError("unavailable", trouble);
}

const Moved = z.looseObject({ changed: z.array(ChangedPost), warnings: z.array(z.string()) });

async function moveToDay(
  host: Host,
  given: readonly string[],
  options: Required<Pick<Move, "toDay">> & Common,
) {
  await using session = await host.openSession();
  const { ctx, toolbox } = session;
  const call = plainCall(ctx, shellCaller(), host.stopSignal);
  const { timezone } = ctx.settings;
  const toDay = readDate(options.toDay, { now: ctx.clock.now(), timezone, field: "--to-day" });
  const ids: string[] = [];
  for (const id of given) ids.push(await findPostId(call, id));
  const { result } = await toolbox.call("change_posts", { ids, toDay }, shellCaller(), {
    signal: host.stopSignal,
    ...consentOf(host, session, options.yes === true),
  });
  const { terminal } = host;
  if (!terminal.isScreen || options.json === true) return terminal.print(toJsonText(result));
  const { changed, warnings } = Moved.parse(result);
  const posts: Post[] = [];
  for (const { id } of changed) posts.push((await getPost(call, { id })).post);
  terminal.print(await showPosts(ctx, posts, terminal));
  for (const warning of warnings) terminal.print(`${forShell(warning)}\n`);
}

async function edit(at: At, options: Changes): Promise<Call> {
  const { post } = at;
  const isLive = post.status === "published";
  if (isLive && options.media.length > 0)
    throw new AppError(
      "invalid",
      "--media: the media of a live post cannot be changed. Change its text or fields.",
    );
  const { args, media } = await readChanges(at, options);
  if (Object.keys(args).length === 0)
    throw new AppError("invalid", "There is nothing to change. Give --text, --set or another option.");
  return { tool: isLive ? "edit_published_post" : "update_post", args: { id: post.id, ...args }, media };
}

async function retry(at: At, options: Changes): Promise<Call> {
  const time = options.at === undefined ? {} : timeOf(at.session, options.at, "--at");
  const { args, media } = await readChanges(at, options);
  return { tool: "retry_post", args: { id: at.post.id, ...args, ...time }, media };
}

async function readChanges(
  { host, session }: At,
  options: Changes,
): Promise<{ args: Record<string, unknown>; media: NonNullable<Call["media"]> }> {
  const caption = options.text === "-" ? (await host.terminal.readAll()).trimEnd() : options.text;
  // What is wrong with the options is told before any file is stored.
  readMetadata(options, options.media);
  const media = await bringMedia(host, session, options.media);
  const args = { ...(caption === undefined ? {} : { caption }), ...readMetadata(options, media.urls) };
  return { args, media };
}

/** "now" is the present moment: a time that is left out would stay as it was. */
function timeOf({ ctx }: Session, when: string, field: string): { scheduledAt: string } {
  const now = ctx.clock.now();
  const at = readWhen(when, { now, timezone: ctx.settings.timezone, field });
  return { scheduledAt: at ?? new Date(now).toISOString() };
}
