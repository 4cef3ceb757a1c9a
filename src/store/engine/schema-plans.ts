import type { DraftState } from "../../domain/drafts/draft.ts";

/** The tables of what is planned; the others are in `schema.ts`. */
export interface PlanTables {
  drafts: {
    id: string;
    owner_id: string;
    title: string | null;
    caption: string | null;
    media_url: string;
    metadata: string | null;
    /** A list of `Target`. */
    targets: string;
    scheduled_at: number | null;
    slot: "next" | null;
    /** A `Series`. */
    repeat: string | null;
    /** Of texts, as they were given. */
    labels: string;
    note: string | null;
    state: DraftState;
    revision: number;
    /** A list of `Check`, as of the last change. */
    checks: string;
    /** Which fields each of the last changes touched, and whose key made it. */
    changes: string;
    /** The key that wrote it. */
    key_id: string;
    /** What was decided, and by which key. */
    decision: string | null;
    created_at: number;
    updated_at: number;
  };
  /** What a plan says of a post. Posts without such words have none. */
  post_plans: {
    post_id: string;
    owner_id: string;
    account_id: string;
    /** Null: it was scheduled by itself. */
    draft_id: string | null;
    /** When its series came to it; 0: the draft is no series. */
    occurrence: number;
    labels: string;
    note: string | null;
  };
  post_labels: { owner_id: string; label: string; post_id: string };
  /** What platforms told of live posts, and, with no post, of channels by day. */
  results: {
    account_id: string;
    /** When the post went live; of a channel, when its day began. */
    at: number;
    post_id: string;
    provider: string;
    /** The first letter of a `MediaType`; "" of a channel. */
    media: string;
    /** When it is asked next. Null: never. */
    next_at: number | null;
    /** Which of `AGES` comes next. */
    step: number;
    /** What was told at each age (`packFigures`). Null: nothing. Of a channel its followers, as `h1`. */
    h1: string | null;
    h24: string | null;
    d7: string | null;
    d30: string | null;
    /** Why the platform refused the last snapshot. */
    reason: string | null;
  };
  /** Films that are made what a platform takes, each once for its content and form. */
  films: {
    /** Made of owner, content and form. */
    id: string;
    owner_id: string;
    /** Of the owner's file. Null: of an address elsewhere, for `post_id` alone. */
    file_key: string | null;
    post_id: string | null;
    /** `MediaFigures` of what it is made of, as JSON. */
    original: string;
    /** `FilmForm` as JSON. */
    form: string;
    percent: number;
    /** The worker that converts it. */
    worker_id: string | null;
    /** Why it cannot be converted. */
    error: string | null;
    /** `MediaFacts` of the film, as JSON. Null: it is not ready. */
    facts: string | null;
    created_at: number;
  };
}
