import {
  ended,
  fromStored,
  join,
  Message,
  type Said,
  say,
  sentencesIn,
  toStored,
} from "../domain/sentences.ts";
import { isCut, toldState, whyHeld } from "../domain/accounts/account.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { plural } from "../domain/text/plain-text.ts";
import { describeTry } from "../domain/time.ts";
import type { ShownRow } from "../store/schema/tables.ts";
import { listAccountRows } from "../store/queries/accounts.ts";
import { listWaits, type WaitingPost } from "../store/queries/publishing/waiting-posts.ts";
import { keptUntil, whyItWaits } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";

/**
 * The rows, those of due posts that do not go out with the reason as their error: what holds their channel up is
 * written on the channel. An error of the post's own stays, with the time of the next try.
 */
export async function withWaits<T extends ShownRow>(
  ctx: AppContext,
  rows: readonly T[],
): Promise<readonly T[]> {
  const now = ctx.clock.now();
  const mayWait = ({ status, scheduled_at: at }: ShownRow): boolean =>
    status === "publishing" || (status === "scheduled" && at <= now);
  const ids = rows.filter(mayWait).map(({ id }) => id);
  if (ids.length === 0) return rows;
  const held = new Map((await listWaits(ctx.store, ids)).map((one) => [one.id, one]));
  return rows.map((row) => {
    const found = held.get(row.id);
    if (found === undefined) return row;
    return {
      ...row,
      error:
        row.error === null || (found.status === "publishing" && found.in_doubt === 1)
          ? whyWaiting(ctx, found, now)
          : withNextTry(ctx, row.error, found),
    };
  });
}

/** Of posts that are shown before their time, what keeps their channels back: once for each. */
export async function warnOfHeldChannels(
  { ctx: { store, clock }, caller }: Pick<CallContext, "ctx" | "caller">,
  rows: readonly ShownRow[],
): Promise<Said[]> {
  const waiting = rows.filter(({ status }) => status === "scheduled");
  // A post that is due says it in its error.
  const held = new Set(
    waiting.filter((row) => row.scheduled_at > clock.now()).map(({ account_id: id }) => id),
  );
  const accounts = held.size === 0 ? [] : await listAccountRows(store, caller.ownerId);
  return accounts.flatMap((account): Said[] => {
    const count = waiting.filter((row) => row.account_id === account.id).length;
    const why = held.has(account.id) ? whyHeld(account) : null;
    if (why === null) return [];
    const waits = `${plural(count, "post that is shown waits", "posts that are shown wait")} for it.`;
    if (!isCut(account)) return [`${why} ${waits}`];
    const next = [{ do: "reconnect", provider: account.provider, accountId: account.id } as const];
    return [join(say(why, { next }), waits)];
  });
}

/** A channel that cannot be used tries nothing by itself: that is why it waits, whatever went before. */
function withNextTry({ clock, settings }: AppContext, error: string, post: WaitingPost): string {
  const held = heldByPerson(post);
  const said = fromStored(error);
  // What was written on it of its channel may be half of what is so now.
  if (held !== null) return toldState(String(said)) === null ? toStored(join(ended(said), held)) : held;
  const next = Math.max(post.next_at ?? 0, post.next_allowed_at);
  if (next <= clock.now()) return error;
  return toStored(
    join(
      ended(withoutAdvice(said)),
      `It is tried again on ${describeTry(next, { now: clock.now(), ...settings })}.`,
    ),
  );
}

/** Whether nothing of its channel goes out before a person resumes it, or reconnects it. */
export function isHeldByPerson(post: WaitingPost): boolean {
  return heldByPerson(post) !== null;
}

function heldByPerson(post: WaitingPost): string | null {
  return whyHeld({ ...post, status: post.account_status });
}

function whyWaiting(ctx: AppContext, post: WaitingPost, now: number): string | null {
  const title = ctx.platforms.get(post.provider)?.title ?? post.provider;
  if (post.status === "publishing") return whyUnderWay(ctx, post, now, title);
  const held = heldByPerson(post);
  if (held !== null) return held;
  if (post.in_flight_post !== null)
    return `It waits for the post before it on ${channelInFull(post)}, which is on its way.`;
  const until = keptUntil(ctx, post, now);
  const why = whyItWaits(ctx, post);
  if (why === undefined || until === null) return null;
  return `${why} This one waits until ${describeTry(until, { now, ...ctx.settings })}.`;
}

/** Of a post that was begun and is not worked on now. Null: nothing is wrong, or it is taken up at once. */
function whyUnderWay(ctx: AppContext, post: WaitingPost, now: number, title: string): string | null {
  const { in_doubt: inDoubt, last_error: lastError, next_at: nextAt } = post;
  const held = heldByPerson(post);
  if (inDoubt === 0 && lastError === null && held === null) return null;
  const settled = howItIsSettled(ctx, post, title);
  // Who holds the channel back has to do something, and so has who is to look at it.
  const isBlind = ctx.platforms.get(post.provider)?.capabilities.reconciles === "blind";
  const calm = held === null && !isBlind ? " Nothing is to be done yet." : "";
  const doubt = `It was sent, and it is not known yet whether it is out. ${settled}${calm}`;
  const nextTry = nextAt === null ? 0 : Math.max(nextAt, post.next_allowed_at);
  const next =
    nextTry <= now ? null : `The next try is on ${describeTry(nextTry, { now, ...ctx.settings })}.`;
  const last = lastError === null ? null : ended(withoutAdvice(fromStored(lastError)));
  // What it says of the channel may be half of what is so now.
  const why = toldState(String(last ?? "")) === null ? last : null;
  return toStored(join(inDoubt === 0 ? null : doubt, why, held === null ? next : ended(held)));
}

/** What to do about a refusal, as platforms' errors end with it; what the platform itself said follows. */
const ADVICE = / [A-Z](?:[^.]|\.\S){0,120}, then send (?:it|the post) again\./;

/** Whether a refusal asks for another post: sent as it is, it is refused once more. */
export function asksForChange(said: Said): boolean {
  return sentencesIn(said).some(({ what }) => ADVICE.test(what));
}

/** What is tried again by itself is not to be changed and sent by a person. */
function withoutAdvice(said: Said): Message {
  return new Message(
    sentencesIn(said).map(({ field, what, next }) => ({
      field,
      what: what.replace(ADVICE, ""),
      next: next.filter((step) => step.do !== "retry"),
    })),
  );
}

/** How the platform keeps a post from being there twice. */
function howItIsSettled(ctx: AppContext, { provider }: WaitingPost, title: string): string {
  const capabilities = ctx.platforms.get(provider)?.capabilities;
  const again = "It is sent again, marked as the same post";
  if (capabilities?.reconciles === "server_key") return `${again}, so that it appears once.`;
  if (capabilities?.reconciles === "blind")
    return `It is not sent again before a person has looked at ${title}.`;
  return capabilities?.knowsRepeats === true || capabilities?.reconciles === "client_key"
    ? `${again}, or ${title} is asked for it, so that it appears once.`
    : `${title} is asked whether it is there, before anything is sent again.`;
}
