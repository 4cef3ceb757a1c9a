import type {
  PostBody,
  PostChange,
  PostEdit,
  PostInput,
  PostRetry,
  PostsChange,
  Resolution,
} from "../domain/posts/post-body.ts";
import { assertTakesPosts } from "../domain/accounts/account.ts";
import { fromStored, type Said } from "../domain/sentences.ts";
import { AppError } from "../domain/errors.ts";
import { toldState } from "../domain/accounts/account.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { nameOfField } from "../domain/posts/for-people.ts";
import { plainText, plural, withFullStop } from "../domain/text/plain-text.ts";
import { canReconcile, TRANSITIONS } from "../domain/posts/post-states.ts";
import type { SaidBatchResult, SaidPost } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { formatTime } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { toPost } from "../store/queries/posts.ts";
import { findAccount, namesOfAccounts, showAccount } from "../channels/accounts/accounts.ts";
import { describeLimit, describeUnderWay, describeWaiting } from "../channels/accounts/late-posts.ts";
import type { CallContext } from "../context.ts";
import { getFile } from "../files/files.ts";
import { prepareEdit } from "./live-posts.ts";
import { changePosts, planChange } from "./change-posts.ts";
import { contentOf, type PostContent } from "./post-form.ts";
import {
  isAtOnce,
  quoteText,
  describeDoubts,
  describePost,
  describePosts,
  textLimit,
  type ToldPost,
  countKept,
  WHEN_RECONNECTED,
  WHEN_RESUMED,
  nowOrSoon,
  whenDue,
  whenOut,
} from "./post-in-words.ts";
import { findOwnPost, readStanding, settlementOf } from "./posts.ts";
import { assertRemovable, isOnPlatform } from "../publishing/take-down.ts";
import { NOTHING_CHANGED, retryPost, SENT_AS_IT_WAS, updatePost } from "./update-post.ts";
import { NO_TIME_GIVEN } from "./warnings.ts";
import { asksForChange } from "./waits.ts";
import { preparePost, readScheduledAt } from "./prepare.ts";
import { schedulePosts } from "./schedule-post.ts";

/*
 * What a person is asked before a call that counts. Where the call will be refused anyway the question is
 * null or the refusal itself.
 */

const MAX_CAPTION = 200;
const MAX_NAME = 120;
const MAX_LISTED = 10;

/** Before a post that goes out within a minute; its content is checked first. */
export async function askToPublish(call: CallContext, input: PostBody): Promise<string | null> {
  if (input.dryRun === true || !mayBeNow(call, input)) return null;
  const { row, warnings } = await preparePost(call, input);
  return askAboutNow(call, { post: toPost(row), warnings });
}

/**
 * Before a batch with posts that go out within a minute. One that cannot be scheduled is told in its result.
 */
export async function askToPublishSeveral(
  call: CallContext,
  input: {
    readonly posts: readonly PostBody[];
    readonly dryRun?: boolean | undefined;
    readonly atomic?: boolean | undefined;
  },
): Promise<string | null> {
  const posts = input.posts.filter((post) => post.dryRun !== true);
  if (input.dryRun === true || !posts.some((post) => mayBeNowOrWrong(call, post))) return null;
  const tried = await schedulePosts({ ...call, progress: () => {} }, { posts, dryRun: true });
  const results = await withoutRefused(call, tried.results);
  if (input.atomic === true && results.some(({ error }) => error !== null)) return null;
  const good = results.flatMap(({ post, warnings, preview }) =>
    post === null ? [] : [{ post, warnings, preview }],
  );
  const isDue = ({ post }: DryRunResult): boolean => isAtOnce(call.ctx, Date.parse(post.scheduledAt));
  const due = good.filter(isDue);
  const [first, ...more] = due;
  if (first === undefined) return null;
  const besides = await describeLater(
    call,
    good.filter((one) => !isDue(one)),
  );
  if (more.length === 0) return askAboutNow(call, first, besides);
  const doubts = describeDoubtsOfNow(
    call,
    due.flatMap(({ warnings }) => warnings),
  );
  const when = await whenTogether(call, due.map(toTold));
  return `Publish ${plural(due.length, "post")}${when}? ${await describePosts(call, due.map(toTold))}.${besides}${doubts}`;
}

