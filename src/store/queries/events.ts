import { hash } from "node:crypto";
import { sql, type Selectable } from "kysely";
import { newId } from "../../domain/ids.ts";
import type { DigestEvent, DraftEvent } from "../../domain/webhooks/event-data.ts";
import type { EventKind } from "../../domain/webhooks/webhook.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { SHOWN_COLUMNS, type PostRow, type Tables } from "../schema/tables.ts";
import { queryOf, rowsOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { ownAccounts, type StatusScope } from "./status.ts";
import type { WebhookRow } from "./webhooks.ts";

/* Events are written into the outbox of each webhook that wants them, in the transaction of the change. */

/** What is told of each; of a post or an account its columns. */
type Snapshot =
  | { readonly kind: "draft.waiting" | "draft.decided" | "draft.partly"; readonly snapshot: DraftEvent }
  | { readonly kind: "digest.daily"; readonly snapshot: DigestEvent }
  | { readonly kind: `account.${"expiring" | "reconnect_required"}`; readonly snapshot: object }
  | { readonly kind: `post.${PostStatus}`; readonly snapshot: object };

type NewEvent = Snapshot & {
  /** When it happened. */
  readonly at: number;
  /** What must be told once and no second time, however often it is noted. Default: each is another event. */
  readonly once?: string;
};

type OwnEvent = NewEvent & { readonly ownerId: string; readonly accountIds: readonly string[] };

/**
 * Puts an event into the outbox of the owner's webhooks that want it. One that is limited to accounts gets it only
 * where all of the event's accounts are among them, and none of an event without accounts.
 */
export function noteEvent(tx: Tx, event: OwnEvent): Promise<void> {
  return noteEvents(tx, [event]);
}

/** The same for many, in this order. Asks once which webhooks there are. */
async function noteEvents(tx: Tx, events: readonly OwnEvent[]): Promise<void> {
  if (events.length === 0) return;
  const webhooks = await queryOf(tx)
    .selectFrom("webhooks")
    .selectAll()
    .where("owner_id", "in", [...new Set(events.map(({ ownerId }) => ownerId))])
    .where("status", "<>", "disabled")
    .orderBy("id")
    .execute();
  const wanted = events.flatMap(({ ownerId, accountIds, ...event }) =>
    webhooks
      .filter((one) => one.owner_id === ownerId && wants(one, event.kind) && mayHear(one, accountIds))
      .map((webhook) => deliveryOf(webhook, event)),
  );
  for (let at = 0; at < wanted.length; at += INSERTED_TOGETHER)
    await insertDeliveries(tx, wanted.slice(at, at + INSERTED_TOGETHER));
}

/** Below both engines' limits of values in a statement. */
const INSERTED_TOGETHER = 500;

/** What each of these posts is now. Called beside every change of a status, and of a waiting post's time. */
export function notePosts(tx: Tx, posts: readonly PostRow[]): Promise<void> {
  return noteEvents(
    tx,
    posts.map((post) => ({
      kind: `post.${post.status}` as const,
      ownerId: post.owner_id,
      accountIds: [post.account_id],
      snapshot: pick(post, [...SHOWN_COLUMNS, "warnings"]),
      at: post.updated_at,
    })),
  );
}

/** With the number of its posts that wait. */
type ShownAccount = Selectable<Tables["accounts"]> & { readonly queued: number };

/** The columns that are shown of an account, and none of its secrets. */
const SHOWN_OF_ACCOUNT = (
  "id provider name handle platform_account_id profile_url avatar_url status status_reason token_expires_at scopes " +
  "last_published_at created_at updated_at settings limits access_ends_at schedule paused utm queued"
).split(" ") as (keyof ShownAccount)[];

interface AccountEvent {
  readonly kind: `account.${"expiring" | "reconnect_required"}`;
  readonly at: number;
  readonly once?: string;
}

/** Tells of an account as it is now. */
export async function noteAccount(tx: Tx, account: ShownAccount, event: AccountEvent): Promise<void> {
  const snapshot = pick(account, SHOWN_OF_ACCOUNT);
  await noteEvent(tx, { ...event, ownerId: account.owner_id, accountIds: [account.id], snapshot });
}

function pick<T extends object>(row: T, columns: readonly (keyof T)[]): object {
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}

function wants({ events }: WebhookRow, kind: EventKind): boolean {
  return (JSON.parse(events) as readonly string[]).includes(kind);
}

function mayHear({ account_ids }: WebhookRow, accountIds: readonly string[]): boolean {
  if (account_ids === null) return true;
  const reach = JSON.parse(account_ids) as readonly string[];
  return accountIds.length > 0 && accountIds.every((id) => reach.includes(id));
}

/** The webhooks of all owners that want this kind of event. */
export async function listWanting(reader: Reader, kind: EventKind): Promise<WebhookRow[]> {
  const rows = await queryOf(reader)
    .selectFrom("webhooks")
    .selectAll()
    .where("status", "<>", "disabled")
    .orderBy("id")
    .execute();
  return rows.filter((row) => wants(row, kind));
}

export async function insertEvent(tx: Tx, webhook: WebhookRow, event: NewEvent): Promise<void> {
  await insertDeliveries(tx, [deliveryOf(webhook, event)]);
}

function deliveryOf(webhook: WebhookRow, { kind, snapshot, at, once }: NewEvent) {
  const id =
    once === undefined ? newId("evt") : `evt_${hash("sha256", `${once}|${webhook.id}`).slice(0, 32)}`;
  return {
    id,
    owner_id: webhook.owner_id,
    webhook_id: webhook.id,
    event: kind,
    happened_at: at,
    snapshot: JSON.stringify(snapshot),
    status: "pending" as const,
    tries: 0,
    next_at: at,
  };
}

async function insertDeliveries(tx: Tx, rows: readonly ReturnType<typeof deliveryOf>[]): Promise<void> {
  await queryOf(tx)
    .insertInto("webhook_deliveries")
    .values(rows)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export type DigestPost = Pick<
  Tables["posts"],
  "id" | "account_id" | "provider" | "media_url" | "caption" | "metadata" | "scheduled_at" | "error"
>;

interface DigestRange {
  readonly status: "scheduled" | "failed";
  readonly from: number;
  /** Not among them. */
  readonly until: number;
  readonly limit: number;
}

/** Posts of a span in that state, earliest first, and how many there are. */
export async function readDigestPosts(
  reader: Reader,
  scope: StatusScope,
  { status, from, until, limit }: DigestRange,
): Promise<{ posts: DigestPost[]; count: number }> {
  const found = sql`FROM posts WHERE account_id IN ${ownAccounts(scope)} AND status = ${status}
    AND scheduled_at >= ${from} AND scheduled_at < ${until}`;
  const posts = await rowsOf(
    reader,
    sql<DigestPost>`SELECT id, account_id, provider, media_url, caption, metadata, scheduled_at, error ${found}
      ORDER BY scheduled_at, id LIMIT ${limit}`,
  );
  const [counted] = await rowsOf(reader, sql<{ count: number }>`SELECT count(*) AS count ${found}`);
  return { posts, count: counted?.count ?? 0 };
}
