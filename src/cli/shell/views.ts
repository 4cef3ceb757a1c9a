import * as z from "zod";
import { DateTime } from "luxon";
import { Account } from "../../domain/accounts/account.ts";
import { besidePlatform } from "../../domain/accounts/channel-names.ts";
import { PlatformListing } from "../../domain/accounts/platform-listing.ts";
import { File } from "../../domain/files/file.ts";
import { Post, type SaidPost } from "../../domain/posts/post.ts";
import type { Preview } from "../../domain/posts/preview.ts";
import { Webhook } from "../../domain/webhooks/webhook.ts";
import { namesOfAccounts } from "../../channels/accounts/accounts.ts";
import { type AppContext, plainCall } from "../../context.ts";
import { readServerUrl } from "../../publishing/at-work.ts";
import type { getPost } from "../../posts/posts.ts";
import { toJsonText } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { shortIds } from "./find-post.ts";
import type { Shell } from "./shell.ts";
import { forShell } from "./words.ts";
import { type Column, oneLine, toTable } from "./table.ts";
import { visibleText } from "../../domain/text/plain-text.ts";

type Result = Readonly<Record<string, unknown>>;
type View = (result: Result, width: number) => string | null;

/** What a list may have beside its rows and still be told by them. */
const BESIDE = ["nextCursor", "from", "to", "timezone", "warnings"];
const KIB = 1_024;
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

const LISTS: readonly View[] = [
  viewOf("accounts", Account, [
    { title: "NAME", of: ({ name }) => name, isCut: true, isName: true },
    { title: "PLATFORM", of: ({ provider }) => provider },
    { title: "HANDLE", of: ({ handle }) => handle, isCut: true, isName: true },
    { title: "STATUS", of: ({ status }) => status },
    { title: "ID", of: ({ id }) => id },
  ]),
  // What is told of one whole does not go into a line.
  viewOf("platforms", PlatformListing.omit({ settings: true, connecting: true }), [
    { title: "PLATFORM", of: ({ provider }) => provider },
    { title: "TITLE", of: ({ title }) => title },
    { title: "WAYS", of: ({ ways }) => ways.join(", ") },
    {
      title: "STATE",
      of: (one) => (one.configured ? "ready" : `needs ${one.missing.join(", ")}`),
      isCut: true,
    },
  ]),
  viewOf("files", File, [
    { title: "NAME", of: ({ name }) => name, isCut: true },
    { title: "TYPE", of: ({ mimeType }) => mimeType },
    { title: "SIZE", of: ({ sizeBytes }) => formatSize(sizeBytes) },
    { title: "STATUS", of: ({ status }) => status },
    { title: "ID", of: ({ id }) => id },
  ]),
  viewOf("webhooks", Webhook, [
    { title: "FORMAT", of: ({ format }) => format },
    { title: "ADDRESS", of: ({ url }) => url, isCut: true },
    { title: "STATUS", of: ({ status }) => status },
    { title: "ID", of: ({ id }) => id },
  ]),
];

/** A tool's answer: lists are short tables, everything else is JSON. */
export async function showList(at: Shell, answer: object): Promise<string> {
  const result: Result = { ...answer };
  const posts = readRows("posts", Post, result);
  const { columns } = at.terminal;
  const shown =
    posts === null
      ? LISTS.map((view) => view(result, columns)).find((text) => text !== null)
      : await showPosts(at.ctx, posts, { columns, hasShortIds: false });
  if (shown === undefined) return toJsonText(answer);
  const more = "There are more: ask with a larger limit, or with --json for the cursor of the next page.\n";
  const warnings = showWarnings(at, z.array(z.string()).safeParse(result["warnings"]).data);
  return `${shown}${warnings}${typeof result["nextCursor"] === "string" ? more : ""}`;
}

/** The warnings of an answer, a line each. */
export function showWarnings({ words }: Shell, warnings: readonly string[] = []): string {
  return warnings.map((warning) => `${words(warning)}\n`).join("");
}

/** What readers will see of a post, and how much of its room it takes. */
export function showPreview({ text, parts, count, link, note }: Preview, provider: string): string {
  const { length, max, unit } = count;
  const counted = unit === "weighted" ? "characters as it counts them" : unit;
  const lines = [
    `${provider} shows (${max === null ? length : `${length} of ${max}`} ${counted}):`,
    ...[text, ...parts.map((part) => part.text)].flatMap(
      (one) => one?.split("\n").map((line) => `  ${line}`) ?? [],
    ),
    ...(link === null ? [] : [`  [${link}]`]),
    ...(note === null ? [] : [note]),
  ];
  return visibleText(`${lines.join("\n")}\n`);
}

interface PostColumns {
  readonly columns: number;
  /** False where the reader knows it, which leaves room for the text. */
  readonly hasStatus?: boolean;
  /** Only the end of ids, as commands take it. Tools take whole ones. */
  readonly hasShortIds?: boolean;
}