/** Of posts that are due within a minute: "now" only where it is now. */
async function whenTogether(call: CallContext, due: readonly ToldPost[]): Promise<string> {
  const { paused, now } = await countKept(call, due);
  if (paused === due.length) return " as soon as their channels are resumed";
  if (now === 0) return " as soon as their channels let them out";
  const soon = nowOrSoon(
    call.ctx,
    due.map(({ content }) => content.scheduledAt),
  );
  return now === due.length ? ` ${soon}` : `, ${now} of them ${soon}`;
}

/** The others of a batch: the same yes covers them. */
async function describeLater(call: CallContext, later: readonly DryRunResult[]): Promise<string> {
  if (later.length === 0) return "";
  return ` It also schedules ${plural(later.length, "post")}: ${await describePosts(call, later.map(toTold))}.`;
}

/** A dry run shows posts on a channel that is disconnected, and the call itself refuses them. */
async function withoutRefused(
  { ctx, caller }: CallContext,
  results: readonly SaidBatchResult[],
): Promise<readonly SaidBatchResult[]> {
  const judged: SaidBatchResult[] = [];
  for (const result of results) {
    const account = result.post && (await findAccount(ctx, caller, result.post.accountId));
    const isRefused = account?.status === "disconnected";
    judged.push(isRefused ? { ...result, post: null, error: "Its channel is disconnected." } : result);
  }
  return judged;
}

/** Before a waiting post is moved to within a minute, or changed when it goes out then. */
export async function askToPublishSooner(call: CallContext, input: PostChange): Promise<string | null> {
  const { id, dryRun, ifUpdatedAt: _seen, ...patch } = input;
  if (dryRun === true || Object.values(patch).every((value) => value === undefined)) return null;
  const row = await findOwnPost(call.ctx, call.caller, id);
  const at = patch.scheduledAt === undefined ? row.scheduled_at : readScheduledAt(call, patch.scheduledAt).ms;
  if (!isIn(row, TRANSITIONS.edit.from) || !isAtOnce(call.ctx, at)) return null;
  assertTakesPosts(await findAccount(call.ctx, call.caller, row.account_id), false);
  const tried = await updatePost(call, { ...input, dryRun: true });
  return tried.warnings.includes(NOTHING_CHANGED) ? null : askAboutNow(call, tried);
}

/** What a dry run answers. */
interface DryRunResult {
  readonly post: SaidPost;
  readonly warnings?: readonly Said[] | undefined;
  readonly preview?: Preview | undefined;
}

/** Null where it does not go out within a minute. */
async function askAboutNow(call: CallContext, tried: DryRunResult, besides = ""): Promise<string | null> {
  if (!isAtOnce(call.ctx, Date.parse(tried.post.scheduledAt))) return null;
  const { accountId } = tried.post;
  const account = await nameOfAccount(call, accountId);
  const doubts = describeDoubtsOfNow(call, tried.warnings ?? []);
  const due = await whenDue(call, accountId, Date.parse(tried.post.scheduledAt));
  const paused = HELD[due] ?? "";
  const [now, passed] = /^(now)(.*)$/.exec(due)?.slice(1) ?? [];
  const when =
    now === undefined ? `Publish on ${account}${paused}, ${due}` : `Publish now on ${account}${passed}`;
  return `${when}: ${await describePost(call, toTold(tried))}?${besides}${doubts}`;
}

const HELD: Readonly<Record<string, string>> = {
  [WHEN_RESUMED]: ", which is paused",
  [WHEN_RECONNECTED]: ", which must be reconnected",
};

/** The question itself says when it goes out, and that its channel is held back: then how long it can wait. */
function describeDoubtsOfNow(call: CallContext, warnings: readonly Said[]): string {
  const states = warnings.map((one) => toldState(String(one)));
  const others = warnings.filter(
    (one, at) => !TOLD.includes(states[at] ?? "") && !String(one).startsWith(NO_TIME_GIVEN),
  );
  const { settings } = call.ctx;
  const limit = states.includes("paused")
    ? [describeLimit(settings)]
    : states.includes("reconnect")
      ? [describeLimit(settings, "reconnected")]
      : [];
  return describeDoubts(call, [...limit, ...others]);
}

