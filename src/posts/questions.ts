import type {
  PostBody,
  PostChange,
  PostEdit,
  PostInput,
  PostRetry,
  PostsChange,
  Resolution,
} from "../domain/posts/post-body.ts";
import { AppError } from "../domain/errors.ts";
import { plainText } from "../domain/plain-text.ts";
import { TRANSITIONS } from "../domain/posts/post-states.ts";
import { MINUTE, tellTime } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { findAccount, namesOfAccounts, showAccount } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { getFile } from "../files/files.ts";
import { prepareEdit } from "./live-posts.ts";
import { planChange } from "./change-posts.ts";
import { readScheduledAt } from "./post-checks.ts";
import { contentOf } from "./post-form.ts";
import { canRemove, findOwnPost, isOnPlatform } from "./posts.ts";
import { checkChanges, hasChanges } from "./update-post.ts";
import { preparePost } from "./schedule-post.ts";

/*
 * What a person is asked before a call that counts. Where the call will be refused anyway the question is
 * null or the refusal itself.
 */

/** A person who agrees to a post within this time cannot change their mind any more. */
const AT_ONCE_MS = MINUTE;

const MAX_CAPTION = 200;
const MAX_NAME = 120;
const MAX_LISTED = 5;

/** Before a post that goes out within a minute; its content is checked first. */
export async function askToPublish(call: CallContext, input: PostBody): Promise<string | null> {
  if (input.dryRun === true || input.slot !== undefined || !isAtOnce(call, input.scheduledAt)) return null;
  const { warnings } = await preparePost(call, input);
  const account = await nameOfAccount(call, input.accountId);
  const doubts = warnings.length === 0 ? "" : ` ${warnings.join(" ")}`;
  return `Publish now on ${account}: ${describe(input)}?${doubts}`;
}

/**
 * Before a batch with posts that go out within a minute. One that cannot be scheduled is told in its result.
 */
export async function askToPublishSeveral(
  call: CallContext,
  input: { readonly posts: readonly PostBody[]; readonly dryRun?: boolean | undefined },
): Promise<string | null> {
  if (input.dryRun === true) return null;
  const due = input.posts.filter(
    (post) => post.dryRun !== true && post.slot === undefined && isAtOnceOrWrong(call, post.scheduledAt),
  );
  if (due.length === 0) return null;
  const shown = due.slice(0, MAX_LISTED).map(async (post) => {
    const account = await nameOfAccount(call, post.accountId).catch(() =>
      plainText(post.accountId, MAX_NAME),
    );
    return `on ${account}: ${describe(post)}`;
  });
  const more = due.length > MAX_LISTED ? `; and ${due.length - MAX_LISTED} more` : "";
  return `Publish ${due.length === 1 ? "1 post" : `${due.length} posts`} now? ${(await Promise.all(shown)).join("; ")}${more}`;
}

/** Before a waiting post is moved to within a minute. */
export async function askToPublishSooner(call: CallContext, input: PostChange): Promise<string | null> {
  const { dryRun, scheduledAt } = input;
  if (dryRun === true || scheduledAt === undefined || !isAtOnce(call, scheduledAt)) return null;
  const row = await findOwnPost(call.ctx, call.caller, input.id);
  if (!isIn(row, TRANSITIONS.edit.from)) return null;
  return `Publish now on ${await nameOfAccount(call, row.account_id)}: ${describe({ ...contentOf(row), ...withoutUndefined(input) })}?`;
}

export async function askToEdit(call: CallContext, input: PostEdit): Promise<string> {
  const { row } = await prepareEdit(call, input);
  const fields = Object.keys(input.metadata ?? {});
  const changes = [
    ...(input.caption === undefined
      ? []
      : [`its text becomes ${input.caption === null ? "empty" : quote(input.caption)}`]),
    ...(input.metadata === null ? ["its other fields are emptied"] : []),
    ...(fields.length === 0 ? [] : [`${plainText(fields.join(", "), MAX_CAPTION)} will be changed`]),
  ];
  const all = changes.join(", and ");
  return `Change the live post ${await name(call, row)}? ${all.charAt(0).toUpperCase()}${all.slice(1)}.`;
}

export async function askToCancel(
  call: CallContext,
  input: { readonly id: string; readonly fromPlatform?: boolean | undefined },
): Promise<string | null> {
  const row = await findOwnPost(call.ctx, call.caller, input.id);
  const time = tellTime(row.scheduled_at, call.ctx.settings.timezone);
  if (input.fromPlatform === true && isOnPlatform(row)) {
    if (!canRemove(call.ctx, await findAccount(call.ctx, call.caller, row.account_id))) return null;
    const since = tellTime(row.published_at ?? row.scheduled_at, call.ctx.settings.timezone);
    const where = row.platform_url === null ? "" : ` at ${plainText(row.platform_url, MAX_CAPTION)}`;
    const state =
      row.status === "uploaded"
        ? `It is uploaded and would go live on ${time}.`
        : `It is live since ${since}${where}, and cannot be brought back.`;
    return `Delete the post ${await name(call, row)} from the platform? ${state}`;
  }
  if (!isIn(row, TRANSITIONS.cancel.from)) return null;
  return `Cancel the post ${await name(call, row)}? It is due on ${time} and will not go out.`;
}

