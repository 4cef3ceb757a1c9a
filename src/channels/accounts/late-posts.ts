import { atEarliest, isCut } from "../../domain/accounts/account.ts";
import type { LateCause } from "../../domain/posts/post.ts";
import { join, type Message, say } from "../../domain/sentences.ts";
import { channelInFull } from "../../domain/accounts/channel-names.ts";
import { plainText, plural } from "../../domain/text/plain-text.ts";
import { DAY, formatDuration, formatTime, describeTry } from "../../domain/time.ts";
import type { PostRow } from "../../store/schema/tables.ts";
import type { Reader, Tx } from "../../store/engine/store.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import { transition } from "../../store/queries/posts.ts";
import {
  listUnderWay,
  listWaitingUntil,
  type PostUnderWay,
} from "../../store/queries/publishing/waiting-posts.ts";
import type { AppContext } from "../../context.ts";

/** What becomes of the posts that a channel kept back, once it may be used. */
export interface Release {
  /** They go out, earliest first. */
  readonly goingOut: readonly PostRow[];
  /** They fail. */
  readonly tooLate: readonly PostRow[];
}

/** So many are named. */
export const MAX_NAMED = 3;
const MAX_TEXT = 80;

/** Of an account that is paused or without access, as if it were not. `at`: those that are due by then. */
export async function readRelease(
  { clock, settings }: AppContext,
  reader: Reader,
  { id }: Pick<AccountRow, "id">,
  at = clock.now(),
): Promise<Release> {
  const rows = await listWaitingUntil(reader, id, { until: at });
  const since = clock.now() - settings.maxLatenessMs;
  const [goingOut, tooLate] = [true, false].map((isInTime) =>
    rows.filter((row) => row.scheduled_at >= since === isInTime),
  );
  return { goingOut: goingOut ?? [], tooLate: tooLate ?? [] };
}

/** Until when its platform, or those before it, keep a channel from sending anything more. */
type Waiting = Pick<AccountRow, "id" | "provider" | "next_allowed_at" | "wait_cause">;

/**
 * When a channel that can be used lets a post out at the earliest that is due at `due`. Null: at its time. What is said
 * before a call, in its answer and of the post goes by this.
 */
export function keptUntil(
  { clock }: Pick<AppContext, "clock">,
  { next_allowed_at: at = 0 }: Partial<Pick<Waiting, "next_allowed_at">>,
  due: number,
): number | null {
  return at > Math.max(due, clock.now()) ? at : null;
}

const ONE_BY_ONE =
  "Posts of this channel whose time has come go out one after the other, the earliest first.";

/** What keeps a channel's posts until a time. Other causes are told of the post itself. */
const UNTIL: Partial<Readonly<Record<LateCause, (platform: string) => string>>> = {
  rate_limit: (platform) => `${platform} takes no more posts from this channel for now.`,
  spacing: () => ONE_BY_ONE,
  channel: () => ONE_BY_ONE,
  order: () => "An earlier post of this channel is tried again first.",
};

/** Why a channel waits before it sends more. Undefined: nothing is known of that. */
export function whyItWaits(
  { platforms }: Pick<AppContext, "platforms">,
  { provider, wait_cause: cause }: Pick<Waiting, "provider" | "wait_cause">,
): string | undefined {
  return cause === null ? undefined : UNTIL[cause]?.(platforms.get(provider)?.title ?? provider);
}

/** What to say of a post that is due at `due` on a channel that can be used. Null: nothing. */
export function describeKept(ctx: AppContext, account: Waiting, due: number): string | null {
  const until = keptUntil(ctx, account, due);
  if (until === null) return null;
  const goes = atEarliest("It goes out", describeTry(until, { now: ctx.clock.now(), ...ctx.settings }));
  return inOne(whyItWaits(ctx, account) ?? null, goes);
}

/** In the place of "now" before a channel is connected again. */
const ONCE_CONNECTED = "as soon as it is connected";

/** When the posts of a channel go out that are due at `due`, by default now: at `base`, or later. */
export function whenFreed(ctx: AppContext, account: Waiting, base: string, due = 0): string {
  const { provider, wait_cause: cause } = account;
  const now = ctx.clock.now();
  const at = keptUntil(ctx, account, due);
  if (at === null) return base;
  const title = ctx.platforms.get(provider)?.title ?? provider;
  const why = cause === "rate_limit" ? `, as ${title} takes no more posts before` : "";
  return `${base === ONCE_CONNECTED ? `${base}, but ` : ""}not before ${describeTry(at, { now, ...ctx.settings })}${why}`;
}

/** When what was kept back goes out, and what can be done about what is too late. */
interface Telling {
  readonly when?: string;
  /** Default: nothing is told. */
  readonly next?: "before" | "after";
}

