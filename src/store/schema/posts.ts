import type { DraftState } from "../../domain/drafts/draft.ts";
import type { SaidAttempt, LateCause } from "../../domain/posts/post.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { bigint, flag, integer, oneOf, orNull, preset, table, text, withDefault } from "./columns.ts";

/** Posts, how they were published, and what is planned. */
export const POST_TABLES = {
  posts: table({
    columns: {
      id: text,
      owner_id: text,
      account_id: text,
      provider: text,
      media_url: text,
      caption: orNull(text),
      metadata: orNull(text),
      lead_minutes: orNull(integer),
      scheduled_at: bigint,
      /** scheduled_at − lead: when the work starts. */
      due_at: bigint,
      /** When a publisher looks at it next. Null: only a call changes it from here on. */
      next_at: orNull(bigint),
      status: oneOf<PostStatus>(),
      platform_post_id: orNull(text),
      platform_url: orNull(text),
      error: orNull(text),
      /** 1: the last outcome is unknown. Nothing is sent again before it is reconciled. */
      in_doubt: flag,
      attempts: integer,
      tries: integer,
      run: integer,
      fence: integer,
      lease_worker: orNull(text),
      content_hash: text,
      /** 1 where nothing but text goes out. */
      is_light: preset(flag, 0),
      /** How many attempts in a row ended with their process. */
      crashes: withDefault(integer, 0),
      /** The ids of stored files that it shows as media, as JSON. Null: none. */
      file_ids: orNull(text),
      published_at: orNull(bigint),
      /** The slot that it was put in. Held while it waits: see the index posts_slot. Null: its time was chosen. */
      slot_at: orNull(bigint),
      /** What was refused after it went live, as a JSON list of sentences. Null: nothing. */
      warnings: orNull(text),
      created_at: bigint,
      updated_at: bigint,
    },
    key: ["id"],
    references: { account_id: { table: "accounts", key: "id" } },
    indexes: {
      posts_owner: "(owner_id, scheduled_at, id)",
      posts_account: "(account_id, scheduled_at, id)",
      posts_status: "(owner_id, status, scheduled_at, id)",
      posts_account_status: "(account_id, status, scheduled_at, id)",
      // The publisher's: what could be taken up next, and per account in order of its due moment.
      posts_next: "(next_at) WHERE next_at IS NOT NULL AND lease_worker IS NULL",
      posts_claim: "(account_id, due_at, id) WHERE next_at IS NOT NULL AND lease_worker IS NULL",
      posts_lease: "(lease_worker) WHERE lease_worker IS NOT NULL",
      // The warning for a post equal to a waiting one.
      posts_content: "(account_id, content_hash) WHERE status = 'scheduled'",
      // Posts whose outcome is unknown.
      posts_doubt: "(owner_id, status, account_id) WHERE in_doubt = 1",
      // Nearly always empty: posts that one more crash makes fail.
      posts_crashed: "(next_at) WHERE crashes >= 2",
      // Quotas of an account.
      posts_published: "(account_id, published_at) WHERE published_at IS NOT NULL",
      // Which waiting posts use a file.
      posts_waiting_media: "(media_url) WHERE next_at IS NOT NULL AND media_url <> ''",
    },
    uniqueIndexes: {
      // A post that is cancelled, failed or published leaves the index, and its slot is free.
      posts_slot:
        "(account_id, slot_at) WHERE slot_at IS NOT NULL AND status IN ('scheduled', 'publishing', 'uploaded')",
    },
  }),
  effects: table({
    columns: {
      post_id: text,
      run: integer,
      step: text,
      fence: integer,
      effect_key: text,
      request_hash: text,
      state: oneOf<"intent" | "done" | "rejected" | "not_sent" | "unknown">(),
      handle_enc: orNull(text),
      result: orNull(text),
      asked: integer,
      /** How often it was sent, or may have been. */
      sent: withDefault(integer, 0),
      started_at: bigint,
      finished_at: orNull(bigint),
      http_status: orNull(integer),
    },
    key: ["post_id", "run", "step"],
    references: { post_id: { table: "posts", key: "id" } },
  }),
  attempts: table({
    columns: {
      id: text,
      owner_id: text,
      post_id: text,
      number: integer,
      run: integer,
      worker_id: text,
      outcome: oneOf<SaidAttempt["outcome"]>(),
      error: orNull(text),
      lateness_ms: orNull(bigint),
      late_cause: orNull(oneOf<LateCause>()),
      started_at: bigint,
      finished_at: orNull(bigint),
    },
    key: ["post_id", "number"],
    references: { post_id: { table: "posts", key: "id" } },
    indexes: { attempts_recent: "(owner_id, started_at)" },
  }),
  drafts: table({
    columns: {
      id: text,
      owner_id: text,
      title: orNull(text),
      caption: orNull(text),
      media_url: text,
      metadata: orNull(text),
      /** A list of `Target`. */
      targets: text,
      scheduled_at: orNull(bigint),
      slot: orNull(oneOf<"next">()),
      /** A `Series`. */
      repeat: orNull(text),
      /** Of texts, as they were given. */
      labels: text,
      note: orNull(text),
      state: oneOf<DraftState>(),
      revision: integer,
      /** A list of `Check`, as of the last change. */
      checks: text,
      /** Which fields each of the last changes touched, and whose key made it. */
      changes: text,
      /** The key that wrote it. */
      key_id: text,
      /** What was decided, and by which key. */
      decision: orNull(text),
      created_at: bigint,
      updated_at: bigint,
    },
    key: ["id"],
    indexes: {
      drafts_owner: "(owner_id, updated_at, id)",
      drafts_repeating: "(id) WHERE state = 'repeating'",
    },
  }),
  /** What a plan says of a post. Posts without such words have none. */
  post_plans: table({
    columns: {
      post_id: text,
      owner_id: text,
      account_id: text,
      /** Null: it was scheduled by itself. */
      draft_id: orNull(text),
      /** When its series came to it; 0: the draft is no series. */
      occurrence: bigint,
      labels: text,
      note: orNull(text),
    },
    key: ["post_id"],
    references: { post_id: { table: "posts", key: "id" }, draft_id: { table: "drafts", key: "id" } },
    uniqueIndexes: {
      // The database itself refuses a second post of a draft for the same channel and time.
      post_plans_draft: "(draft_id, account_id, occurrence) WHERE draft_id IS NOT NULL",
    },
  }),
  post_labels: table({
    columns: { owner_id: text, label: text, post_id: text },
    key: ["owner_id", "label", "post_id"],
    references: { post_id: { table: "posts", key: "id" } },
  }),
  /** Rows of imported tables, by what they said, and the post that each was made into. */
  imported_rows: table({
    columns: { owner_id: text, mark: text, post_id: text },
    key: ["owner_id", "mark"],
  }),
} as const;