/** Before a failed post goes out within a minute with another content than it had. */
export async function askToRetry(call: CallContext, input: PostRetry): Promise<string | null> {
  if (input.dryRun === true || !hasChanges(input) || !isAtOnce(call, input.scheduledAt)) return null;
  const row = await findOwnPost(call.ctx, call.caller, input.id);
  const { warnings = [] } = await checkChanges(call, row, input);
  const doubts = warnings.length === 0 ? "" : ` ${warnings.join(" ")}`;
  return `Publish now on ${await nameOfAccount(call, row.account_id)}: ${describe({ ...contentOf(row), ...withoutUndefined(input) })}? It failed before.${doubts}`;
}

/** Before waiting posts are moved or cancelled together. */
export async function askToChange(call: CallContext, input: PostsChange): Promise<string | null> {
  if (input.dryRun === true) return null;
  const planned = await planChange(call, input);
  if (planned.length === 0) return null;
  const { timezone } = call.ctx.settings;
  const byTime = planned.toSorted((a, b) => a.row.scheduled_at - b.row.scheduled_at);
  const names = await namesOfAccounts(call);
  const shown = byTime.slice(0, MAX_LISTED).map(({ row, account, scheduledAt }) => {
    const to = scheduledAt === null ? "" : ` to ${tellTime(scheduledAt, timezone)}`;
    const post = `${describe(contentOf(row))} on ${plainText(names.get(account.id) ?? account.name, MAX_NAME)}`;
    return `${post}, ${tellTime(row.scheduled_at, timezone)}${to}`;
  });
  const more = planned.length > MAX_LISTED ? `; and ${planned.length - MAX_LISTED} more` : "";
  const posts = planned.length === 1 ? "1 waiting post" : `${planned.length} waiting posts`;
  return `${input.cancel === true ? "Cancel" : "Move"} ${posts}? ${shown.join("; ")}${more}`;
}

export async function askToResolve(call: CallContext, input: Resolution): Promise<string | null> {
  const row = await findOwnPost(call.ctx, call.caller, input.id);
  if (row.status !== "failed") return null;
  const post = await name(call, row);
  if (input.outcome === "dismissed") return `Put the failed post ${post} away? It will never be sent.`;
  if (row.in_doubt === 0) return null;
  return input.outcome === "published"
    ? `Have you seen the post ${post} on the channel? It will be settled as published.`
    : `Have you looked at the channel and found that the post ${post} is not there? It can be sent again then.`;
}

export async function askToDisconnect(
  call: CallContext,
  input: { readonly accountId: string },
): Promise<string | null> {
  const row = await findAccount(call.ctx, call.caller, input.accountId);
  if (row.status === "disconnected") return null;
  const { queuedCount } = await showAccount(call.ctx, call.ctx.store, row);
  const waiting = queuedCount === 1 ? " 1 waiting post fails" : ` ${queuedCount} waiting posts fail`;
  const posts = queuedCount === 0 ? "" : `${waiting} unless it is connected again in time.`;
  return `Disconnect ${await nameOfAccount(call, row.id)} (${row.provider})? Its passwords and tokens will be forgotten.${posts}`;
}

export async function askToDeleteFile(
  call: CallContext,
  input: { readonly id: string },
): Promise<string | null> {
  const { file } = await getFile(call, input);
  if (file.usedByPosts > 0) return null;
  return `Delete the file ${quote(file.name)} (${file.sizeBytes} bytes) for good?`;
}

function isAtOnce(call: CallContext, scheduledAt: string | undefined): boolean {
  return readScheduledAt(call, scheduledAt).ms - call.ctx.clock.now() <= AT_ONCE_MS;
}

/** A time that cannot be read is told by the call itself. */
function isAtOnceOrWrong(call: CallContext, scheduledAt: string | undefined): boolean {
  try {
    return isAtOnce(call, scheduledAt);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

async function nameOfAccount({ ctx, caller }: CallContext, accountId: string): Promise<string> {
  const { id, name } = await findAccount(ctx, caller, accountId);
  return plainText((await namesOfAccounts({ ctx, caller })).get(id) ?? name, MAX_NAME);
}

async function name(call: CallContext, row: PostRow): Promise<string> {
  return `${describe(contentOf(row))} on ${await nameOfAccount(call, row.account_id)}`;
}

type Content = Pick<PostInput, "caption" | "mediaUrl" | "metadata">;

/** By its text, or its title, or at least by its media. */
function describe({ caption, metadata, mediaUrl }: Content): string {
  const title = metadata?.["title"];
  if (typeof caption === "string" && caption.trim() !== "") return quote(caption);
  if (typeof title === "string" && title.trim() !== "") return quote(title);
  return mediaUrl === undefined || mediaUrl === ""
    ? "a post without text"
    : `${quote(mediaUrl)}, without text`;
}

function quote(text: string): string {
  return `“${plainText(text, MAX_CAPTION)}”`;
}

function isIn(row: PostRow, statuses: readonly PostRow["status"][]): boolean {
  return statuses.includes(row.status);
}

/** What a change leaves out stays as it is. */
function withoutUndefined(input: Content): Content {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