/** In sentences. Null: nothing was kept back. */
export function describeRelease(
  { settings }: AppContext,
  { goingOut, tooLate }: Release,
  { when = "now", next }: Telling = {},
): Message | null {
  const span = formatDuration(settings.maxLatenessMs);
  const fails = next === "after" ? "failed" : tooLate.length === 1 ? "fails" : "fail";
  const told = [
    ...(goingOut.length === 0
      ? []
      : [`${countOf(goingOut, "goes out", "go out")} ${when}: ${nameLate(settings, goingOut)}.`]),
    ...(tooLate.length === 0
      ? []
      : [`${countOf(tooLate, fails, fails)}, being more than ${span} late: ${nameLate(settings, tooLate)}.`]),
    ...(tooLate.length === 0 || next === undefined ? [] : [NEXT[next](tooLate)]),
  ];
  return told.length === 0 ? null : join(...told);
}

const NEXT = {
  before: ({ length }: readonly PostRow[]) =>
    say(
      `Move ${length === 1 ? "it" : "them"} first, or send ${length === 1 ? "it" : "them"} again afterwards.`,
      {
        next: [{ do: "move", postId: null }],
      },
    ),
  after: (rows: readonly PostRow[]) => {
    const postIds = rows.slice(0, MAX_NAMED).map(({ id }) => id);
    return say(`Send ${rows.length === 1 ? "it" : "them"} again.`, { next: [{ do: "send_again", postIds }] });
  },
} as const;

/** Each by its first words and its time; of many the first. `count`: of all there are. */
export function nameLate(
  { timezone }: AppContext["settings"],
  rows: readonly Pick<PostRow, "id" | "caption" | "media_url" | "scheduled_at">[],
  { count = rows.length, hasIds = false }: { readonly count?: number; readonly hasIds?: boolean } = {},
): string {
  const named = rows.slice(0, MAX_NAMED).map((row) => {
    const id = hasIds ? ` (${row.id})` : "";
    return `${firstWords(row)}${id}, which was due on ${formatTime(row.scheduled_at, timezone)}`;
  });
  const more = count > MAX_NAMED ? `; and ${count - MAX_NAMED} more` : "";
  return `${named.join("; ")}${more}`;
}

/** What a person knows a post by. */
export function firstWords({ caption, media_url: mediaUrl }: Pick<PostRow, "caption" | "media_url">): string {
  const text = caption?.trim() ? caption : mediaUrl;
  // The address of a file of our own means nothing to people.
  if (text === mediaUrl && text.startsWith("r2://")) return `1 ${kindOf(text)} without text`;
  return text === "" ? "a post without text" : `“${plainText(text, MAX_TEXT)}”`;
}

function kindOf(address: string): string {
  if (/\.(?:mp4|mov|m4v|webm|mkv)$/i.test(address)) return "film";
  return /\.(?:png|jpe?g|gif|webp|avif|hei[cf])$/i.test(address) ? "picture" : "file";
}

/** What becomes of the posts of a channel that is disconnected. Null: none wait. */
export function describeWaiting(count: number): string | null {
  return count === 0
    ? null
    : `${plural(count, "waiting post fails", "waiting posts fail")} unless it is connected again in time.`;
}

/** How long a pause, or a channel without access, may keep a post back. */
export function describeLimit(
  { maxLatenessMs }: AppContext["settings"],
  freed: "resumed" | "reconnected" = "resumed",
): string {
  return `A post may go out up to ${formatDuration(maxLatenessMs)} late. Once the channel is ${freed}, what is later than that fails.`;
}

/** What a pause means for the posts that wait. Null: none does. */
export async function describePause(
  ctx: AppContext,
  reader: Reader,
  account: Waiting,
  queuedCount: number,
): Promise<string | null> {
  const underWay = await describeUnderWay(ctx, reader, { account, next: "held" });
  const [first] = await listWaitingUntil(reader, account.id, { until: Number.MAX_SAFE_INTEGER, limit: 1 });
  if (first === undefined) return underWay;
  const { maxLatenessMs, timezone } = ctx.settings;
  const [due, end] = [first.scheduled_at, first.scheduled_at + maxLatenessMs].map((ms) =>
    formatTime(ms, timezone),
  );
  const which = queuedCount === 1 ? "It" : "The first";
  const now = ctx.clock.now();
  const verbs = [
    first.scheduled_at < now ? "was" : "is",
    first.scheduled_at + maxLatenessMs < now ? "could" : "can",
  ];
  const waiting = `${plural(queuedCount, "post waits", "posts wait")} for this channel. ${describeLimit(ctx.settings)} ${which}, ${firstWords(first)}, ${verbs[0]} due on ${due}, and ${verbs[1]} go out until ${end}.`;
  return inOne(waiting, await describePauseOf(ctx, reader, account), underWay);
}

