import * as z from "zod";
import { readDate, readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";
import { AppError } from "../../domain/errors.ts";
import { ChangedPost } from "../../domain/posts/post-body.ts";
import { Post, type SaidPost } from "../../domain/posts/post.ts";
import { toIso } from "../../domain/time.ts";
import { getPost } from "../../posts/posts.ts";
import { JSON_TOO, type Row } from "../command.ts";
import { bringMedia, CONTENT, type Content, readMetadata, readText } from "./content.ts";
import { findPostId } from "./find-post.ts";
import { consentOf, publishDue, whyNotOut } from "./outcomes.ts";
import { type Shell, shellRow } from "./shell.ts";
import { showPost, showPosts, showWarnings } from "./views.ts";

const ONE = { "<id>": "its id, or as much of its end as list shows" } as const;
const ASKED = { "--json": JSON_TOO, "--yes": "do not ask" } as const;
const TEXT = { "--caption, --text <text>": "its new text, or - to read that from standard input" } as const;

/** A tool's call beside the post's id, and what is to be undone unless it succeeds. */
interface ToolCall {
  readonly tool: string;
  readonly args: object;
  readonly media?: Awaited<ReturnType<typeof bringMedia>>;
}

interface ChangeOptions {
  readonly id: string;
  readonly yes: true | undefined;
  readonly json: true | undefined;
}

type Changes = Content & { readonly text: string | undefined };

const Changed = z.looseObject({ post: Post, warnings: z.array(z.string()).default([]) });

/**
 * Calls the tool that changes a post, waits for one that is due now, and shows what it became. `isSending`: what was
 * asked for is not done before the post is out.
 */
function changing<G extends object>(
  toCall: (at: Shell, post: SaidPost, given: G) => ToolCall | Promise<ToolCall>,
  isSending = false,
) {
  return {
    async answer(at: Shell, given: G & ChangeOptions) {
      const { post: before } = await getPost(at.call, { id: await findPostId(at.call, given.id) });
      const { tool, args, media } = await toCall(at, before, given);
      await using brought = media ?? null;
      const result = await at.use(tool, { id: before.id, ...args }, consentOf(at, given.yes));
      brought?.keep();
      const { post, warnings } = Changed.parse(await publishDue(at, result));
      return { post, warnings };
    },
    view: async (at: Shell, { post, warnings }: z.infer<typeof Changed>) =>
      `${await showPosts(at.ctx, [post], at.terminal)}${showWarnings(at, warnings)}`,
    async after(at: Shell, { post }: z.infer<typeof Changed>, { json }: G & ChangeOptions) {
      at.host.stopSignal.throwIfAborted();
      const isDue = post.status === "failed" || Date.parse(post.scheduledAt) <= at.now().now;
      const trouble = isSending && isDue ? await whyNotOut(at, [post], json) : null;
      if (trouble !== null) throw new AppError("unavailable", trouble);
    },
  };
}

/** "now" is the present moment: a time that is left out would stay as it was. */
function timeOf(at: Shell, when: string, field: string): { scheduledAt: string } {
  const now = at.now();
  return { scheduledAt: readWhen(when, { ...now, field }) ?? toIso(now.now) };
}

async function readChanges(at: Shell, given: Changes): Promise<Required<Omit<ToolCall, "tool">>> {
  const caption = await readText(at.host, given.text);
  // What is wrong with the options is told before any file is stored.
  readMetadata(given, given.media);
  const media = await bringMedia(at, given.media);
  return { args: { ...(caption !== undefined && { caption }), ...readMetadata(given, media.urls) }, media };
}

async function edit(at: Shell, { status }: SaidPost, given: Changes): Promise<ToolCall> {
  const isLive = status === "published";
  if (isLive && given.media.length > 0)
    throw new AppError(
      "invalid",
      "--media: the media of a live post cannot be changed. Change its text or fields.",
    );
  const changes = await readChanges(at, given);
  if (Object.keys(changes.args).length === 0)
    throw new AppError("invalid", "There is nothing to change. Give --text, --set or another option.");
  return { tool: isLive ? "edit_published_post" : "update_post", ...changes };
}

async function retry(at: Shell, _: SaidPost, given: Changes & { readonly at: string | undefined }) {
  const time = given.at === undefined ? {} : timeOf(at, given.at, "--at");
  const { args, media } = await readChanges(at, given);
  return { tool: "retry_post", args: { ...args, ...time }, media };
}

interface Move extends ChangeOptions {
  readonly when: readonly string[];
  readonly toDay: string | undefined;
}

const moving = changing(
  (at, _, { when }: Move) => ({ tool: "update_post", args: timeOf(at, when.join(" "), "when") }),
  true,
);

const Moved = z.looseObject({ changed: z.array(ChangedPost), warnings: z.array(z.string()) });

async function moveToDay(at: Shell, { id: first, when, toDay: day = "", yes }: Move): Promise<object> {
  const toDay = readDate(day, { ...at.now(), field: "--to-day" });
  const ids: string[] = [];
  for (const id of [first, ...when]) ids.push(await findPostId(at.call, id));
  return at.use("change_posts", { ids, toDay }, consentOf(at, yes));
}

async function showMoved(at: Shell, answer: object): Promise<string> {
  const { changed, warnings } = Moved.parse(answer);
  const posts: SaidPost[] = [];
  for (const { id } of changed) posts.push((await getPost(at.call, { id })).post);
  return `${await showPosts(at.ctx, posts, at.terminal)}${showWarnings(at, warnings)}`;
}

export const CHANGES: readonly Row[] = [
  shellRow({
    name: "show",
    about: "show a post, and what became of it",
    takes: { ...ONE, "--json": JSON_TOO },
    answer: async ({ call }, { id }) => getPost(call, { id: await findPostId(call, id), history: true }),
    view: showPost,
  }),
  shellRow({
    name: "move",
    about: "plan a waiting post for another time",
    takes: {
      ...ONE,
      "[when...]": "when, as --at of post; with --to-day: more posts",
      ...ASKED,
      "--to-day <day>": "to that day, each at its time of day: monday, tomorrow, 2026-12-01",
    },
    help: `
${WHEN_HELP}

Examples:
  posthorn move 4kq2zt friday 18:30
  posthorn move 4kq2zt 7m1xa9 --to-day monday`,
    answer: (at, given) => (given.toDay === undefined ? moving.answer(at, given) : moveToDay(at, given)),
    view: (at, answer) => ("post" in answer ? moving.view(at, Changed.parse(answer)) : showMoved(at, answer)),
    after: async (at, answer, given) => {
      if ("post" in answer) await moving.after(at, Changed.parse(answer), given);
    },
  }),
  shellRow({
    name: "edit",
    about: "change a waiting post, or a live one where its platform can",
    takes: { ...ONE, ...ASKED, ...TEXT, ...CONTENT },
    help: `
Examples:
  posthorn edit 4kq2zt --text "Better"
  posthorn edit 4kq2zt --set visibility=unlisted --set title=null`,
    ...changing(edit, true),
  }),
  shellRow({
    name: "cancel",
    about: "cancel a waiting post, or take one down",
    takes: { ...ONE, ...ASKED, "--from-platform": "delete it on the platform, where that is possible" },
    ...changing((_at, _post, { fromPlatform }: { readonly fromPlatform: true | undefined }) => ({
      tool: "cancel_post",
      args: { fromPlatform },
    })),
  }),
  shellRow({
    name: "retry",
    about: "send a failed post again, changed if need be",
    takes: { ...ONE, ...ASKED, ...TEXT, ...CONTENT, "--at <when>": "when (default: now)" },
    help: `
${WHEN_HELP}

Examples:
  posthorn retry 4kq2zt
  posthorn retry 4kq2zt --text "Without the forbidden word" --at "tomorrow 9:00"`,
    ...changing(retry, true),
  }),
  shellRow({
    name: "dismiss",
    about: "put a failed post away, so that it is not shown as failed any more",
    takes: { ...ONE, ...ASKED },
    ...changing(() => ({ tool: "resolve_post", args: { outcome: "dismissed" } })),
  }),
];
