/** Who is signed in to the page, and what programs got by OAuth. */
export interface SignInTables {
  page_sessions: {
    id: string;
    owner_id: string;
    /** Whose key signed in: a key's id, the fixed key's, or `local`. */
    key_id: string;
    /** Tells one fixed key from the next. Null for all others. */
    key_mark: string | null;
    /** SHA-256 of the cookie. */
    token_hash: string;
    browser: string;
    created_at: number;
    /** To the minute. */
    last_seen_at: number;
    expires_at: number;
  };
  /** One-time addresses that sign in. */
  page_sign_ins: { token_hash: string; owner_id: string; expires_at: number };
  /** Programs that registered themselves. Those that show a document of their own stand nowhere. */
  oauth_clients: {
    id: string;
    /** SHA-256. Null: the program has no secret. */
    secret_hash: string | null;
    name: string;
    uri: string | null;
    redirect_uris: string;
    created_at: number;
    /** When it asked or was given something last. */
    used_at: number;
  };
  /** What a person is to decide. It has no owner until they do. */
  oauth_requests: {
    id: string;
    /** The program as the person sees it. */
    client: string;
    redirect_uri: string;
    state: string | null;
    challenge: string;
    resource: string;
    expires_at: number;
  };
  oauth_codes: {
    code_hash: string;
    owner_id: string;
    /** Whose yes it was: a key's id, the fixed key's, or `local`. */
    given_by: string;
    /** Tells one fixed key from the next. Null for all others. */
    giver_mark: string | null;
    client: string;
    client_id: string;
    redirect_uri: string;
    challenge: string;
    resource: string;
    permissions: string;
    account_ids: string | null;
    /** What it was exchanged for. Null: it was not used yet. */
    grant_id: string | null;
    expires_at: number;
  };
  /** Beside the row of `api_keys` with the same id, which holds what the program may do. */
  oauth_grants: {
    id: string;
    owner_id: string;
    given_by: string;
    giver_mark: string | null;
    client: string;
    client_id: string;
    resource: string;
  };
  oauth_tokens: {
    token_hash: string;
    owner_id: string;
    grant_id: string;
    kind: "access" | "refresh";
    expires_at: number;
    /** When a refresh token was first used. */
    replaced_at: number | null;
  };
}
