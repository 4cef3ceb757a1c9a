import { isCut } from "../domain/accounts/account.ts";
import { nameOfField, subjectOf, formatDay, upperFirst, withValues } from "../domain/posts/for-people.ts";
import { oneLine, plainText } from "../domain/text/plain-text.ts";
import { type Said, sentencesIn } from "../domain/sentences.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { MINUTE, SECOND, formatTime, describeTry } from "../domain/time.ts";
import { findAccount, namesOfAccounts } from "../channels/accounts/accounts.ts";
import { keptUntil, whenFreed } from "../channels/accounts/late-posts.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { CallContext } from "../context.ts";
import type { PostContent } from "./post-form.ts";
import { previewPost } from "./preview.ts";

/*
 * Posts as a person is told of them before they agree: what goes out, where, when, and with which media. A person in
 * front of an agent sees nothing but this.
 */

/** A person who agrees to a post within this time cannot change their mind any more. */
export const AT_ONCE_MS = MINUTE;

/** So many of several posts are told. */
const MAX_LISTED = 10;

const MAX_NAME = 120;

/** The characters of each text, for so many posts: a dialog holds a few screens. */
export function textLimit(posts: number): number {
  if (posts === 1) return 600;
  return posts <= 3 ? 300 : 120;
}

/** On one line, and where it is cut, how much of it that is. */
export function quoteText(text: string, max: number): string {
  const shown = plainText(text, max);
  const length = [...oneLine(text)].length;
  return length <= max ? `“${shown}”` : `“${shown}” (the first ${max - 1} of ${length} characters)`;
}

/** Whether it goes out before a person could change their mind. */
export function isAtOnce({ clock }: CallContext["ctx"], ms: number): boolean {
  return ms - clock.now() <= AT_ONCE_MS;
}

/** A post, wherever it stands so far. */
export interface ToldPost {
  readonly accountId: string;
  readonly content: PostContent;
  /** When it was to go out, where that is over and the content says now. */
  readonly planned?: number | null;
  /** Default: what its platform will show of it. */
  readonly preview?: Preview | undefined;
}

interface Listing {
  /** How many posts are told of in all, which leaves less room for each. Default: these. */
  readonly among?: number;
  /** So many are told. Default: 10. */
  readonly most?: number;
  /** In the place of "now", where their channels are about to be resumed. */
  readonly resumed?: string;
}

/** In the place of "now". */
export const WHEN_RESUMED = "as soon as it is resumed";

/** The same where it must be connected again. */
export const WHEN_RECONNECTED = "as soon as it is reconnected";

/** What keeps the posts of a channel that are due now. Null: nothing does. */
type HoldReason = "paused" | "cut" | "waits" | null;

async function readKept(
  { ctx, caller }: CallContext,
  accountId: string,
): Promise<{ readonly account: AccountRow; readonly kept: HoldReason }> {
  const account = await findAccount(ctx, caller, accountId);
  const waits = keptUntil(ctx, account, 0) === null ? null : "waits";
  return { account, kept: account.paused === 1 ? "paused" : isCut(account) ? "cut" : waits };
}

/** Of posts that are due within a minute, how many each thing keeps. */
export async function countKept(
  call: CallContext,
  due: readonly Pick<ToldPost, "accountId">[],
): Promise<Readonly<Record<"paused" | "cut" | "waits" | "now", number>>> {
  const counts = { paused: 0, cut: 0, waits: 0, now: 0 };
  for (const { accountId } of due) counts[(await readKept(call, accountId)).kept ?? "now"] += 1;
  return counts;
}

/** What "now" is on a channel that a person holds back, or that its platform asked to wait. */
async function whenNow(call: CallContext, accountId: string): Promise<string> {
  const { account, kept } = await readKept(call, accountId);
  if (kept === "paused") return WHEN_RESUMED;
  return kept === "cut" ? WHEN_RECONNECTED : whenFreed(call.ctx, account, "now");
}

/** When a post goes out, whenever that is. */
export async function whenOut(call: CallContext, accountId: string, at: number): Promise<string> {
  if (isAtOnce(call.ctx, at)) return whenDue(call, accountId, at);
  const { account, kept } = await readKept(call, accountId);
  const when = formatTime(at, call.ctx.settings.timezone);
  return kept === "waits" ? whenFreed(call.ctx, account, when, at) : when;
}

/** A question may come so long after its posts were prepared. */
const SLACK_MS = 10 * SECOND;

/** What "now" is of a post that is due within a minute: a time of its own that is ahead, or is over, is named. */
export async function whenDue(call: CallContext, accountId: string, at: number): Promise<string> {
  const { clock, settings } = call.ctx;
  const [when, now] = [await whenNow(call, accountId), clock.now()];
  if (when !== "now") return when;
  if (at > now) return describeTry(at, { now, ...settings });
  return now - at < SLACK_MS ? when : `now, as its time, ${formatTime(at, settings.timezone)}, has passed`;
}

