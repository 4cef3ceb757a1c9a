import { countWaitingDrafts } from "../../store/queries/drafts.ts";
import { DateTime } from "luxon";
import { plainText } from "../../domain/text/plain-text.ts";
import { unpackFigures } from "../../domain/posts/results.ts";
import { HOUR, toIso } from "../../domain/time.ts";
import { atWallTime, readWallClock } from "../../domain/wall-clock.ts";
import type { DigestEvent } from "../../domain/webhooks/event-data.ts";
import { EXPIRING_WITHIN_MS } from "../../channels/accounts/accounts.ts";
import { listCountedAccounts, listExpiring } from "../../store/queries/accounts.ts";
import {
  type DigestPost,
  insertEvent,
  listWanting,
  noteAccount,
  readDigestPosts,
} from "../../store/queries/events.ts";
import { readMeta, setMeta } from "../../store/queries/meta.ts";
import { countInDoubt, type StatusScope } from "../../store/queries/status.ts";
import { readMetadata } from "../../store/queries/posts.ts";
import { type FreshResult, readFreshResults } from "../../store/queries/results/reading.ts";
import type { Reader } from "../../store/engine/store.ts";
import type { WebhookRow } from "../../store/queries/webhooks.ts";
import type { AppContext } from "../../context.ts";
import { textOf } from "./notices.ts";

/** Tells a week ahead that a person must connect a channel again: once for each end of its access. */
export async function remindOfExpiry(ctx: AppContext): Promise<void> {
  const now = ctx.clock.now();
  const ending = await listExpiring(ctx.store, { after: now, until: now + EXPIRING_WITHIN_MS });
  if (ending.length === 0) return;
  await ctx.store.write(async (tx) => {
    for (const { id, owner_id: ownerId, access_ends_at: endsAt } of ending) {
      const [row] = await listCountedAccounts(tx, ownerId, id);
      // Connected anew since it was read.
      if (row === undefined || row.access_ends_at !== endsAt) continue;
      // Deliveries are kept for longer than a week, so that the id of this one is still there.
      const once = `account.expiring|${id}|${endsAt}`;
      await noteAccount(tx, row, { kind: "account.expiring", at: now, once });
    }
  });
}

const DIGEST_AT = "08:00";
/** Later than that, what the day will bring is no news any more. */
const DIGEST_WITHIN_MS = 4 * HOUR;
const SHOWN_POSTS = 10;
const MAX_TEXT = 200;

/** Under which name the database remembers the day that was told last. */
const TOLD_DAY = "digest_day";

/** Tells of the day at eight, once for all processes on the database. A day about which there is nothing to say is left out. */
export async function describeOfTheDay(ctx: AppContext): Promise<void> {
  const { timezone } = ctx.settings;
  const now = ctx.clock.now();
  const { date } = readWallClock(now, timezone);
  const at = atWallTime({ date, time: DIGEST_AT }, timezone);
  if (now < at || now >= at + DIGEST_WITHIN_MS || (await readMeta(ctx.store, TOLD_DAY)) === date) return;
  await ctx.store.write(async (tx) => {
    await setMeta(tx, TOLD_DAY, date);
    for (const webhook of await listWanting(tx, "digest.daily")) {
      const snapshot = webhook.created_at > at ? null : await readDigest(tx, webhook, { date, timezone });
      if (snapshot !== null)
        await insertEvent(tx, webhook, { kind: "digest.daily", snapshot, at: now, once: `digest|${date}` });
    }
  });
}

/** Null where there is nothing to say. */
async function readDigest(
  reader: Reader,
  { owner_id: ownerId, account_ids }: WebhookRow,
  { date, timezone }: { date: string; timezone: string },
): Promise<DigestEvent | null> {
  const accountIds = account_ids === null ? null : (JSON.parse(account_ids) as string[]);
  const scope: StatusScope = { ownerId, accountIds };
  const [yesterday, today, tomorrow] = [-1, 0, 1].map((days) => startOfDay(date, days, timezone));
  const read = async (status: "scheduled" | "failed", from = 0, until = 0): Promise<DigestEvent["today"]> => {
    const found = await readDigestPosts(reader, scope, { status, from, until, limit: SHOWN_POSTS });
    return { count: found.count, posts: found.posts.map(showPost) };
  };
  const accounts = await listCountedAccounts(reader, ownerId);
  const digest = {
    date,
    timezone,
    today: await read("scheduled", today, tomorrow),
    failed: await read("failed", yesterday, today),
    results: (
      await readFreshResults(reader, scope, {
        from: startOfDay(date, -2, timezone),
        until: startOfDay(date, -1, timezone),
        limit: SHOWN_POSTS,
      })
    ).map(showResult),
    unknownOutcome: await countInDoubt(reader, scope),
    waitingDrafts: await countWaitingDrafts(reader, scope),
    accountsToReconnect: accounts
      .filter(({ id, status }) => status === "reconnect_required" && (accountIds?.includes(id) ?? true))
      .map(({ id, name, provider }) => ({ id, name, provider })),
  };
  const counts = [
    digest.today.count,
    digest.failed.count,
    digest.unknownOutcome,
    digest.waitingDrafts,
    digest.results.length,
  ];
  const isEmpty = counts.every((count) => count === 0) && digest.accountsToReconnect.length === 0;
  return isEmpty ? null : digest;
}

/** Of the day before yesterday: those of yesterday are not a day old at eight. */
function showResult(row: FreshResult): DigestEvent["results"][number] {
  const { id, account_id: accountId, provider, caption, media_url: mediaUrl } = row;
  const text = plainText(textOf({ caption, metadata: readMetadata(row), mediaUrl }), MAX_TEXT);
  return { id, accountId, provider, text, metrics: unpackFigures(row.h24) };
}

function startOfDay(date: string, days: number, timezone: string): number {
  return DateTime.fromISO(date, { zone: timezone }).plus({ days }).startOf("day").toMillis();
}

function showPost(row: DigestPost): DigestEvent["today"]["posts"][number] {
  const { id, account_id: accountId, provider, caption, scheduled_at, error } = row;
  const text = textOf({ caption, metadata: readMetadata(row), mediaUrl: row.media_url });
  return {
    id,
    accountId,
    provider,
    text: plainText(text, MAX_TEXT),
    scheduledAt: toIso(scheduled_at),
    error,
  };
}
