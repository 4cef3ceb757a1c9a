import { hash } from "node:crypto";
import { sql } from "kysely";
import { newId } from "../../domain/ids.ts";
import type { DigestEvent, DraftEvent } from "../../domain/webhooks/event-data.ts";
import type { EventKind } from "../../domain/webhooks/webhook.ts";
import type { Tables } from "../schema/tables.ts";
import { queryOf, rowsOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import type { AccountRow } from "./accounts.ts";
import { ownAccounts, type StatusScope } from "./status.ts";
import type { WebhookRow } from "./webhooks.ts";

/*
 * Events that no trigger writes: what happens to drafts, and what only the time brings. Like those of the triggers
 * they are written into the outbox of each webhook that wants them, in the transaction of the change.
 */

/** What is told of each; of an account its columns. */
type Snapshot =
  | { readonly kind: "draft.waiting" | "draft.decided" | "draft.partly"; readonly snapshot: DraftEvent }
  | { readonly kind: "digest.daily"; readonly snapshot: DigestEvent }
  | { readonly kind: "account.expiring"; readonly snapshot: object };

type NewEvent = Snapshot & {
  /** When it happened. */
  readonly at: number;
  /** What must be told once and no second time, however often it is noted. Default: each is another event. */
  readonly once?: string;
};

/**
 * Puts an event into the outbox of the owner's webhooks that want it. One that is limited to accounts gets it only
 * where all of the event's accounts are among them, and none of an event without accounts.
 */
export async function noteEvent(
  tx: Tx,
  { ownerId, accountIds, ...event }: NewEvent & { ownerId: string; accountIds: readonly string[] },
): Promise<void> {
  for (const webhook of await listWanting(tx, event.kind, ownerId))
    if (mayHear(webhook, accountIds)) await insertEvent(tx, webhook, event);
}

function mayHear({ account_ids }: WebhookRow, accountIds: readonly string[]): boolean {
  if (account_ids === null) return true;
  const reach = JSON.parse(account_ids) as readonly string[];
  return accountIds.length > 0 && accountIds.every((id) => reach.includes(id));
}

/** The webhooks that want this kind of event, of one owner or of all. */
export async function listWanting(reader: Reader, kind: EventKind, ownerId?: string): Promise<WebhookRow[]> {
  const rows = await queryOf(reader)
    .selectFrom("webhooks")
    .selectAll()
    .$if(ownerId !== undefined, (all) => all.where("owner_id", "=", ownerId ?? ""))
    .orderBy("id")
    .execute();
  return rows.filter(
    ({ status, events }) => status !== "disabled" && (JSON.parse(events) as readonly string[]).includes(kind),
  );
}

export async function insertEvent(
  tx: Tx,
  webhook: WebhookRow,
  { kind, snapshot, at, once }: NewEvent,
): Promise<void> {
  const id =
    once === undefined ? newId("evt") : `evt_${hash("sha256", `${once}|${webhook.id}`).slice(0, 32)}`;
  const row = {
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
  await queryOf(tx)
    .insertInto("webhook_deliveries")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** Connected accounts of all owners whose access ends within that span. */
export function listExpiring(reader: Reader, span: { after: number; until: number }): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("status", "=", "connected")
    .where("access_ends_at", ">", span.after)
    .where("access_ends_at", "<=", span.until)
    .orderBy("id")
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
