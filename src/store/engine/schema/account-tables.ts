import type { AccountStatus } from "../../../domain/accounts/account.ts";
import type { LateCause } from "../../../domain/posts/post.ts";

/** Channels, and what they were connected with. */
export interface AccountTables {
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
    /** When the last post of it that a publisher worked on was over. */
    freed_at: number | null;
    last_published_at: number | null;
    /** What its platform said that it may do, as JSON, and when (0: never). Not sealed in, as settings are. */
    limits: string;
    inspected_at: number;
    created_at: number;
    updated_at: number;
    /** Whose tokens it uses beside its own; null: it has all of them itself. */
    grant_id: string | null;
    /** By which of the platform's ways it was connected; null: its first. */
    way: string | null;
    /** When a person must connect it again; null: never, or nobody knows. */
    access_ends_at: number | null;
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
    /** By which of the platform's ways; null: its first. */
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
    /** Since when an answer is waited for; it stays where the answer was lost. */
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
}