/** One line a post, and below it why it failed or where it is. */
export async function showPosts(
  ctx: AppContext,
  posts: readonly SaidPost[],
  { columns: width, hasStatus = true, hasShortIds = true }: PostColumns,
): Promise<string> {
  const names = await namesOfAccounts(plainCall(ctx, shellCaller()));
  const { timezone } = ctx.settings;
  const ids = hasShortIds ? shortIds(posts.map(({ id }) => id)) : new Map<string, string>();
  const columns: readonly Column<SaidPost>[] = [
    { title: "WHEN", of: ({ scheduledAt }) => toClock(scheduledAt, timezone) },
    ...(hasStatus ? [{ title: "STATUS", of: ({ status }: SaidPost) => status }] : []),
    { title: "CHANNEL", of: (post) => names.get(post.accountId) ?? post.provider, isCut: true, isName: true },
    { title: "TEXT", of: textOf, isCut: true },
    { title: "ID", of: ({ id }) => ids.get(id) ?? id },
  ];
  const places = await Promise.all(posts.map((post) => seenAt(ctx, post)));
  const [head = "", ...lines] = toTable(columns, posts, width).split("\n");
  const rows = posts.flatMap(({ id, error }, at) => {
    const note = error === null ? (places[at] ?? null) : forShell(error, id);
    return [lines[at] ?? "", ...(note === null ? [] : [`  ${oneLine(note)}`])];
  });
  return posts.length === 0 ? "None.\n" : `${[head, ...rows].join("\n")}\nTimes are in ${timezone}.\n`;
}

export function toClock(iso: string, timezone: string): string {
  return DateTime.fromISO(iso, { zone: timezone }).toFormat("yyyy-MM-dd HH:mm");
}

/** Where a post is seen; of our own pages, while nothing serves them, how to see them. Null: nowhere. */
export async function seenAt(ctx: AppContext, { status, platformUrl }: SaidPost): Promise<string | null> {
  if (status !== "published" || platformUrl === null) return null;
  const { publicUrl, port } = ctx.settings;
  const isOurs = publicUrl === null && platformUrl.startsWith(`http://localhost:${port}/`);
  if (!isOurs || (await readServerUrl(ctx)) !== null) return platformUrl;
  return `"posthorn serve" shows it, on ${new URL(platformUrl).pathname}`;
}

function textOf({ caption, metadata, mediaUrl }: SaidPost): string {
  const title = metadata?.["title"];
  if (caption !== null && caption.trim() !== "") return caption;
  return typeof title === "string" && title !== "" ? title : mediaUrl;
}

function readRows<T>(name: string, row: z.ZodType<T>, result: Result): readonly T[] | null {
  const isList = Object.keys(result).every((key) => key === name || BESIDE.includes(key));
  return isList ? (z.array(row).safeParse(result[name]).data ?? null) : null;
}

function viewOf<T>(name: string, row: z.ZodType<T>, columns: readonly Column<T>[]): View {
  return (result, width) => {
    const rows = readRows(name, row, result);
    if (rows === null) return null;
    return rows.length === 0 ? "None.\n" : toTable(columns, rows, width);
  };
}

export function formatSize(bytes: number): string {
  const unit = Math.min(SIZES.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(KIB)));
  return `${(bytes / KIB ** unit).toFixed(unit === 0 ? 0 : 1)} ${SIZES[unit]}`;
}

type Line = readonly [title: string, text: string | null];

/** Everything about one post, a line each; its text as it was written. */
export async function showPost(
  { ctx, timezone, names: readNames }: Shell,
  { post, warnings = [], history = [] }: Awaited<ReturnType<typeof getPost>>,
): Promise<string> {
  const names = await readNames();
  const at = (iso: string): string => `${toClock(iso, timezone)} (${timezone})`;
  const fields = Object.entries(post.metadata ?? {}).map(([key, value]): Line => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const lines: readonly Line[] = [
    ["WHEN", at(post.scheduledAt)],
    ["STATUS", post.status],
    [
      "CHANNEL",
      besidePlatform(
        names.get(post.accountId) ?? post.accountId,
        ctx.platforms.get(post.provider)?.title ?? post.provider,
      ),
    ],
    ["TEXT", post.caption],
    ["MEDIA", post.mediaUrl === "" ? null : post.mediaUrl],
    ...fields,
    ["OUT SINCE", post.publishedAt === null ? null : at(post.publishedAt)],
    ["SEEN AT", await seenAt(ctx, post)],
    ["ERROR", post.error === null ? null : forShell(post.error, post.id)],
    ...warnings.map((warning): Line => ["WARNING", forShell(warning)]),
    ...history.map(({ number, startedAt, outcome, error }): Line => [
      `TRY ${number}`,
      `${toClock(startedAt, timezone)} ${outcome}${error === null ? "" : `: ${forShell(error, post.id)}`}`,
    ]),
    ["ID", post.id],
  ];
  const told = lines.filter((line): line is [string, string] => line[1] !== null);
  const width = Math.max(...told.map(([title]) => oneLine(title).length));
  const indent = `\n${" ".repeat(width + 2)}`;
  return told
    .map(
      ([title, text]) =>
        `${oneLine(title).padEnd(width)}  ${text.split(/\r?\n/).map(visibleText).join(indent)}\n`,
    )
    .join("");
}
