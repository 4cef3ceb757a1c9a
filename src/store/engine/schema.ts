import type { Generated } from "kysely";
import type { AccountStatus } from "../../domain/accounts/account.ts";
import type { FILE_STATUSES, FileType } from "../../domain/files/file.ts";
import type { Attempt, LateCause } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import type { PlanTables } from "./schema-plans.ts";
import type { SignInTables } from "./schema-sign-in.ts";
import type { DeliveryStatus, WebhookFormat, WebhookStatus } from "../../domain/webhooks/webhook.ts";

/** The tables of both engines. Times are milliseconds, lists and objects JSON text, flags 0 or 1. */
export interface Tables extends PlanTables, SignInTables {
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
  accounts: {
    id: string;
    owner_id: string;
    provider: string;
    name: string;
    handle: string | null;
    platform_account_id: string | null;
    /** The server whose id that is, where each has its own; "" where ids are the same everywhere. */
    id_server: string;
    profile_url: string | null;
    avatar_url: string | null;
    status: AccountStatus;
    status_reason: string | null;
    token_expires_at: number | null;
    scopes: string;
    settings: string;
    /** AES-256-GCM, bound to this row; null where the platform needs none or the account is disconnected. */
    secrets_enc: string | null;
    /** Rises with every change of them: compare-and-set for refreshes. */
    secrets_version: number;
    /** The one post of this account that a publisher works on. */
    in_flight_post: string | null;
    /** Nothing is claimed for this account before (rate limits, spacing after downtime), and why. */
    next_allowed_at: number;
    wait_cause: LateCause | null;
    /** When a publisher last finished one of its posts. */
    freed_at: number | null;
    last_published_at: number | null;
    /** What its platform allows it, as JSON, and when that was asked (0: never). Not bound to the sealed secrets. */
    limits: string;
    inspected_at: number;
    created_at: number;
    updated_at: number;
    /** The grant whose tokens it uses beside its own. Null: it has all of them itself. */
    grant_id: string | null;
    /** The platform's way by which it was connected. Null: the first. */
    way: string | null;
    /** When a person must connect it again. Null: never, or unknown. */
    access_ends_at: number | null;
    /** Its slots, as JSON (`SlotPlan`). Null: none. */
    schedule: string | null;
    /** 1: nothing of it goes out. */
    paused: number;
    /** What is added to links, as JSON (`Utm`). Null: nothing. */
    utm: string | null;
    /** 1: a person named it, and what the platform calls it counts no more. */
    is_renamed: number;
  };
  connections: {
    id: string;
    owner_id: string;
    provider: string;
    account_id: string | null;
    instance_url: string | null;
    handle: string | null;
    name: string | null;
    /** SHA-256 of the token in the page's address. */
    token_hash: string;
    status: "pending" | "choose" | "connected" | "failed";
    error: string | null;
    /** How often secrets were submitted through it. */
    attempts: number;
    created_at: number;
    expires_at: number;
    /** The platform's way. Null: the first. */
    way: string | null;
    /**
     * SHA-256 of the `state` that the person comes back with. It is answered once: then `pending_enc` is taken,
     * and the hash stays, so that the same answer is known again.
     */
    state_hash: string | null;
    /** Sealed: what is kept until the person comes back and chooses (verifier, tokens, channels found). */
    pending_enc: string | null;
    /** All channels that came of it, as a JSON list; null before. */
    account_ids: string | null;
  };
  /** Tokens of a consent, shared by its channels. */
  grants: {
    id: string;
    owner_id: string;
    provider: string;
    way: string;
    instance_url: string | null;
    /** The address that the consent came back to; "" where it was none. */
    redirect_url: string;
    secrets_enc: string;
    /** Rises with every change of them. */
    secrets_version: number;
    /** A JSON list; null where the platform does not tell. */
    scopes: string | null;
    expires_at: number | null;
    renewable_until: number | null;
    renewed_at: number;
    /** When they are renewed without being asked for; null: never. */
    renew_at: number | null;
    /** The one worker that asks for new tokens now. */
    renewing_worker: string | null;
    /** When new tokens were asked for. It stays where the answer was lost. */
    renewing_since: number | null;
    created_at: number;
    updated_at: number;
  };
  /** Apps that were registered by us, sealed. */
  apps: {
    provider: string;
    instance_url: string;
    redirect_url: string;
    app_enc: string;
    created_at: number;
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
    /** When a publisher looks at it next. Null: only a call changes it from here on. */
    next_at: number | null;
    status: PostStatus;
    platform_post_id: string | null;
    platform_url: string | null;
    error: string | null;
    /** 1: the last outcome is unknown. Nothing is sent again before it is reconciled. */
    in_doubt: number;
    attempts: number;
    tries: number;
    run: number;
    fence: number;
    lease_worker: string | null;
    content_hash: string;
    /** 1 where nothing but text goes out. */
    is_light: number;
    /** How many attempts in a row ended with their process. */
    crashes: Generated<number>;
    /** The ids of stored files that it shows as media, as JSON. Null: none. */
    file_ids: string | null;
    published_at: number | null;
    /** The slot that it was put in. Held while it waits: see the index posts_slot. Null: its time was chosen. */
    slot_at: number | null;
    /** What was refused after it went live, as a JSON list of sentences. Null: nothing. */
    warnings: string | null;
    created_at: number;
    updated_at: number;
  };
  /** Apps registered at platforms, entered while Posthorn runs. They belong to no owner. */
  platform_apps: {
    provider: string;
    apps_enc: string;
    updated_at: number;
    /** The key that brought it. */
    updated_by: string;
  };
  /** Rows of imported tables, by what they said, and the post that each was made into. */
  imported_rows: { owner_id: string; mark: string; post_id: string };
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
    /** How often it was sent, or may have been. */
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
    /** The worker that runs the call. Null once there is a result. */
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
    /** Of a document. */
    pages: number | null;
    video_codec: string | null;
    audio_codec: string | null;
    frames_per_second: number | null;
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
    /** As lists show it, without what may be a token. */
    address: string;
    format: Generated<WebhookFormat>;
    /** When people were last told of each account: milliseconds by its id, as JSON, of the last minute. */
    last_told: Generated<string>;
    /** The whole address and the signing secret; AES-256-GCM, bound to this row. */
    secrets_enc: string;
    /** Kinds of events, and their accounts (null: all), as JSON. */
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

/** A post without the count that only take-overs use. */
export type PostRow = Omit<Tables["posts"], "crashes">;

/** The columns that `toPost` needs. Long lists read no others. */
export const SHOWN_COLUMNS = [
  "id",
  "account_id",
  "provider",
  "media_url",
  "caption",
  "metadata",
  "lead_minutes",
  "scheduled_at",
  "status",
  "platform_post_id",
  "platform_url",
  "error",
  "attempts",
  "published_at",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof PostRow)[];
export type ShownRow = Pick<PostRow, (typeof SHOWN_COLUMNS)[number]>;
