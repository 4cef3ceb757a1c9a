import { bigint, flag, integer, oneOf, orNull, table, text, withDefault } from "./columns.ts";

/** Keys, who is signed in to the page, what programs got by OAuth, and the processes at work. */
export const ACCESS_TABLES = {
  meta: table({ columns: { key: text, value: text }, key: ["key"] }),
  api_keys: table({
    columns: {
      id: text,
      owner_id: text,
      name: text,
      secret_hash: text,
      permissions: text,
      account_ids: orNull(text),
      created_at: bigint,
      expires_at: orNull(bigint),
      revoked_at: orNull(bigint),
      last_used_at: orNull(bigint),
    },
    key: ["id"],
  }),
  page_sessions: table({
    columns: {
      id: text,
      owner_id: text,
      /** Whose key signed in: a key's id, the fixed key's, or `local`. */
      key_id: text,
      /** Tells one fixed key from the next. Null for all others. */
      key_mark: orNull(text),
      /** SHA-256 of the cookie. */
      token_hash: text,
      browser: text,
      created_at: bigint,
      /** To the minute. */
      last_seen_at: bigint,
      expires_at: bigint,
    },
    key: ["id"],
    unique: ["token_hash"],
  }),
  /** One-time addresses that sign in. */
  page_sign_ins: table({
    columns: { token_hash: text, owner_id: text, expires_at: bigint },
    key: ["token_hash"],
  }),
  /** Programs that registered themselves. Those that show a document of their own stand nowhere. */
  oauth_clients: table({
    columns: {
      id: text,
      /** SHA-256. Null: the program has no secret. */
      secret_hash: orNull(text),
      name: text,
      uri: orNull(text),
      redirect_uris: text,
      created_at: bigint,
      /** When it asked or was given something last. */
      used_at: bigint,
    },
    key: ["id"],
  }),
  /** What a person is to decide. It has no owner until they do. */
  oauth_requests: table({
    columns: {
      id: text,
      /** The program as the person sees it. */
      client: text,
      redirect_uri: text,
      state: orNull(text),
      challenge: text,
      resource: text,
      expires_at: bigint,
    },
    key: ["id"],
  }),
  oauth_codes: table({
    columns: {
      code_hash: text,
      owner_id: text,
      /** Whose yes it was: a key's id, the fixed key's, or `local`. */
      given_by: text,
      /** Tells one fixed key from the next. Null for all others. */
      giver_mark: orNull(text),
      client: text,
      client_id: text,
      redirect_uri: text,
      challenge: text,
      resource: text,
      permissions: text,
      account_ids: orNull(text),
      /** What it was exchanged for. Null: it was not used yet. */
      grant_id: orNull(text),
      expires_at: bigint,
    },
    key: ["code_hash"],
  }),
  /** Beside the row of `api_keys` with the same id, which holds what the program may do. */
  oauth_grants: table({
    columns: {
      id: text,
      owner_id: text,
      given_by: text,
      giver_mark: orNull(text),
      client: text,
      client_id: text,
      resource: text,
    },
    key: ["id"],
    indexes: { oauth_grants_of: "(owner_id, given_by)", oauth_grants_to: "(client_id)" },
  }),
  oauth_tokens: table({
    columns: {
      token_hash: text,
      owner_id: text,
      grant_id: text,
      kind: oneOf<"access" | "refresh">(),
      expires_at: bigint,
      /** When a refresh token was first used. */
      replaced_at: orNull(bigint),
    },
    key: ["token_hash"],
    indexes: { oauth_tokens_of: "(grant_id, expires_at)" },
  }),
  workers: table({
    columns: {
      id: text,
      /** `caller`: at work on the folder without publishing; `api`, `publisher`: a server's halves. */
      role: oneOf<"serve" | "stdio" | "cli" | "caller" | "api" | "publisher">(),
      host: text,
      pid: integer,
      version: text,
      started_at: bigint,
      heartbeat_at: bigint,
      /** 1 once it was asked to end. */
      is_closing: withDefault(flag, 0),
    },
    key: ["id"],
  }),
  idempotency: table({
    columns: {
      owner_id: text,
      key_hash: text,
      tool: text,
      fingerprint: text,
      /** The worker that runs the call. Null once there is a result. */
      worker_id: orNull(text),
      result: orNull(text),
      created_at: bigint,
      expires_at: bigint,
    },
    key: ["owner_id", "key_hash"],
    indexes: { idempotency_expiry: "(expires_at)" },
  }),
} as const;
