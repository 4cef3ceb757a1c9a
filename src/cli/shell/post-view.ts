import { visibleText } from "../../domain/plain-text.ts";
import type { Attempt, Post } from "../../domain/posts/post.ts";
import { namesOfAccounts } from "../../accounts/accounts.ts";
import type { AppContext } from "../../context.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { oneLine } from "./table.ts";
import { seenAt, toClock } from "./views.ts";

interface Shown {
  readonly post: Post;
  readonly warnings?: readonly string[] | undefined;
  readonly history?: readonly Attempt[] | undefined;
}

type Line = readonly [title: string, text: string | null];

/** Everything about one post, a line each; its text as it was written. */
export async function showPost(
  ctx: AppContext,
  { post, warnings = [], history = [] }: Shown,
): Promise<string> {
  const { timezone } = ctx.settings;
  const names = await namesOfAccounts({ ctx, caller: shellCaller() }, [post.accountId]);
  const at = (iso: string): string => `${toClock(iso, timezone)} (${timezone})`;
  const fields = Object.entries(post.metadata ?? {}).map(([key, value]): Line => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const lines: readonly Line[] = [
    ["WHEN", at(post.scheduledAt)],
    ["STATUS", post.status],
    ["CHANNEL", `${names.get(post.accountId) ?? post.accountId} (${post.provider})`],
    ["TEXT", post.caption],
    ["MEDIA", post.mediaUrl === "" ? null : post.mediaUrl],
    ...fields,
    ["OUT SINCE", post.publishedAt === null ? null : at(post.publishedAt)],
    ["SEEN AT", await seenAt(ctx, post)],
    ["ERROR", post.error],
    ...warnings.map((warning): Line => ["WARNING", warning]),
    ...history.map(({ number, startedAt, outcome, error }): Line => [
      `TRY ${number}`,
      `${toClock(startedAt, timezone)} ${outcome}${error === null ? "" : `: ${error}`}`,
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
