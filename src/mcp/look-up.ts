import { namesAmong } from "../channels/accounts/accounts.ts";
import * as z from "zod";
import { Account } from "../domain/accounts/account.ts";
import { Post } from "../domain/posts/post.ts";
import type { McpContext, Scope, Suggestion } from "./kinds.ts";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { AppError, type ErrorKind } from "../domain/errors.ts";
import { agentsWordsFor } from "../toolkit/words.ts";

/** Enough to choose from. list_posts finds more. */
const MAX_SUGGESTED_POSTS = 100;

export async function ask<T>(scope: Scope, tool: string, args: object, schema: z.ZodType<T>): Promise<T> {
  const { result } = await scope.toolbox.call(tool, args, scope.caller, { signal: scope.signal });
  return schema.parse(result);
}

export function isOffered({ toolbox, caller }: Scope, tool: string): boolean {
  return toolbox.names(caller).includes(tool);
}

/** All of them, or the one that a name means. */
export async function readAccounts(scope: Scope, accountId?: string): Promise<Account[]> {
  const args = accountId === undefined ? {} : { accountId };
  return (await ask(scope, "list_accounts", args, z.object({ accounts: z.array(Account) }))).accounts;
}

const Platform = z.looseObject({ provider: z.string(), title: z.string() });

/** All of them in short, or those named whole. */
export async function readPlatforms(
  scope: Scope,
  provider?: readonly string[],
): Promise<z.infer<typeof Platform>[]> {
  const args = provider === undefined ? {} : { provider };
  return (await ask(scope, "list_platforms", args, z.object({ platforms: z.array(Platform) }))).platforms;
}

interface PostPage {
  readonly posts: Post[];
  readonly nextCursor: string | null;
}

export async function readPosts(scope: Scope, args: object): Promise<PostPage> {
  return ask(
    scope,
    "list_posts",
    args,
    z.object({ posts: z.array(Post), nextCursor: z.string().nullable() }),
  );
}

export async function suggestAccounts(scope: Scope): Promise<Suggestion[]> {
  const accounts = await readAccounts(scope);
  const names = namesAmong(scope.ctx, accounts);
  return accounts.map(({ id, name }) => ({ value: id, name: names.get(id) ?? name }));
}

export async function suggestProviders(scope: Scope): Promise<Suggestion[]> {
  return (await readPlatforms(scope)).map(({ provider, title }) => ({ value: provider, name: title }));
}

export async function suggestPosts(scope: Scope, args: object = {}): Promise<Suggestion[]> {
  const { posts } = await readPosts(scope, { limit: MAX_SUGGESTED_POSTS, ...args });
  return posts.map(({ id, caption }) => ({ value: id, ...(caption === null ? {} : { name: caption }) }));
}

/** Where there is no result to say it in: resources, prompts and completions. */
const CODES: Readonly<Record<ErrorKind, ProtocolErrorCode>> = {
  invalid: ProtocolErrorCode.InvalidParams,
  not_found: ProtocolErrorCode.InvalidParams,
  unauthenticated: ProtocolErrorCode.InvalidRequest,
  forbidden: ProtocolErrorCode.InvalidRequest,
  conflict: ProtocolErrorCode.InvalidRequest,
  too_large: ProtocolErrorCode.InvalidRequest,
  unsupported: ProtocolErrorCode.InvalidRequest,
  rate_limited: ProtocolErrorCode.InternalError,
  unavailable: ProtocolErrorCode.InternalError,
};

/** Answers what went wrong with the sentence that every face says. `uri`: what was looked for. */
export async function orProtocolError<T>(
  { log }: Pick<McpContext, "log">,
  work: Promise<T>,
  uri?: string,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof AppError)) {
      log.error({ err: error }, "An MCP request failed for a reason of ours");
      throw new ProtocolError(ProtocolErrorCode.InternalError, agentsWordsFor(error));
    }
    const sentence = agentsWordsFor(error);
    if (error.kind === "not_found" && uri !== undefined) throw new ResourceNotFoundError(uri, sentence);
    throw new ProtocolError(CODES[error.kind], sentence);
  }
}