/** States of a channel that the question tells by itself. */
const TOLD: readonly string[] = ["paused", "waits"];

function toTold({ post, preview }: DryRunResult): ToldPost {
  const { accountId, mediaUrl, caption, metadata, leadMinutes } = post;
  const scheduledAt = Date.parse(post.scheduledAt);
  return { accountId, preview, content: { mediaUrl, caption, metadata, leadMinutes, scheduledAt } };
}

/** Null where nothing would change: there is nothing to agree to. */
export async function askToEdit(call: CallContext, input: PostEdit): Promise<string | null> {
  const { row, changed } = await prepareEdit(call, input);
  if (changed.length === 0) return null;
  const { caption } = input;
  const fields = Object.entries(input.metadata ?? {}).map(
    ([field, value]) => `${plainText(nameOfField(field), MAX_NAME)}: ${valueInWords(value)}`,
  );
  const changes = [
    ...(caption === undefined
      ? []
      : [`its text becomes ${caption === "" ? "empty" : quoteText(caption, textLimit(1))}`]),
    ...(input.metadata === null ? ["its other fields are emptied"] : []),
    ...fields,
  ];
  const all = changes.join("; ");
  return `Change the live post ${await name(call, row)}? ${all.charAt(0).toUpperCase()}${all.slice(1)}.`;
}

function valueInWords(value: unknown): string {
  if (value === null || value === "") return "empty";
  return quoteText(partsInWords(value), MAX_CAPTION);
}

/** `[{ caption: "More" }]` as "the text: More". */
function partsInWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(partsInWords).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, part]) => `${nameOfField(key)}: ${partsInWords(part)}`)
    .join(", ");
}

export async function askToCancel(
  call: CallContext,
  input: { readonly id: string; readonly fromPlatform?: boolean | undefined },
): Promise<string | null> {
  const row = await findOwnPost(call.ctx, call.caller, input.id);
  const time = formatTime(row.scheduled_at, call.ctx.settings.timezone);
  if (input.fromPlatform === true && isOnPlatform(row)) {
    assertRemovable(call.ctx, row, await findAccount(call.ctx, call.caller, row.account_id));
    const since = formatTime(row.published_at ?? row.scheduled_at, call.ctx.settings.timezone);
    const where = row.platform_url === null ? "" : ` at ${plainText(row.platform_url, MAX_CAPTION)}`;
    const state =
      row.status === "uploaded"
        ? `It is uploaded and would go live on ${time}.`
        : `It is live since ${since}${where}, and cannot be brought back.`;
    return `Delete the post ${await name(call, row)} from the platform? ${state}`;
  }
  if (!isIn(row, TRANSITIONS.cancel.from)) return null;
  const tense = row.scheduled_at < call.ctx.clock.now() ? "was" : "is";
  return `Cancel the post ${await name(call, row)}? It ${tense} due on ${time} and will not go out.`;
}

/**
 * Before a failed post goes out within a minute, with or without changes: no person was asked when it was scheduled for
 * later, and who approved it as a draft approved another time.
 */
export async function askToRetry(call: CallContext, input: PostRetry): Promise<string | null> {
  if (input.dryRun === true || !mayBeNow(call, input)) return null;
  const { in_doubt, error } = await findOwnPost(call.ctx, call.caller, input.id);
  const before =
    in_doubt === 1
      ? " Whether it went out before is not known. It is sent only if its platform says that it is not there."
      : whyBefore(call, error);
  const { warnings = [], ...tried } = await retryPost(call, { ...input, dryRun: true });
  const fresh = warnings.filter((warning) => !String(warning).startsWith(SENT_AS_IT_WAS));
  const isSame = fresh.length < warnings.length && error !== null && asksForChange(fromStored(error));
  return askAboutNow(
    call,
    { ...tried, warnings: fresh },
    `${before}${isSame ? " Nothing of it is changed." : ""}`,
  );
}

/** As the post has it, for a person. */
function whyBefore(call: CallContext, error: string | null): string {
  const why = error === null ? "" : describeDoubts(call, [fromStored(error)]);
  return why === "" ? " It failed before." : ` It failed before:${withFullStop(why)}`;
}