/** What "now" is of posts that are due within a minute. */
export function nowOrSoon({ clock }: CallContext["ctx"], times: readonly number[]): string {
  return times.some((at) => at > clock.now()) ? "within a minute" : "now";
}

/** Each with its channel and time: `My feed, now: “Hello”, with 1 picture; …`. */
export async function describePosts(
  call: CallContext,
  posts: readonly ToldPost[],
  { among = posts.length, most = MAX_LISTED, resumed }: Listing = {},
): Promise<string> {
  const { ctx } = call;
  call.noteShown?.(posts.map(({ accountId, content }) => [accountId, content]));
  const names = await namesOfAccounts(call);
  const told: string[] = [];
  for (const post of posts.slice(0, most)) {
    const { scheduledAt: at } = post.content;
    const when = isAtOnce(ctx, at)
      ? (resumed ?? (await whenDue(call, post.accountId, post.planned ?? at)))
      : await whenOut(call, post.accountId, at);
    const channel = plainText(names.get(post.accountId) ?? post.accountId, MAX_NAME);
    told.push(`${channel}, ${when}: ${await describePost(call, post, among)}`);
  }
  const more = posts.length > most ? `; and ${posts.length - most} more` : "";
  return `${told.join("; ")}${more}`;
}

/** What goes out; one of `among` posts. */
export async function describePost(call: CallContext, post: ToldPost, among = 1): Promise<string> {
  const { ctx, caller } = call;
  const { accountId, content } = post;
  call.noteShown?.([accountId, content]);
  const preview =
    post.preview ?? (await previewPost(ctx, await findAccount(ctx, caller, accountId), content));
  const max = textLimit(among);
  const media = mediaInWords(preview.media);
  const text = preview.text ?? "";
  const head =
    text.trim() !== ""
      ? `${quoteText(text, max)}${media === "" ? "" : `, with ${media}`}`
      : media === ""
        ? "a post without text"
        : `${media} without text`;
  return among === 1 ? `${head}${detailsOf(preview, content)}` : `${head}${partsInWords(preview)}`;
}

function detailsOf(preview: Preview, { mediaUrl }: PostContent): string {
  const { text, link, note, parts } = preview;
  const address = (text ?? "") === "" && /^https?:/.test(mediaUrl) ? ` (${plainText(mediaUrl, 200)})` : "";
  const rest = parts.map((part) => {
    const media = mediaInWords(part.media);
    return `${quoteText(part.text, textLimit(2))}${media === "" ? "" : ` with ${media}`}`;
  });
  return [
    address,
    rest.length === 0 ? "" : `, followed by ${rest.join(", then ")}`,
    link === null || text?.includes(link) === true ? "" : `, with a link to ${plainText(link, 200)}`,
    note === null ? "" : ` (${plainText(note, 400)})`,
  ].join("");
}

function partsInWords({ parts }: Preview): string {
  if (parts.length === 0) return "";
  return parts.length === 1 ? ", and 1 more part" : `, and ${parts.length} more parts`;
}

const KINDS = {
  image: ["picture", "pictures"],
  video: ["video", "videos"],
  audio: ["recording", "recordings"],
  document: ["document", "documents"],
  other: ["file", "files"],
} as const;

/** `2 pictures and 1 film`. */
function mediaInWords(media: Preview["media"]): string {
  const types = media.map(({ type }) => type ?? "other");
  return [...new Set(types)]
    .map((type) => {
      const count = types.filter((one) => one === type).length;
      return `${count} ${KINDS[type][count === 1 ? 0 : 1]}`;
    })
    .join(" and ");
}

/** As agents are told it, with the offset or without: `2026-11-27T09:00+01:00`, `2026-11-27`. */
const MACHINE_TIME =
  /(?<![\w/.-])(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?(?![\w-])/g;

/** Who is asked does not set up the server. */
const SETTING = / \(POSTHORN_[A-Z_]+\)/g;

/** What speaks against it, for the end of a question: each once, in words of people. What to do, they know. */
export function describeDoubts({ ctx }: Pick<CallContext, "ctx">, warnings: readonly Said[]): string {
  const { timezone } = ctx.settings;
  const inTime = (ours: string): string =>
    ours.replace(MACHINE_TIME, (moment: string, day: string, clock?: string, offset?: string) =>
      offset === undefined
        ? `${formatDay(day)}${clock === undefined ? "" : `, ${clock}`}`
        : formatTime(Date.parse(moment), timezone),
    );
  const told = warnings.flatMap(sentencesIn).map((one) => {
    const said = withValues(one.what.replaceAll(SETTING, ""), inTime);
    const subject = subjectOf(one);
    if (subject !== null) return `${subject} ${said}`;
    return one.field === null ? said : `${upperFirst(nameOfField(one.field))}: ${said}`;
  });
  return [...new Set(told)].map((text) => ` ${text}`).join("");
}
