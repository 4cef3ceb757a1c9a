import { hash, randomBytes } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import type { SaidPost } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { DAY, toIso } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { namesAmong } from "../../channels/accounts/accounts.ts";
import { listAccountNames } from "../../store/queries/accounts.ts";
import {
  deleteCalendarLink,
  findCalendarLink,
  findCalendarLinkByToken,
  insertCalendarLink,
  putCalendarLink,
  type CalendarLinkRow,
} from "../../store/queries/feeds.ts";
import { toPost } from "../../store/queries/posts.ts";
import type { AppContext, CallContext, GuestCall } from "../../context.ts";

const TOKEN_BYTES = 32;

const SHOWN_BEFORE_MS = 30 * DAY;
const SHOWN_AFTER_MS = 180 * DAY;
/** Cancelled posts leave the calendar. */
const SHOWN_STATUSES: readonly PostStatus[] = ["scheduled", "publishing", "uploaded", "published", "failed"];
/** More than any calendar application shows well; the furthest in the future are kept. */
const MAX_EVENTS = 10_000;

/**
 * Where the owner's plan can be subscribed to. All who know the address see it. It is made when first asked
 * for; with `isNew` there is another one, and the old one ends.
 */
export async function openCalendarLink(
  { ctx, caller: { ownerId } }: CallContext,
  options: { isNew: boolean },
): Promise<{ url: string; createdAt: string }> {
  const row = await ctx.store.write(async (tx) => {
    const known = options.isNew ? undefined : await findCalendarLink(tx, ownerId);
    if (known !== undefined) return known;
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const fresh = {
      owner_id: ownerId,
      token_hash: hash("sha256", token),
      token_enc: ctx.cipher.seal(token, calendarLinkAad({ owner_id: ownerId })),
      created_at: ctx.clock.now(),
    };
    if (options.isNew) await putCalendarLink(tx, fresh);
    else if (!(await insertCalendarLink(tx, fresh))) return (await findCalendarLink(tx, ownerId)) ?? fresh;
    return fresh;
  });
  return {
    url: `${await ctx.publicUrl()}/calendar/${openToken(ctx, row)}.ics`,
    createdAt: toIso(row.created_at),
  };
}

/** Throws `not_found` where there is nothing to end. */
export async function revokeCalendarLink({ ctx, caller: { ownerId } }: CallContext): Promise<void> {
  if (await ctx.store.write((tx) => deleteCalendarLink(tx, ownerId))) return;
  throw new AppError("not_found", `The owner ${quote(ownerId)} has no calendar address.`);
}

export function calendarLinkAad(row: { owner_id: string }): string {
  return `${row.owner_id}|calendar`;
}

function openToken(ctx: AppContext, row: CalendarLinkRow): string {
  try {
    return ctx.cipher.open(row.token_enc, calendarLinkAad(row));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "The calendar address cannot be read with this instance's secret key. Make a new one with --new.",
      { cause },
    );
  }
}

export interface PlannedPost {
  readonly post: SaidPost;
  /** What its channel is called beside the owner's others. */
  readonly accountName: string;
  readonly platform: string;
}

/** An owner's plan of the last month and the coming half year. */
export interface CalendarFeed {
  /** Latest scheduled time first. */
  readonly posts: readonly PlannedPost[];
  /** When anything in it changed last, in milliseconds. */
  readonly changedAt: number;
}

/** Throws `not_found` for a token that is none, or not any more. */
export async function readCalendarFeed({ ctx }: GuestCall, token: string): Promise<CalendarFeed> {
  const { store } = ctx;
  const link = await findCalendarLinkByToken(store, hash("sha256", token));
  if (link === undefined)
    throw new AppError("not_found", "There is no calendar at this address, or not any more.");
  const names = namesAmong(ctx, await listAccountNames(store, link.owner_id));
  const now = ctx.clock.now();
  const window = { from: now - SHOWN_BEFORE_MS, to: now + SHOWN_AFTER_MS };
  const filter = {
    ownerId: link.owner_id,
    accountIds: null,
    providers: null,
    statuses: SHOWN_STATUSES,
    terms: [],
    ...window,
  };
  const { rows } = await store.search.page(filter, {
    before: null,
    limit: MAX_EVENTS,
    now: () => ctx.clock.monotonic(),
  });
  return {
    posts: rows.map((row) => ({
      post: toPost(row),
      accountName: names.get(row.account_id) ?? row.provider,
      platform: ctx.platforms.get(row.provider)?.title ?? row.provider,
    })),
    changedAt: rows.reduce((latest, row) => Math.max(latest, row.updated_at), link.created_at),
  };
}
