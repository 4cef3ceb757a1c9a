import { plural } from "../domain/text/plain-text.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { titleOfPlatform } from "../domain/accounts/platform-titles.ts";
import { DateTime } from "luxon";
import * as z from "zod";
import type { Quota } from "../domain/accounts/account.ts";
import { canHoldPosts, type PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { MINUTE, formatDuration, formatTime, describeTry } from "../domain/time.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { Candidate } from "../store/engine/claims.ts";
import { countInWindow, nthNewest, type QuotaWindow } from "../store/queries/channel-posts.ts";
import type { Reader } from "../store/engine/store.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";

/** A post that a quota has no room for. */
interface Excess {
  readonly quota: Quota;
  /** The number it would have in its time. */
  readonly nth: number;
  /** When there is room for it. */
  readonly freeAt: number;
}

interface QuotaQuery {
  /** When the post goes out. */
  readonly at: number;
  readonly planning: QuotaWindow["planning"];
}

/** The reader may be a transaction, which sees what it has written. */
type Counting = Pick<AppContext, "settings"> & { readonly store: Reader };

/** What `inspectAccount` stores with the limits. */
const Use = z.object({ quotaUse: z.record(z.string(), z.number()) });

/** The quota that keeps a post waiting longest; null where there is room for it. */
async function findExcess(
  ctx: Counting,
  account: AccountRow,
  quotas: readonly Quota[],
  asked: QuotaQuery,
): Promise<Excess | null> {
  let longest: Excess | null = null;
  for (const quota of quotas) {
    const excess = await findExcessOver(ctx, account, quota, asked);
    if (excess !== null && excess.freeAt > (longest?.freeAt ?? 0)) longest = excess;
  }
  return longest;
}

async function findExcessOver(
  { store }: Counting,
  account: AccountRow,
  quota: Quota,
  { at, planning }: QuotaQuery,
): Promise<Excess | null> {
  const of = quota.scope === "account" ? { accountId: account.id } : { provider: account.provider };
  const { after, endsAt } = windowOf(quota, at);
  const window = { of, after, until: at, planning };
  // What the platform counted in this window, when it was asked, beside the posts that are ours.
  const { inspected_at: until } = account;
  const told =
    until <= after ? 0 : (Use.safeParse(JSON.parse(account.limits)).data?.quotaUse[quota.name] ?? 0);
  const own = told === 0 ? 0 : await countInWindow(store, { of, after, until, planning: null });
  const others = Math.max(0, told - own);
  const used = (await countInWindow(store, window)) + others;
  if (used < quota.max) return null;
  if (endsAt !== null) return { quota, nth: used + 1, freeAt: endsAt };
  // There is room once all but the newest have left the window. When others were is not known.
  const leaves = quota.max - others < 1 ? null : await nthNewest(store, window, quota.max - others);
  const freeAt = (leaves ?? account.inspected_at) + quota.perMinutes * MINUTE;
  return { quota, nth: used + 1, freeAt };
}

/** Where it began, and when it ends; null where it goes along. */
function windowOf(
  { from, perMinutes }: Quota,
  at: number,
): { readonly after: number; readonly endsAt: number | null } {
  if (from === "rolling") return { after: at - perMinutes * MINUTE, endsAt: null };
  const midnight = DateTime.fromMillis(at, { zone: from }).startOf("day");
  return { after: midnight.toMillis() - 1, endsAt: midnight.plus({ days: 1 }).toMillis() };
}

/** What to say of a post that a quota will have no room for at its time. */
export async function warnOfQuotas(
  ctx: Counting & Pick<AppContext, "clock">,
  account: AccountRow,
  post: { readonly id: string | null; readonly at: number; readonly quotas: readonly Quota[] },
): Promise<string[]> {
  if (post.quotas.length === 0) return [];
  const asked = { at: post.at, planning: { postId: post.id } };
  const excess = await findExcess(ctx, account, post.quotas, asked);
  if (excess === null) return [];
  const isTooLong = excess.freeAt - post.at > ctx.settings.maxLatenessMs;
  // A time that is to be chosen is not before it: the minute is rounded up.
  const free = isTooLong
    ? formatTime(Math.ceil(excess.freeAt / MINUTE) * MINUTE, ctx.settings.timezone)
    : describeTry(excess.freeAt, { now: ctx.clock.now(), ...ctx.settings });
  const wait = isTooLong
    ? `it would wait until ${free}, more than ${formatDuration(ctx.settings.maxLatenessMs)} after its time, and fail. Choose a time from then on.`
    : `it will wait until ${free}.`;
  return [`scheduledAt: ${describe(account, excess)}, so ${wait}`];
}

function describe(account: AccountRow, { quota, nth }: Excess): string {
  const { from, perMinutes, max, scope } = quota;
  const span = perMinutes % 60 === 0 ? plural(perMinutes / 60, "hour") : plural(perMinutes, "minute");
  const time = from === "rolling" ? span : `the day (${from})`;
  const place =
    scope === "account"
      ? channelInFull(account)
      : `${titleOfPlatform(account.provider)}, all channels together`;
  return `this is post ${nth} in ${time} on ${place}, which takes ${max} (${quota.name})`;
}

/**
 * Asked right before something is sent. Keeps a post that its account's quotas have no room for from being sent, without a request: throws a
 * `rate` fault that says when there is one. Null where nothing is counted, and for a post that counts
 * already: one that is on its platform, or may be.
 */
export function guardQuotas(
  ctx: AppContext,
  { post, account, effects }: Pick<Candidate, "post" | "account" | "effects">,
  capabilities: PlatformCapabilities,
): (() => Promise<void>) | null {
  const { quotas } = capabilities;
  const isOpen = effects.some(({ state }) => state === "intent" || state === "unknown");
  if (quotas.length === 0 || post.status === "uploaded" || isOpen) return null;
  let isPassed = false;
  return async () => {
    const now = ctx.clock.now();
    // What is only prepared counts when it goes out.
    if (isPassed || (now < post.scheduled_at && !canHoldPosts(capabilities))) return;
    const excess = await findExcess(ctx, account, quotas, { at: now, planning: null });
    isPassed = excess === null;
    if (excess === null) return;
    throw new PlatformFault("rate", `Nothing was sent, as ${describe(account, excess)}.`, {
      retryAfterMs: excess.freeAt - now,
    });
  };
}