/** So long a pause is thought of, to tell how many posts it fails. */
const PAUSE_OF_MS = 7 * DAY;

/** How many posts fail that are not the first alone. Null: no more. */
async function describePauseOf(ctx: AppContext, reader: Reader, { id }: Waiting): Promise<string | null> {
  const until = ctx.clock.now() + PAUSE_OF_MS - ctx.settings.maxLatenessMs;
  const failing = await listWaitingUntil(reader, id, { until });
  if (failing.length < 2) return null;
  return `Should it be paused for a week, ${failing.length} of them fail.`;
}

/** What becomes of a post that was begun when its channel is held up, or may be used again. */
const THEN = {
  held: () =>
    "What is being sent is not stopped. What waits for its next try waits until the channel may be used again.",
  goesOn: describeNextTries,
} as const;

/** The posts of an account that were begun and are not done. Null: there are none. */
export async function describeUnderWay(
  ctx: AppContext,
  reader: Reader,
  { account, next }: { readonly account: Waiting; readonly next: keyof typeof THEN },
): Promise<string | null> {
  const rows = await listUnderWay(reader, account.id);
  if (rows.length === 0) return null;
  const count = countOf(rows, "is under way and may be out already", "are under way and may be out already");
  return `${count}: ${nameLate(ctx.settings, rows)}. ${THEN[next](ctx, rows, account)}`.trim();
}

/** As `startWaitingPosts` sets it: at once, but for a post that has a moment of its own, and a channel that waits. */
function describeNextTries(ctx: AppContext, rows: readonly PostUnderWay[], account: Waiting): string {
  const now = ctx.clock.now();
  const tries = rows
    .filter(({ lease_worker: worker }) => worker === null)
    .map((row) => {
      const own = row.has_open_step === 1 ? (row.next_at ?? 0) : 0;
      return { row, at: Math.max(own, account.next_allowed_at) };
    });
  const later = tries.filter(({ at }) => at > now);
  if (later.length === 0) return tries.length === 0 ? "" : "The next try is made then.";
  const tell = (at: number): string => describeTry(at, { now, ...ctx.settings });
  const named = later
    .slice(0, MAX_NAMED)
    .map(({ row, at }) => `that of ${firstWords(row)} not before ${tell(at)}`);
  const more = later.length > MAX_NAMED ? `; and ${later.length - MAX_NAMED} more later` : "";
  const others = later.length === tries.length ? "" : ", those of the others then";
  return `The next try is made later: ${named.join("; ")}${more}${others}.`;
}

/**
 * Fails what is too late for a channel that is resumed: the one reason is known here. The publisher would find it late,
 * and no more.
 */
export async function failTooLate(
  { settings }: AppContext,
  tx: Tx,
  {
    account,
    posts,
    now,
  }: { readonly account: AccountRow; readonly posts: readonly PostRow[]; readonly now: number },
): Promise<void> {
  const span = formatDuration(settings.maxLatenessMs);
  const error = `It waited because ${channelInFull(account)} was paused, and was more than ${span} late when that was resumed, which is later than posts may go out (POSTHORN_MAX_LATENESS). Send it again.`;
  for (const { id, owner_id: ownerId } of posts.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await transition(tx, { ownerId, id }, "miss", {
      error,
      in_doubt: 0,
      next_at: null,
      updated_at: now,
    });
}

/** What a channel without access kept back, before it is connected again. Null: nothing, or it is not to go out. */
export async function describeReconnection(
  ctx: AppContext,
  account: AccountRow | null,
): Promise<Message | null> {
  if (account === null || !isCut(account) || account.paused === 1) return null;
  const release = describeRelease(ctx, await readRelease(ctx, ctx.store, account), {
    when: whenFreed(ctx, account, ONCE_CONNECTED),
  });
  return withUnderWay(release, await describeUnderWay(ctx, ctx.store, { account, next: "goesOn" }));
}

/** What goes out of a channel, and what is under way there. Null: nothing is told. */
export function withUnderWay(release: Message | null, underWay: string | null): Message | null {
  return release === null && underWay === null ? null : join(release, underWay);
}

/** Null: nothing is told. */
export function inOne(...told: readonly (string | null)[]): string | null {
  const parts = told.filter((one) => one !== null);
  return parts.length === 0 ? null : parts.join(" ");
}

function countOf({ length }: readonly PostRow[], one: string, several: string): string {
  return length === 1 ? `1 post ${one}` : `${length} posts ${several}`;
}
