import type { AccountStatus } from "../../domain/accounts/account.ts";
import type { LateCause } from "../../domain/posts/post.ts";
import { bigint, flag, integer, oneOf, orNull, preset, table, text } from "./columns.ts";

/** Channels, how they are connected, what they told, and the addresses under which they are read. */
export const CHANNEL_TABLES = {
  accounts: table({
    columns: {
      id: text,
      owner_id: text,
      provider: text,
      name: text,
      handle: orNull(text),
      platform_account_id: orNull(text),
      /** The server whose id that is, where each has its own; "" where ids are the same everywhere. */
      id_server: preset(text, ""),
      profile_url: orNull(text),
      avatar_url: orNull(text),
      status: oneOf<AccountStatus>(),
      status_reason: orNull(text),
      token_expires_at: orNull(bigint),
      scopes: text,
      settings: text,
      /** AES-256-GCM, bound to this row; null where the platform needs none or the account is disconnected. */
      secrets_enc: orNull(text),
      /** Rises with every change of them: compare-and-set for refreshes. */
      secrets_version: integer,
      /** The one post of this account that a publisher works on. */
      in_flight_post: orNull(text),
      /** Nothing is claimed for this account before (rate limits, spacing after downtime), and why. */
      next_allowed_at: bigint,
      wait_cause: orNull(oneOf<LateCause>()),
      /** When a publisher last finished one of its posts. */
      freed_at: orNull(bigint),
      last_published_at: orNull(bigint),
      /** What its platform allows it, as JSON, and when that was asked (0: never). Not bound to the sealed secrets. */
      limits: preset(text, "{}"),
      inspected_at: preset(bigint, 0),
      created_at: bigint,
      updated_at: bigint,
      /** The grant whose tokens it uses beside its own. Null: it has all of them itself. */
      grant_id: orNull(text),
      /** The platform's way by which it was connected. Null: the first. */
      way: orNull(text),
      /** When a person must connect it again. Null: never, or unknown. */
      access_ends_at: orNull(bigint),
      /** Its slots, as JSON (`SlotPlan`). Null: none. */
      schedule: orNull(text),
      /** 1: nothing of it goes out. */
      paused: preset(flag, 0),
      /** What is added to links, as JSON (`Utm`). Null: nothing. */
      utm: orNull(text),
      /** 1: a person named it, and what the platform calls it counts no more. */
      is_renamed: preset(flag, 0),
    },
    key: ["id"],
    // Neither in_flight_post nor next_allowed_at stands in an index, so that a claim rewrites none.
    indexes: {
      accounts_owner: "(owner_id, id)",
      // Quotas of all accounts of a platform.
      accounts_provider: "(provider)",
      accounts_grant: "(grant_id) WHERE grant_id IS NOT NULL",
    },
    // One channel of a platform is one account of an owner: connecting it again is a reconnection.
    uniqueIndexes: {
      accounts_identity:
        "(owner_id, provider, platform_account_id, id_server) WHERE platform_account_id IS NOT NULL",
    },
  }),
  connections: table({
    columns: {
      id: text,
      owner_id: text,
      provider: text,
      account_id: orNull(text),
      instance_url: orNull(text),
      handle: orNull(text),
      name: orNull(text),
      /** SHA-256 of the token in the page's address. */
      token_hash: text,
      status: oneOf<"pending" | "choose" | "connected" | "failed">(),
      error: orNull(text),
      /** How often secrets were submitted through it. */
      attempts: integer,
      created_at: bigint,
      expires_at: bigint,
      /** The platform's way. Null: the first. */
      way: orNull(text),
      /**
       * SHA-256 of the `state` that the person comes back with. It is answered once: then `pending_enc` is taken,
       * and the hash stays, so that the same answer is known again.
       */
      state_hash: orNull(text),
      /** Sealed: what is kept until the person comes back and chooses (verifier, tokens, channels found). */
      pending_enc: orNull(text),
      /** All channels that came of it, as a JSON list; null before. */
      account_ids: orNull(text),
    },
    key: ["id"],
    unique: ["token_hash"],
    uniqueIndexes: { connections_state: "(state_hash) WHERE state_hash IS NOT NULL" },
  }),
  /** Tokens of a consent, shared by its channels. */
  grants: table({
    columns: {
      id: text,
      owner_id: text,
      provider: text,
      way: text,
      instance_url: orNull(text),
      /** The address that the consent came back to; "" where it was none. */
      redirect_url: text,
      secrets_enc: text,
      /** Rises with every change of them. */
      secrets_version: integer,
      /** A JSON list; null where the platform does not tell. */
      scopes: orNull(text),
      expires_at: orNull(bigint),
      renewable_until: orNull(bigint),
      renewed_at: bigint,
      /** When they are renewed without being asked for; null: never. */
      renew_at: orNull(bigint),
      /** The one worker that asks for new tokens now. */
      renewing_worker: orNull(text),
      /** When new tokens were asked for. It stays where the answer was lost. */
      renewing_since: orNull(bigint),
      created_at: bigint,
      updated_at: bigint,
    },
    key: ["id"],
    indexes: {
      grants_renew: "(renew_at) WHERE renew_at IS NOT NULL",
      grants_renewing: "(renewing_worker) WHERE renewing_worker IS NOT NULL",
    },
  }),
  /** Apps that were registered by us, sealed. */
  apps: table({
    columns: { provider: text, instance_url: text, redirect_url: text, app_enc: text, created_at: bigint },
    key: ["provider", "instance_url", "redirect_url"],
  }),
  /** Apps registered at platforms, entered while Posthorn runs. They belong to no owner. */
  platform_apps: table({
    columns: {
      provider: text,
      apps_enc: text,
      updated_at: bigint,
      /** The key that brought it. */
      updated_by: text,
    },
    key: ["provider"],
  }),
  /**
   * What platforms told of live posts, and, with no post, of channels by day: in the order of the channel and the
   * time, in which a report reads them.
   */
  results: table({
    columns: {
      account_id: text,
      /** When the post went live; of a channel, when its day began. */
      at: bigint,
      post_id: text,
      provider: text,
      /** The first letter of a `MediaType`; "" of a channel. */
      media: text,
      /** When it is asked next. Null: never. */
      next_at: orNull(bigint),
      /** Which of `AGES` comes next. */
      step: integer,
      /** What was told at each age (`packFigures`). Null: nothing. Of a channel its followers, as `h1`. */
      h1: orNull(text),
      h24: orNull(text),
      d7: orNull(text),
      d30: orNull(text),
      /** Why the platform refused the last snapshot. */
      reason: orNull(text),
    },
    key: ["account_id", "at", "post_id"],
    indexes: { results_next: "(provider, next_at) WHERE next_at IS NOT NULL" },
    uniqueIndexes: { results_post: "(post_id) WHERE post_id <> ''" },
  }),
  feed_items: table({
    columns: { account_id: text, id: text, item: text, is_public: flag, published_at: bigint },
    key: ["account_id", "id"],
    indexes: { feed_newest: "(account_id, published_at, id) WHERE is_public = 1" },
  }),
  /** The address of an owner's calendar: found by the token's hash, shown again from the sealed token. */
  calendar_links: table({
    columns: { owner_id: text, token_hash: text, token_enc: text, created_at: bigint },
    key: ["owner_id"],
    unique: ["token_hash"],
  }),
} as const;
