import type { Generated } from "kysely";
import type { FILE_STATUSES, FileType } from "../../domain/files/file.ts";
import type { Attempt, LateCause } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import type { DeliveryStatus, WebhookStatus } from "../../domain/webhooks/webhook.ts";
import type { AccountTables } from "./schema/account-tables.ts";

/** The tables as SQLite holds them: moments are milliseconds, lists and objects JSON text, flags 0 or 1. */
export interface Tables extends AccountTables {
  meta: { key: string; value: string };
  api_keys: {
    id: string;
    owner_id: string;
    name: string;
    secret_hash: string;
    permissions: string;
    account_ids: string | null;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  posts: {
    id: string;
    owner_id: string;
    account_id: string;
    provider: string;
    media_url: string;
    caption: string | null;
    metadata: string | null;
    lead_minutes: number | null;
    scheduled_at: number;
    /** scheduled_at − lead: when the work starts. */
    due_at: number;
    /** When a publisher looks at it next; null once nothing more will happen by itself. */
    next_at: number | null;
    status: PostStatus;
    platform_post_id: string | null;
    platform_url: string | null;
    error: string | null;
    /** The last outcome is unknown: nothing is sent again before it is settled. */
    in_doubt: number;
    attempts: number;
    tries: number;
    run: number;
    fence: number;
    lease_worker: string | null;
    content_hash: string;
    /** 1 where nothing but text goes out. */
    is_light: number;
    /** Attempts in a row that ended with their process. */
    crashes: Generated<number>;
    /** The ids of the own files that stand where it shows media, as JSON; null: none. */
    file_ids: string | null;
    published_at: number | null;
    /** What was refused of it after it went live, as a JSON list of sentences; null: nothing. */
    warnings: string | null;
    created_at: number;
    updated_at: number;
  };
  effects: {
    post_id: string;
    run: number;
    step: string;
    fence: number;
    effect_key: string;
    request_hash: string;
    state: "intent" | "done" | "rejected" | "not_sent" | "unknown";
    handle_enc: string | null;
    result: string | null;
    asked: number;
    /** How often it left this machine, or may have. */
    sent: Generated<number>;
    started_at: number;
    finished_at: number | null;
    http_status: number | null;
  };
  attempts: {
    id: string;
    owner_id: string;
    post_id: string;
    number: number;
    run: number;
    worker_id: string;
    outcome: Attempt["outcome"];
    error: string | null;
    lateness_ms: number | null;
    late_cause: LateCause | null;
    started_at: number;
    finished_at: number | null;
  };
  workers: {
    id: string;
    /** `caller`: at work on the folder without publishing; `api`, `publisher`: a server's halves. */
    role: "serve" | "stdio" | "cli" | "caller" | "api" | "publisher";
    host: string;
    pid: number;
    version: string;
    started_at: number;
    heartbeat_at: number;
    /** 1 once it was asked to end. */
    is_closing: Generated<number>;
  };
  idempotency: {
    owner_id: string;
    key_hash: string;
    tool: string;
    fingerprint: string;
    /** The worker that runs it; null once the result stands. */
    worker_id: string | null;
    result: string | null;
    created_at: number;
    expires_at: number;
  };
  files: {
    id: string;
    owner_id: string;
    /** Key in the file store; `r2://<key>` is its address. */
    storage_key: string;
    name: string;
    mime_type: string;
    type: FileType;
    size_bytes: number;
    width: number | null;
    height: number | null;
    duration_seconds: number | null;
    video_codec: string | null;
    audio_codec: string | null;
    /** 1 for a picture of several frames. */
    is_animated: number;
    sha256: string | null;
    alt_text: string | null;
    status: (typeof FILE_STATUSES)[number];
    /** The API key that brought it; null: not known. */
    key_id: string | null;
    created_at: number;
    updated_at: number;
  };
  /** Posts of an account that use a file, counted by triggers on `posts.file_ids`. */
  file_uses: { account_id: string; file_id: string; posts: number };
  calendar_links: {
    owner_id: string;
    /** SHA-256 of the token in the address. */
    token_hash: string;
    token_enc: string;
    created_at: number;
  };
  /** Sums over all owners, kept by a trigger on `attempts`. */
  attempt_totals: {
    provider: string;
    outcome: Attempt["outcome"];
    /** How late, by upper bound; 0: the attempt did not publish, -1: beyond the last bound. */
    bucket_ms: number;
    attempts: number;
    lateness_ms: number;
  };
  webhooks: {
    id: string;
    owner_id: string;
    /** As lists show it, without its query, which may hold a token. */
    address: string;
    /** The whole address and the signing secret; AES-256-GCM, bound to this row. */
    secrets_enc: string;
    /** Kinds of events, and of which accounts (null: all); JSON. */
    events: string;
    account_ids: string | null;
    status: WebhookStatus;
    status_reason: string | null;
    /** Since when every try has failed. */
    failing_since: number | null;
    /** The one process that sends to it, and until when the others wait for it. */
    lease_worker: string | null;
    lease_until: number;
    created_at: number;
    updated_at: number;
  };
  /** The outbox and, once sent, its log. */
  webhook_deliveries: {
    /** In order of the events. */
    seq: Generated<number>;
    /** Goes along as `webhook-id`, the same on each try. */
    id: string;
    owner_id: string;
    webhook_id: string;
    event: string;
    happened_at: number;
    /** The post or account at that moment, as columns; JSON. */
    snapshot: string;
    status: DeliveryStatus;
    tries: number;
    /** When it is tried next; null: never. */
    next_at: number | null;
    tried_at: number | null;
    http_status: number | null;
    error: string | null;
  };
  feed_items: { account_id: string; id: string; item: string; is_public: number; published_at: number };
}

/** A post's row without what only a take-over counts. */
export type PostRow = Omit<Tables["posts"], "crashes">;
