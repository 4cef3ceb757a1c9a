import type { SaidAttempt } from "../../domain/posts/post.ts";
import type { DeliveryStatus, WebhookFormat, WebhookStatus } from "../../domain/webhooks/webhook.ts";
import { bigint, integer, oneOf, orNull, sequence, table, text, withDefault } from "./columns.ts";

/** Where events are sent to, and what is counted. */
export const EVENT_TABLES = {
  webhooks: table({
    columns: {
      id: text,
      owner_id: text,
      /** As lists show it, without what may be a token. */
      address: text,
      format: withDefault(oneOf<WebhookFormat>(), "standard"),
      /** When people were last told of each account: milliseconds by its id, as JSON, of the last minute. */
      last_told: withDefault(text, "{}"),
      /** The whole address and the signing secret; AES-256-GCM, bound to this row. */
      secrets_enc: text,
      /** Kinds of events, and their accounts (null: all), as JSON. */
      events: text,
      account_ids: orNull(text),
      status: oneOf<WebhookStatus>(),
      status_reason: orNull(text),
      /** Since when every try has failed. */
      failing_since: orNull(bigint),
      /** The one process that sends to it, and until when the others wait for it. */
      lease_worker: orNull(text),
      lease_until: bigint,
      created_at: bigint,
      updated_at: bigint,
    },
    key: ["id"],
    indexes: { webhooks_owner: "(owner_id, id)" },
  }),
  /** The outbox and, once sent, its log. */
  webhook_deliveries: table({
    columns: {
      /** In order of the events. */
      seq: sequence,
      /** Goes along as `webhook-id`, the same on each try. */
      id: text,
      owner_id: text,
      webhook_id: text,
      event: text,
      happened_at: bigint,
      /** The post or account at that moment, as columns; JSON. */
      snapshot: text,
      status: oneOf<DeliveryStatus>(),
      tries: integer,
      /** When it is tried next; null: never. */
      next_at: orNull(bigint),
      tried_at: orNull(bigint),
      http_status: orNull(integer),
      error: orNull(text),
    },
    unique: ["id"],
    references: { webhook_id: { table: "webhooks", key: "id", onDelete: "cascade" } },
    indexes: {
      webhook_deliveries_log: "(webhook_id, seq)",
      webhook_deliveries_next: "(next_at) WHERE next_at IS NOT NULL",
      webhook_deliveries_queue: "(webhook_id, next_at, seq) WHERE next_at IS NOT NULL",
      webhook_deliveries_age: "(happened_at)",
    },
  }),
  /** How attempts ended and how late posts went live, over all owners: /metrics must not count a million rows. */
  attempt_totals: table({
    columns: {
      /** Of several rows for the same, which are added up. */
      part: integer,
      provider: text,
      outcome: oneOf<SaidAttempt["outcome"]>(),
      /** How late, by upper bound; 0: the attempt did not publish, -1: beyond the last bound. */
      bucket_ms: integer,
      attempts: bigint,
      lateness_ms: bigint,
    },
    key: ["part", "provider", "outcome", "bucket_ms"],
  }),
} as const;