/** Before waiting posts are moved or cancelled together. */
export async function askToChange(call: CallContext, input: PostsChange): Promise<string | null> {
  if (input.dryRun === true) return null;
  const planned = await planChange(call, input);
  if (planned.length === 0) return null;
  const { ctx } = call;
  const { timezone } = ctx.settings;
  const byTime = planned.toSorted((a, b) => a.row.scheduled_at - b.row.scheduled_at);
  call.noteShown?.(byTime.map(({ row, scheduledAt }) => [row.id, contentOf(row), scheduledAt]));
  const names = await namesOfAccounts(call);
  const shown: string[] = [];
  for (const { row, account, scheduledAt } of byTime.slice(0, MAX_LISTED)) {
    const to = scheduledAt === null ? "" : ` to ${await whenOut(call, account.id, scheduledAt)}`;
    const told = await describePost(call, { accountId: account.id, content: contentOf(row) }, planned.length);
    const name = plainText(names.get(account.id) ?? account.name, MAX_NAME);
    shown.push(`${told} on ${name}, ${formatTime(row.scheduled_at, timezone)}${to}`);
  }
  const more = planned.length > MAX_LISTED ? `; and ${planned.length - MAX_LISTED} more` : "";
  const posts = planned.length === 1 ? "1 waiting post" : `${planned.length} waiting posts`;
  const { warnings } = await changePosts(call, { ...input, dryRun: true });
  const doubts = describeDoubts(
    call,
    warnings.filter((one) => toldState(String(one)) !== "waits"),
  );
  return `${input.cancel === true ? "Cancel" : "Move"} ${posts}? ${shown.join("; ")}${more}${doubts === "" ? "" : `.${doubts}`}`;
}

export async function askToResolve(call: CallContext, input: Resolution): Promise<string | null> {
  const row = await readStanding(call.ctx, await findOwnPost(call.ctx, call.caller, input.id));
  const isOpen = canReconcile(row);
  const trigger = settlementOf(row, input);
  const isDone =
    input.outcome === "dismissed" && (row.status === "cancelled" || (row.status !== "failed" && !isOpen));
  if (trigger === null || isDone) return null;
  const post = await name(call, row);
  if (input.outcome === "dismissed")
    return isOpen
      ? `Put the post ${post} away? It is not known whether it is out. It will not be sent again.`
      : `Put the failed post ${post} away? It will never be sent.`;
  if (trigger === "take_down")
    return `Have you looked at the channel and found that the post ${post} is not there any more? It will be settled as taken down.`;
  if (trigger === "edit_live") {
    const place = input.platformUrl ?? input.platformPostId;
    const there = place === undefined ? "" : ` as ${plainText(place, MAX_CAPTION)}`;
    return `Have you seen the post ${post} on the channel${there}? Later it can be changed and deleted there.`;
  }
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
  const waiting = describeWaiting(queuedCount);
  const underWay = await describeUnderWay(call.ctx, call.ctx.store, { account: row, next: "held" });
  return `Disconnect ${plainText(channelInFull(row), MAX_NAME)}? ${["Its passwords and tokens will be forgotten.", waiting, underWay].filter((one) => one !== null).join(" ")}`;
}

export async function askToDeleteFile(
  call: CallContext,
  input: { readonly id: string },
): Promise<string | null> {
  const { file } = await getFile(call, input);
  if (file.usedByPosts > 0) return null;
  return `Delete the file ${quote(file.name)} (${file.sizeBytes} bytes) for good?`;
}

/** A slot may be as near as a time. */
function mayBeNow(call: CallContext, { slot, scheduledAt }: Pick<PostBody, "slot" | "scheduledAt">): boolean {
  return slot !== undefined || isAtOnce(call.ctx, readScheduledAt(call, scheduledAt).ms);
}

/** A time that cannot be read is told by the call itself. */
function mayBeNowOrWrong(call: CallContext, post: PostBody): boolean {
  try {
    return mayBeNow(call, post);
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
  call.noteShown?.([row.id, contentOf(row)]);
  return `${describe(contentOf(row))} on ${await nameOfAccount(call, row.account_id)}`;
}

type Content = Pick<PostInput, "mediaUrl" | "metadata"> & Pick<PostContent, "caption">;

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
